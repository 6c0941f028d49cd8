"""Bayesian R^2."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import level
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.data.offers import LAW, NUMBERS, OBSERVED_TIMES, need
from sgmc.results.outcomes.data.rows import fitted_rows


def r2(results, alpha):
    """Return the Bayesian R^2; see `Predictions.r2`."""
    need(results, "r2", LAW, NUMBERS, OBSERVED_TIMES)
    ends = [level(alpha) / 2, 1 - alpha / 2]
    rows = fitted_rows(results, "r2").affordable()
    share = explained(rows)
    if not np.isfinite(share).all():
        raise ArgumentError("r2: the variance of an outcome is infinite at some draws; use loo()")
    draws = share[None, :, None]
    low, high = moments.quantile(draws, ends, rows.weights)[:, 0]
    return pd.Series(
        {
            "mean": moments.mean(draws, rows.weights)[0],
            "sd": moments.sd(draws, rows.weights)[0],
            f"[{alpha / 2:.3g}": low,
            f"{1 - alpha / 2:.3g}]": high,
        },
        name="r2",
    )


def explained(rows):
    """The share of variance that is explained, for each draw (m,).

    Two passes: means first, so that no digits are lost to large ones.
    """
    weight = np.ones(rows.n) if rows.frequency is None else np.asarray(rows.frequency, dtype=float)
    weight = weight / weight.sum()
    middle = sum(weight[at] @ rows.outcome(at).mean(eta) for at, eta in rows.blocks())
    spread = left = 0.0
    for at, eta in rows.blocks():
        family = rows.outcome(at)
        spread = spread + weight[at] @ (family.mean(eta) - middle) ** 2
        left = left + weight[at] @ family.variance(eta, rows.extra)
    with np.errstate(invalid="ignore", divide="ignore"):
        return spread / (spread + left)
