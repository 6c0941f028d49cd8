"""How much a posterior would change if prior or likelihood counted a little more or less."""

import numpy as np
import pandas as pd

from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.data.rows import evenly, fitted_rows
from sgmc.results.priors.distributions import (
    SHARES,
    from_spoken,
    log_density,
    log_together,
    of_share,
    refuse_other,
)

ALPHAS = 0.99, 1.01  # powers that prior and likelihood are raised to
SENSITIVE = 0.05  # of either (Kallioinen et al. 2024, section 2.3)
FEWEST_SCALED = 100


def sensitivity(results):
    """Return how much prior and likelihood matter; see `Criticism.sensitivity`."""
    rows = fitted_rows(results, "sensitivity")
    if results.weights is not None:
        raise NotSupported(
            "sensitivity of draws with weights of their own: fit with a constant step, or by an "
            "exact sampler",
            because="limit",
        )
    refuse_other(results, "sensitivity")
    rows = rows.affordable()
    if rows.m < FEWEST_SCALED:
        raise ArgumentError(f"sensitivity needs {FEWEST_SCALED} draws, there are {rows.m}")
    theta = results._joint_draws
    theta = theta[evenly(len(theta), rows.m)]
    parts = {"prior": log_prior(results, theta), "likelihood": log_likelihood(rows)}
    table = pd.DataFrame(
        {name: distances(theta, log_part) for name, log_part in parts.items()}, results.names
    )
    table["diagnosis"] = [diagnosis(*pair) for pair in zip(table["prior"], table["likelihood"])]
    return table


def log_prior(results, theta):
    """Log prior density of draws (draw, parameter), of the parameters as they are reported, but for
    a constant.
    """
    priors, total = results.priors, np.zeros(len(theta))
    # priors speak of gaps between thresholds, where these are printed
    phi = theta.copy() if priors.report is None else priors.report.sampled(theta)
    back = from_spoken(priors, results._fit.problem.table.mean)
    phi[:, : len(back)] = np.linalg.solve(back, phi[:, : len(back)].T).T
    joint = [j for one in priors.together for j in one.places]
    for j, (name, spec, values) in enumerate(zip(priors.names, priors.used, phi.T)):
        if name.startswith(SHARES):
            total += of_share(name, spec).logpdf(values)
        elif spec.family not in ("flat", "lkj") and j not in joint:
            total += log_density(spec, values)
    total += log_lkj(results, theta)
    for one in priors.together:
        total += log_together(one, phi[:, one.places])
    return total


def log_lkj(results, theta):
    """Log densities of correlations of effects, (eta - 1) log det C of the correlation matrices
    (Lewandowski, Kurowicka & Joe 2009, doi:10.1016/j.jmva.2009.04.008).
    """
    named = zip(results.priors.names, results.priors.specified)
    etas = {one.df for name, one in named if one.family == "lkj" and not name.startswith(SHARES)}
    if not etas or etas == {1.0}:
        return 0.0
    if len(etas) > 1:
        raise NotSupported(
            "sensitivity needs one prior of all correlations: give prior={'cor': sgmc.lkj(2)}",
            because="limit",
        )
    effects = results.model.effects
    C = np.zeros((len(theta), effects.loading.q, effects.loading.q)) + np.eye(effects.loading.q)
    for (i, j), name in zip(effects.loading.correlations(), effects.cors):
        C[:, i, j] = C[:, j, i] = theta[:, results.names.index(name)]
    return (etas.pop() - 1) * np.linalg.slogdet(C)[1]


def log_likelihood(rows):
    """Log likelihood of all rows at each draw, (draw,); frequency weights count."""
    total = np.zeros(rows.m)
    for at, eta in rows.blocks():
        density = rows.log_density(at, eta)
        total += density.sum(axis=0) if rows.frequency is None else rows.frequency[at] @ density
    return total


def distances(theta, log_part):
    """By parameter, the rate at which its law moves with the log2 of the power of a part: the
    cumulative Jensen-Shannon distance, by Pareto-smoothed weights.
    """
    from arviz_stats.base import array_stats

    if np.ptp(log_part) == 0:
        return np.zeros(theta.shape[1])
    lower, upper = (
        np.exp(log_weights - log_weights.max())
        for log_weights in (array_stats.power_scale_lw(log_part, alpha=one) for one in ALPHAS)
    )
    return [
        float(
            array_stats.power_scale_sense(
                one[None], lower[None], upper[None], lower_alpha=ALPHAS[0], upper_alpha=ALPHAS[1]
            )
        )
        for one in theta.T
    ]


def diagnosis(prior, likelihood):
    """What the two sensitivities say together, in words; empty where there is nothing to say."""
    if prior < SENSITIVE:
        return ""
    return (
        "prior and data disagree" if likelihood >= SENSITIVE else "the prior decides, not the data"
    )
