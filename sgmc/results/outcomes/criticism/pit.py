"""Outcomes as ranks in what the other rows predict: LOO-PIT."""

import numpy as np

from sgmc.results.outcomes.criticism.loo import (
    ALL_ROWS,
    MAX_WEIGHED,
    begun,
    efficiency,
    few_at_a_time,
    log_weights_of,
    without,
)
from sgmc.results.outcomes.data.offers import LAW, OBSERVED, OBSERVED_TIMES, RANKS, need
from sgmc.results.outcomes.data.rows import evenly
from sgmc.results.outcomes.predicted.prediction import outcome_stream


def loo_pit(results, seed):
    """Return the rank of each outcome in its prediction; see `Criticism.loo_pit`."""
    need(results, "loo_pit", LAW, RANKS, OBSERVED_TIMES, OBSERVED)
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
