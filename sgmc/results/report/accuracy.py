"""How far the draws' means and sds are from the posterior's:
by the scores at the draws, without a second run.
"""

import numpy as np
import pandas as pd

from sgmc.diagnostics import moments
from sgmc.diagnostics.implied import FEWEST, implied_moments
from sgmc.errors import ArgumentError

COLUMNS = (
    "mean_error",
    "mcse_mean_error",
    "sd_error",
    "mcse_sd_error",
    "departure",
    "laplace_shift",
    "laplace_sd",
)


def accuracy(fit, names, some):
    """Errors of all draws of a fit, a DataFrame with a row a parameter; see `Results.accuracy`.

    Parameters
    ----------
    fit : Fit
    names : list of str
    some : Scored or None
        Draws with scores; None where they cannot be had.
    """
    where, (shift, spread) = fit.problem.coordinates, from_laplace(fit)
    table = pd.DataFrame(np.nan, index=list(names), columns=COLUMNS).assign(
        laplace_shift=shift, laplace_sd=spread - 1
    )
    if fit.settings.robust:  # the draws' law is a Gaussian that is known
        return table.assign(
            mean_error=shift,
            mcse_mean_error=0.0,
            sd_error=spread - 1,
            mcse_sd_error=0.0,
            departure=0.0,
        )
    if some is None or len(some.draws) < FEWEST * len(names):
        return table
    # where nobody knew it beforehand, that of the draws
    white = where.white if where.scaled else some.scale
    along = white / np.sqrt((white**2).sum(axis=1))[:, None]
    try:
        implied = implied_moments(
            some.draws, some.scores, directions=along, weights=some.weights, scale=some.scale
        )
    except ArgumentError:  # draws that hardly move
        return table.assign(departure=np.inf)
    x = (
        fit.x
        if some.scale is None
        else np.linalg.solve(some.scale, fit.x.reshape(-1, fit.x.shape[2]).T).T.reshape(fit.x.shape)
    )
    mean, sd = moments.mean(x @ along.T, fit.weights), moments.sd(x @ along.T, fit.weights)
    return table.assign(
        mean_error=(mean - implied.mean) / implied.sd,
        mcse_mean_error=implied.mcse_mean / implied.sd,
        sd_error=sd / implied.sd - 1,
        mcse_sd_error=implied.mcse_sd / implied.sd,
        departure=implied.departure,
    )


def from_laplace(fit):
    """Means, in sds, and relative sds of the draws beside the Gaussian that they set out from, (d,)
    each.
    """
    where = fit.problem.coordinates
    if not where.scaled:
        return np.full((2, fit.problem.dim), np.nan)
    sd = sds(where)
    if where.whitened:  # as parameters would be if the map were affine
        standard = fit.x @ (where.white / sd[:, None]).T
    else:
        standard = (where.theta(fit.x) - where.theta(where.from_white(np.zeros(len(sd))))) / sd
    return moments.mean(standard, fit.weights), moments.sd(standard, fit.weights)


def sds(where):
    """The approximation's sds of the parameters, (d,)."""
    return np.sqrt((where.white**2).sum(axis=1))
