"""Draws of a regression's priors, and outcomes by them."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.errors import NotSupported
from sgmc.models.regression.mode.search import moments_of_outcomes, resolve_priors
from sgmc.models.regression.rows.prepare import in_file, prepare
from sgmc.priors import learns
from sgmc.registry import room
from sgmc.results.outcomes.data.rows import Rows
from sgmc.results.outcomes.predicted.prediction import outcome_draws, outcome_stream
from sgmc.results.priors.distributions import from_spoken, prior_draws


def outcomes(model, prior, draws, seed):
    """Simulate outcomes of draws of the prior; see `PriorPredictive.prior_predict`."""
    if model.family.working:
        raise NotSupported(
            f"prior_predict needs a model of the outcomes, and {model.family.name} has none; "
            "prior_draws has its coefficients",
            because="mathematics",
        )
    table, frame, seed = before_outcomes(model, prior, draws, seed)
    k, d = len(model.family.auxiliary), model.data.d * max(len(model.data.equations), 1)
    values = frame.to_numpy()
    natural = values[:, :d] @ np.linalg.inv(back_of(model, table)).T
    offset = np.zeros(len(table.y)) if table.offset is None else np.asarray(table.offset)
    rows = Rows(
        model.family,
        table.X,
        natural,
        values[:, -k:].T if k else None,
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
    family = model.family
    if model.room != "families" or family.report or family.parts or family.outcome == "survival":
        raise NotSupported(
            "draws of priors alone are of regressions without group terms, thresholds, second "
            f"designs and censoring, not of {model!r}",
            because="limit",
        )
    count, seed = whole("draws", draws, 1), entropy(seed)
    data = model.data
    table = (
        in_file(data, "dense")
        if data.prepared is not None
        else prepare(data, seed, np.dtype(np.float64), centre=True)
    )
    outcome = moments_of_outcomes(table, family)
    if learns(prior):
        of = room("scales")["learned"].prior_draws_of
        priors, found = of(table, data, family, prior, outcome, count, seed)
    else:
        priors = resolve_priors(prior, table, data, family, outcome, every_kind=True)
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
