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
    """See `Criticism.loo_pit`."""
    refuse_working(results, "loo_pit")
    family = results.model.family
    if (
        family.several
        or family.outcome == "survival"
        or (family.outcome == "binary" and "trials" not in results.model.given)
    ):
        raise NotSupported(
            f"loo_pit: an outcome of {results.model.family_name} is one of a few kinds, or may be "
            "censored, and has no rank; look at pp_check()"
        )
    table, rng = begun(results).table, outcome_stream(results, seed)
    kept = np.arange(table.n) if table.n <= ALL_ROWS else evenly(table.n, ALL_ROWS)
    part = table.among(table.where(kept)).with_draws(evenly(table.m, MAX_WEIGHED))
    out, prior, r_eff = np.empty(part.n), log_weights_of(part), efficiency(results)
    for here, rows in few_at_a_time(part):
        _, _, weights, _ = without(rows, prior, r_eff)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        simulated = np.concatenate(
            [rows.outcome(at).simulate(eta, rng, rows.extra) for at, eta in rows.blocks()]
        )
        below = (weights * (simulated < rows.y[:, None])).sum(axis=1)
        ties = (weights * (simulated == rows.y[:, None])).sum(axis=1)
        out[here] = below + rng.random(rows.n) * ties
    return out
