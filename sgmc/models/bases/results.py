"""The results of models that are no regressions."""

import numpy as np
import pandas as pd

from sgmc.arguments.names import parameter
from sgmc.core.partial import pooled
from sgmc.diagnostics.chains import moments
from sgmc.elsewhere import attribute
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.predictions import Predictions
from sgmc.results.results import Results

JUDGED_ROWS = 9  # rows whose log densities are judged, where parameters have no meaning
REGRESSION_ATTRIBUTES = ("df_model", "df_resid", "k_constant", "fittedvalues")


class GeneralInfo:
    """What a result keeps of its model: names and shapes, not the data."""

    notes = ()
    dims, coords = {}, {}  # of files from before there were any

    def __init__(self, model):
        layout = model.layout()
        self.title = model.title or type(model).__name__
        self.shapes, self.slices = layout.shapes, layout.slices
        self.constraints = layout.constraints
        self.dims, self.coords = labels_of(model, layout)
        self.formula = None

    def heading(self, fit):
        """Return the pairs (label, text) of a summary's head about model and data."""
        return [("Model", self.title)], [("No. Observations", f"{fit.problem.model.n}")]

    def remarks(self, fit):
        """Return the lines beneath a summary about model and data."""
        lines = [
            f"{name}: {kind}" + (f" ({low:g}, {high:g})" if kind == "interval" else "")
            for name, (kind, low, high) in self.constraints.items()
        ]
        columns = fit.problem.record.columns
        all_kept = columns is None or len(columns) == fit.problem.own.size
        part = (
            []
            if all_kept
            else [
                f"Draws are kept of {len(columns)} of {fit.problem.own.size} numbers; moments() "
                "has all."
            ]
        )
        own = getattr(fit.problem.model, "remarks", [])
        return ([f"Constrained: {'; '.join(lines)}."] if lines else []) + part + own

    def details(self, fit):
        """Return the lines about coordinates in the details of a summary."""
        if fit.problem.coordinates.between is not None:
            return []
        free = ", of constrained ones free numbers." if self.constraints else "."
        return [f"Coordinates are those of the parameters{free}"]


def labels_of(model, layout):
    """Dims and coords of a model, checked: names of the dimensions of parameters, and labels."""
    dims = {layout.known(one, "dims"): list(names) for one, names in model.dims.items()}
    coords = {name: list(labels) for name, labels in model.coords.items()}
    for one, names in dims.items():
        shape = layout.shapes[one]
        if len(names) != len(shape):
            raise ArgumentError(
                f"dims: {one!r} has shape {shape}, and {len(names)} names of dimensions; give one "
                "for each"
            )
        for name, length in zip(names, shape):
            if len(coords.get(name, range(length))) != length:
                raise ArgumentError(
                    f"coords: {name!r} has {len(coords[name])} labels; {one!r} has {length} there"
                )
    return dims, coords


class ModelResults(Results):
    """The posterior of a model that is no regression;
    `draws_of` gives the draws of a parameter in its shape.
    """

    @classmethod
    def besides(cls, fit):
        # means and sds of all parameters where draws of some were kept
        if fit.problem.record.columns is None:
            return {"_moments": None}
        mean, sd = pooled(fit.recorders)
        return {"_moments": pd.DataFrame({"mean": mean, "sd": sd}, index=fit.problem.priors.names)}

    def draws_of(self, name):
        """Return draws of a parameter, (chain, draw, *shape).

        Parameters
        ----------
        name : str
            As in the model's `parameters`.
        """
        name = parameter("name", name, self.model.shapes)
        if self._moments is None:
            return self.draws[..., self.model.slices[name]].reshape(
                *self.draws.shape[:2], *self.model.shapes[name]
            )
        wanted = self._moments.index[self.model.slices[name]]
        if not set(wanted) <= set(self.names):
            raise ArgumentError(
                f"draws of {name!r} were not kept: fit with keep=[{name!r}]; moments() has means "
                "and sds"
            )
        places = pd.Index(self.names).get_indexer(wanted)
        return self.draws[..., places].reshape(*self.draws.shape[:2], *self.model.shapes[name])

    def judged_quantities(self):
        """Return draws of what the verdict is about: the parameters, or, where these have no
        meaning one by one, functionals of them that do not depend on labels.

        Returns
        -------
        names : list of str
        draws : array (chain, draw, len(names))

        Raises
        ------
        ArgumentError
            For functionals without the data of the fit.
        """
        if self.judged_by == "parameters":
            return list(self.names), self.draws
        if self._fit is None:
            raise ArgumentError(
                f"judged_quantities: {self.judged_by} need the data of the fit; these results were "
                "loaded from a file, or saved without theirs"
            )
        return self._fit.problem.functionals.of(self)

    def moments(self):
        """Return posterior means and sds of all parameters, a DataFrame; also of those whose draws
        were not kept.
        """
        if self._moments is None:
            return pd.DataFrame({"mean": self.params, "sd": self.bse})
        return self._moments.copy()

    def mean_of(self, name):
        """Return the posterior mean of a parameter, in its shape."""
        return self._shaped("mean", name)

    def sd_of(self, name):
        """Return the posterior standard deviation of a parameter, in its shape."""
        return self._shaped("sd", name)

    def _shaped(self, moment, name):
        """A column of `moments` for a parameter, in its shape."""
        name = parameter("name", name, self.model.shapes)
        return (
            self.moments()[moment]
            .to_numpy()[self.model.slices[name]]
            .reshape(self.model.shapes[name])
        )

    def to_arviz(self, log_likelihood=False):
        """Return an ArviZ `DataTree` with each parameter as a variable of its shape, with the dims
        and coords of the model; weighted draws are resampled.

        Where a release of ArviZ before 1.0 is installed, which does not read trees, it is an
        `arviz.InferenceData`.

        Raises
        ------
        MissingExtra
            If arviz-base is not installed.
        """
        if log_likelihood:
            raise ArgumentError(
                f"log_likelihood does not apply to {self.model.title}: it belongs to regressions"
            )
        from sgmc.results.exchange import facts, from_dict, readable

        made = from_dict()
        kept = (
            np.arange(self.draws.shape[1])
            if self.weights is None
            else moments.systematic(self.weights, self.draws.shape[1])
        )
        tree = made(
            {"posterior": {name: self.draws_of(name)[:, kept] for name in self.model.shapes}},
            dims=self.model.dims,
            coords=self.model.coords,
        )
        tree.attrs.update(facts(self))
        tree["posterior"].attrs.update(facts(self))
        return readable(tree)

    def __getattr__(self, name):
        if name in REGRESSION_ATTRIBUTES or hasattr(Predictions, name):
            raise AttributeError(
                f"{name} does not apply to {self.__dict__['model'].title}: it belongs to "
                "regressions"
            )
        return attribute(self, name)
