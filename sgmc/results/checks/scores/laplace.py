"""The draws beside the Gaussian at the mode."""

import numpy as np

from sgmc.diagnostics.chains import moments

# departure from a Gaussian beyond which unadjusted steps are suspect (0.66 was harmless on a9a)
SHAPE_DEPARTURE = 0.8


def from_laplace(fit):
    """Means, in sds, and relative sds of the draws beside the Gaussian at the mode, (d,) each; NaN
    where its moments are not known.
    """
    problem, count = fit.problem, len(fit.problem.free_names)
    where, own = problem.approximation, problem.coordinates
    # where no pilot looks, the approximation is one to begin from alone
    if not where.scaled or problem.defaults.unsurveyed and fit.pilot is None:
        return np.full((2, count), np.nan)
    sd = sds(where)[:count]
    if where.whitened and where is own and not problem.partial:
        along = where.white[:count] / sd[:, None]  # as parameters would be if the map were affine
        centre, covariance = moments_of(fit)
        return along @ centre, np.sqrt(((along @ covariance) * along).sum(axis=1))
    middle = where.theta(where.from_white(np.zeros(problem.dim)))
    standard = (problem.record.theta(problem, fit.x) - middle) / sd
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
