"""Outcomes as ranks in what the other rows predict: LOO-PIT."""

import numpy as np

from sgmc.errors import NotSupported
from sgmc.results.outcomes.loo import (
    ALL_ROWS,
    MAX_WEIGHED,
    begun,
    efficiency,
    few_at_a_time,
    log_weights_of,
    without,
)
from sgmc.results.outcomes.prediction import outcome_stream
from sgmc.results.outcomes.rows import evenly
from sgmc.results.outcomes.working import refuse_working


def loo_pit(results, seed):
    """Return the rank of each outcome in its prediction; see `Criticism.loo_pit`."""
    refuse_working(results, "loo_pit")
    family = results.model.family
    if family.several or (family.outcome == "binary" and "trials" not in results.model.given):
        raise NotSupported(
            f"loo_pit: an outcome of {results.model.family_name} is one of a few kinds and has no "
            "rank; look at calibration() or pp_check()",
            because="mathematics",
        )
    if family.outcome == "survival":
        raise NotSupported(
            "loo_pit: survival times may be censored, and have no rank then; look at "
            "resid_cox_snell or survival()",
            because="mathematics",
        )
    if family.limited:
        raise NotSupported(
            "loo_pit: some outcomes are censored or truncated, and have no rank then; look at "
            "loo()",
            because="mathematics",
        )
    part, rng = left_out(results), outcome_stream(results, seed)
    out = np.empty(part.n)
    for here, rows, weights in weighed(results, part):
        eta, extra = rows.unseen(rng)
        simulated = rows.outcome(slice(None)).simulate(eta, rng, extra)
        below = (weights * (simulated < rows.y[:, None])).sum(axis=1)
        ties = (weights * (simulated == rows.y[:, None])).sum(axis=1)
        out[here] = below + rng.random(rows.n) * ties
    return out


def left_out(results):
    """The rows that are left out one at a time, in the order of the data: all, or of many some,
    evenly spaced.
    """
    table = begun(results).table
    return some_of(table).with_draws(evenly(table.m, MAX_WEIGHED))


def some_of(table):
    """At most ALL_ROWS of the rows of a fit, evenly spaced, in the order of the data."""
    return table.among(table.where(evenly(table.n, ALL_ROWS)))


def weighed(results, part):
    """Triples of a slice of rows, these rows, and the weights (row, draw) of draws that have not
    seen them, which sum to one.
    """
    prior, r_eff = log_weights_of(part), efficiency(results, part)
    for here, rows in few_at_a_time(part):
        weights = without(rows, prior, r_eff)[2]
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        yield here, rows, weights / weights.sum(axis=1, keepdims=True)
