"""What a model expects before it has seen outcomes: draws of its priors, and outcomes by them."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.coordinates.prior_table import resolve
from sgmc.coordinates.whitening import undo_centring
from sgmc.errors import NotSupported
from sgmc.models.regression.prepare import in_file, prepare
from sgmc.models.regression.search import moments_of_outcomes, scales
from sgmc.results.outcomes.prediction import outcome_draws, outcome_stream
from sgmc.results.outcomes.rows import Rows
from sgmc.results.priors.laws import from_spoken, prior_draws


class PriorPredictive:
    """Methods of regression models that need no fit."""

    def prior_draws(self, prior=None, *, draws=1000, seed=None):
        """Draw parameters from their priors, independently.

        Parameters
        ----------
        prior : str, prior or dict, optional
            As in `fit`.  Priors whose scale is ``[*]`` are in units of the data.
        draws : int
        seed : int, SeedSequence or Generator, optional

        Returns
        -------
        DataFrame
            A row a draw, a column a parameter.

        Raises
        ------
        ArgumentError
            Naming a parameter whose prior is improper (``flat()``), or whose scale is learned.
        """
        return before_outcomes(self, prior, draws, seed)[1]

    def prior_predict(self, prior=None, *, draws=1000, seed=None):
        """Simulate outcomes for the rows of the data by parameters drawn from their priors.

        They show what the priors say of outcomes (Gabry, Simpson, Vehtari, Betancourt & Gelman
        2019, section 3, doi:10.1111/rssa.12378).

        Parameters
        ----------
        prior, draws, seed
            As in `prior_draws`, whose parameters they are of at the same seed.

        Returns
        -------
        ndarray, (draw, row)
            Numbers of kinds where outcomes are kinds; NaN where they are too large for a number.

        Raises
        ------
        ArgumentError
            As in `prior_draws`; and if it would be larger than 1 GB.
        """
        table, frame, seed = before_outcomes(self, prior, draws, seed)
        k = len(self.family.auxiliary)
        values = frame.to_numpy()
        d = values.shape[1] - k
        natural = values[:, :d] @ np.linalg.inv(back_of(self, table)).T
        offset = np.zeros(len(table.y)) if table.offset is None else np.asarray(table.offset)
        rows = Rows(
            self.family,
            table.X,
            natural,
            values[:, d:].T if k else None,
            None,
            offset,
            order=table.order,
            trials=table.trials,
            se=table.se,
        )
        rows.fits("prior_predict")
        with np.errstate(over="ignore", invalid="ignore"):
            return outcome_draws(rows, outcome_stream(None, seed))


def before_outcomes(model, prior, draws, seed):
    """The table of a model, draws of its parameters as a frame, and the seed."""
    if model.room != "families":
        raise NotSupported(
            f"draws of priors alone are of regressions without group terms, not of {model!r}"
        )
    count, seed = whole("draws", draws, 1), entropy(seed)
    data, family = model.data, model.family
    table = (
        in_file(data, "dense")
        if data.prepared is not None
        else prepare(data, seed, np.dtype(np.float64), centre=True)
    )
    priors = resolve(prior, data, family, scales(table.sd, family, *moments_of_outcomes(table)))
    found = prior_draws(priors, from_spoken(priors, table.mean), count, seed)
    return table, pd.DataFrame(found, columns=priors.names), seed


def back_of(model, table):
    """T: coefficients are T times those of the table's columns, which may be shifted."""
    data = model.data
    d = data.d * max(len(data.equations), 1)
    intercepts = [] if data.intercept is None else range(data.intercept, d, data.d)
    shift = np.array(table.shift, dtype=float)
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    return undo_centring(d, shift, intercepts)
