"""Modes that a search found and chains hardly visited."""

import numpy as np
from scipy import linalg, stats

from sgmc.diagnostics import moments
from sgmc.errors import ConvergenceWarning

WITHIN = 0.9  # share of a mode's Gaussian that is counted as its place
SELDOM = 0.5  # visits, in units of the mode's share, below which they are too few
MODE_MATTERS = 0.05  # what a mode that lacks draws would move a mean or sd by, in sds


def unvisited(fit):
    """A ConvergenceWarning, in a list, where draws are short of a mode that holds a share of the
    posterior by Laplace's approximation: the share s moves a mean by s m and an sd by s m^2 / 2, m
    its distance from the mean in sds.

    Parameters
    ----------
    fit : Fit
    """
    searched = fit.problem.searched
    if searched.found < 2:
        return []
    theta = fit.problem.coordinates.theta(fit.x)
    mean, sd = moments.mean(theta, fit.weights), moments.sd(theta, fit.weights)
    limit = stats.chi2.ppf(WITHIN, theta.shape[2])
    for share, (place, root) in zip(searched.shares, searched.gaussians):
        away = linalg.solve(root, (theta - place).reshape(-1, len(place)).T)
        inside = ((away**2).sum(axis=0) < limit).reshape(*theta.shape[:2], 1)
        seen = moments.mean(inside.astype(float), fit.weights)[0] / WITHIN
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.nanmax(np.abs(place - mean) / sd)
        effect = (share - seen) * max(distance, distance**2 / 2)
        if seen < SELDOM * share and effect > MODE_MATTERS:
            return [
                ConvergenceWarning(
                    f"{100 * seen:.2g} % of the draws are at a mode that holds about "
                    f"{100 * share:.2g} % of the posterior by Laplace's approximation.",
                    "Compare the chains; run longer (draws, warmup), constrain parameters, or "
                    "describe each mode by itself.",
                )
            ]
    return []
