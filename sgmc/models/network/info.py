"""What results keep of a neural network: how inputs become outputs, without the data."""

from dataclasses import dataclass

import numpy as np

from sgmc.arguments.data.tables import dense_table
from sgmc.core.numerics.limits import BLOCK_ROWS
from sgmc.errors import DataError
from sgmc.models.bases.results import GeneralInfo
from sgmc.models.network.activations import ACTIVATIONS


@dataclass(frozen=True)
class NetworkRecipe:
    """From rows of a table to what a network says of their outcomes.

    Attributes
    ----------
    sizes : list of int
        Units of each layer, the inputs first.
    activation, outcome : str
    law : Softmax or Numbers
        Of the outcomes, given the last layer (`sgmc.models.network.distributions`).
    centre, unit : array (d,)
        x_j enters as (x_j - centre_j) unit_j.
    names : list of str
        Columns of the table.
    spec : DesignSpec or None
        Of a formula.
    """

    sizes: list
    activation: str
    outcome: str
    law: object
    centre: np.ndarray
    unit: np.ndarray
    names: list
    spec: object = None

    def table(self, data):
        """The table of new rows, (n, d), of uint8, float32 or float64; DataError where it is not
        like the one of the fit.
        """
        if self.spec is not None and not isinstance(data, np.ndarray):
            X = self.spec.matrix(data)[:, self.columns()]
        else:
            X = dense_table("the new data", data, "networks")
        if X.shape[1] != len(self.names):
            raise DataError(
                f"the new data have {X.shape[1]} columns; they must have {len(self.names)}: "
                f"{', '.join(self.names[:8])}"
            )
        if X.dtype != np.uint8 and not np.isfinite(X).all():
            raise DataError("the new data have missing or infinite values; drop those rows first")
        return X

    def columns(self):
        """Columns of the formula's design but for the intercept,
        for which the network has its own.
        """
        return without_intercept(self.spec)

    def parts(self, theta):
        """Pairs (W, b) of the layers, and the sigmas (outcomes,) if there are any, of a vector
        theta.
        """
        found, at = [], 0
        for d, h in zip(self.sizes, self.sizes[1:]):
            found.append(
                (theta[at : at + d * h].reshape(d, h), theta[at + d * h : at + (d + 1) * h])
            )
            at += (d + 1) * h
        return found, theta[at : at + self.law.outcomes] if self.outcome == "gaussian" else None

    def last_layer(self, theta, X):
        """What its last layer says of rows, (n, units), of the network of one draw."""
        layers, _ = self.parts(theta)
        out = np.empty((len(X), self.sizes[-1]))
        unit, centre = self.unit.astype(theta.dtype), self.centre.astype(theta.dtype)
        for start in range(0, len(X), BLOCK_ROWS):
            a = (X[start : start + BLOCK_ROWS] - centre) * unit
            for k, (W, b) in enumerate(layers):
                a = a @ W + b
                if k + 1 < len(layers):
                    a = ACTIVATIONS[self.activation](a)
            out[start : start + BLOCK_ROWS] = a
        return out

    def outputs(self, theta, X):
        """What the network of one draw expects of rows: E[y | x], (n,) or (n, outcomes),
        or the probability of each class, (n, k).
        """
        return self.law.expected(self.last_layer(theta, X))

    def said(self, theta, X):
        """The last layer and the sigmas of one draw, as laws take them."""
        return self.last_layer(theta, X), self.parts(theta)[1]


class NetworkInfo(GeneralInfo):
    """What a result keeps of a neural network."""

    def __init__(self, model):
        super().__init__(model)
        self.recipe, self.notes, self.formula = model.recipe, model.notes, model.formula

    def remarks(self, fit):
        """Return the lines beneath a summary, with layers and kind of outcome."""
        r = self.recipe
        return [
            f"Layers {'-'.join(map(str, r.sizes))}, {r.activation} units, {r.outcome} outcome."
        ] + super().remarks(fit)


def without_intercept(spec):
    """Places of the columns of a formula's design that are no intercept."""
    return [j for j, name in enumerate(spec.exog_names) if name != "Intercept"]
