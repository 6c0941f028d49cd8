"""The draws beside the Gaussian at the mode."""

import numpy as np

from sgmc.diagnostics import moments

# departure from a Gaussian beyond which unadjusted steps are suspect (0.66 was harmless on a9a)
SHAPE_DEPARTURE = 0.8


def from_laplace(fit):
    """Means, in sds, and relative sds of the draws beside the Gaussian at the mode, (d,) each; NaN
    where its moments are not known.
    """
    where, own = fit.problem.approximation, fit.problem.coordinates
    if not (where.scaled and not fit.problem.defaults.unsurveyed):
        return np.full((2, len(fit.problem.free_names)), np.nan)
    sd = sds(where)
    if where.whitened and where is own:  # as parameters would be if the map were affine
        along = where.white / sd[:, None]
        centre, covariance = moments_of(fit)
        return along @ centre, np.sqrt(((along @ covariance) * along).sum(axis=1))
    standard = (own.theta(fit.x) - where.theta(where.from_white(np.zeros(len(sd))))) / sd
    return moments.mean(standard, fit.weights), moments.sd(standard, fit.weights)


def moments_of(fit):
    """Mean and covariance of the draws, in sampler coordinates."""
    if "moments" not in fit.computed:
        fit.computed["moments"] = moments.covariance(fit.x, fit.weights)
    return fit.computed["moments"]


def sds(where):
    """The approximation's sds of the parameters, (d,)."""
    return np.sqrt((where.white**2).sum(axis=1))


def departure(fit):
    """The largest difference of a mean, in sds, or relative one of an sd, between draws and the
    Gaussian that they set out from; NaN where there is none.
    """
    shift, spread = from_laplace(fit)
    return max(np.abs(shift).max(), np.abs(spread - 1).max())
