"""Coefficients as ratios: odds ratios, rate ratios and the like."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import level
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError

RATIOS = {"logit": "odds ratio", "cloglog": "hazard ratio", "log": "ratio of means"}


def ratio_name(results):
    """What exp of a coefficient is; ArgumentError where it has no name."""
    family = getattr(results.model, "family", None)
    if family is None:
        raise ArgumentError("exponentiate=True is for regressions, which this is not")
    if family.outcome == "category":
        return "odds ratio"
    if family.parts:  # of means, and of odds, sigmas and the like
        return "ratio"
    if family.counts:
        return "rate ratio"
    if family.outcome == "survival":
        return "time ratio"  # log T = x . beta + sigma e: exp multiplies all quantiles of T
    if family.link not in RATIOS:
        link = f"the {family.link} link" if family.link else "this model"
        raise ArgumentError(
            f"exponentiate=True: exp of a coefficient has no meaning under {link} of "
            f"{family.title}; use avg_comparisons(), which answers in units of the outcome"
        )
    return RATIOS[family.link]


def ratios(results, alpha):
    """Ratios of coefficients: posterior median, interval, P(>1), ess_bulk and r_hat."""
    name = ratio_name(results)
    kept = ratios_of(results)
    draws = results.draws[:, :, kept]
    ends = [0.5, level(alpha) / 2, 1 - alpha / 2]
    with np.errstate(over="ignore"):
        middle, low, high = np.exp(moments.quantile(draws, ends, results.weights))
    return pd.DataFrame(
        {
            name: middle,
            f"[{alpha / 2:.3g}": low,
            f"{1 - alpha / 2:.3g}]": high,
            "P(>1)": moments.share_above(draws, 0, results.weights),
            "ess_bulk": results._ess[kept],
            "r_hat": results._rhat[kept],
        },
        index=[results.names[k] for k in kept],
    )


def left_out(results):
    """Names of parameters that ratios are without, such as sds of groups, a list."""
    kept = {*ratios_of(results)}
    return [name for k, name in enumerate(results.names) if k not in kept]


def ratios_of(results):
    """Places of the coefficients whose exponentials have a meaning: all, but where the mean has
    another link than the second parameter only those of the second.
    """
    family, every = results.model.family, np.arange(results.model.printed_coefficients)
    logs = family.counts or family.outcome == "survival" or family.link in RATIOS
    if not family.parts or logs:
        return every
    return every[[results.names[k].startswith(family.parts) for k in every]]
