"""Coefficients as ratios: odds ratios, rate ratios and the like."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import level
from sgmc.diagnostics import moments
from sgmc.errors import ArgumentError

RATIOS = {"logit": "odds ratio", "cloglog": "hazard ratio", "log": "ratio of means"}


def ratio_name(results):
    """What exp of a coefficient is; ArgumentError where it has no name."""
    family = getattr(results.model, "family", None)
    if family is None:
        raise ArgumentError("exponentiate=True is for regressions, which this is not")
    if family.outcome == "category":
        return "odds ratio"
    if family.parts:  # rate ratios of counts, odds ratios of zeros
        return "ratio"
    if family.counts:
        return "rate ratio"
    if family.link not in RATIOS:
        link = f"the {family.link} link" if family.link else "this model"
        raise ArgumentError(
            f"exponentiate=True: exp of a coefficient has no meaning under {link} of "
            f"{family.title}; use avg_comparisons(), which answers in units of the outcome"
        )
    return RATIOS[family.link]


def ratios(results, alpha):
    """Ratios of the coefficients: posterior median, interval, P(>1), ess_bulk and r_hat."""
    name = ratio_name(results)
    count = results.model.printed_coefficients
    draws = results.draws[:, :, :count]
    ends = [0.5, level(alpha) / 2, 1 - alpha / 2]
    with np.errstate(over="ignore"):
        middle, low, high = np.exp(moments.quantile(draws, ends, results.weights))
    return pd.DataFrame(
        {
            name: middle,
            f"[{alpha / 2:.3g}": low,
            f"{1 - alpha / 2:.3g}]": high,
            "P(>1)": moments.share_above(draws, 0, results.weights),
            "ess_bulk": results._ess[:count],
            "r_hat": results._rhat[:count],
        },
        index=results.names[:count],
    )
