"""What moments that scores imply do not see: nonlinear parts of the scores that cancel in them, and
change the spread all the same.
"""

import numpy as np

from sgmc.diagnostics.scores.implied import NEARLY_GAUSSIAN
from sgmc.results.checks.scores.laplace import SHAPE_DEPARTURE
from sgmc.results.checks.scores.laplace import departure as departure_from_laplace
from sgmc.results.checks.scores.stein import SCORE_WORK, scores_at

STEP = 1e-3  # of the differences, in sds: rounding and the third derivative leave 1e-6 or less
FEWEST_COMPARED = 200  # draws


def bounds(fit, some, duals, departure):
    r"""Errors that the sds of parameters may have although implied moments are right, (p,).

    Under the posterior :math:`E[(s'v)^2] = -E[v'Hv]`, H the curvature of the log density
    (Bartlett's second identity): of draws of another law whose scores s have a nonlinear part r,
    the difference is :math:`E[r^2]` and what r's slope does not take back.  With v so long that s'v
    is standard on a Gaussian, half of it is the relative error of an sd.  What the linear part
    contributes is known from the implied moments, and taken off.

    Parameters
    ----------
    fit : Fit
    some : Scored
    duals : array (d, p)
        v of each parameter.
    departure : array (p,)

    Returns
    -------
    ndarray, (p,)
        Error and twice its Monte Carlo error; NaN where nothing was looked at: draws of exact
        samplers, scores of minibatches, parameters that are nearly Gaussian, and where it would
        cost more than the scores did.
    """
    found = np.full(len(departure), np.nan)
    if fit.plan.spec.exact or some.kind != "exact":
        return found
    far = fit.problem.coordinates.scaled and departure_from_laplace(fit) >= SHAPE_DEPARTURE
    wanted = np.flatnonzero(far | ~(departure <= NEARLY_GAUSSIAN))
    count = min(
        len(some.draws), int(SCORE_WORK / (2 * fit.problem.rows.cells * max(len(wanted), 1)))
    )
    if not len(wanted) or count < FEWEST_COMPARED:
        return found
    rows = np.linspace(0, len(some.draws) - 1, count).astype(int)
    w = np.full(count, 1 / count)
    if some.weights is not None:
        w = some.weights[rows] / some.weights[rows].sum()
    for k in wanted:
        found[k] = bound(fit, some.draws[rows], some.scores[rows], w, duals[:, k])
    return found


def bound(fit, points, scores, w, v):
    """The bound of one parameter."""
    along = scores @ v
    ends = np.concatenate([points + STEP * v, points - STEP * v])
    up, down = np.split(scores_at(fit, np.ascontiguousarray(ends), 0, "exact") @ v, 2)
    gap = along**2 + (up - down) / (2 * STEP)
    if not np.isfinite(gap).all():
        return np.nan
    standard = points @ np.linalg.lstsq(points - w @ points, along - w @ along, rcond=None)[0]
    standard = (standard - w @ standard) / np.sqrt(w @ (standard - w @ standard) ** 2)
    controls = np.column_stack([standard, standard**2 - 1])
    root = np.sqrt(w)[:, None]
    design = np.column_stack([np.ones(len(w)), controls])
    fitted, *_ = np.linalg.lstsq(root * design, root[:, 0] * gap, rcond=None)
    rest = gap - design @ fitted
    linear = (w @ (along * standard)) ** 2 - 1 + (w @ along) ** 2  # seen by implied moments
    return (abs(fitted[0] - linear) + 2 * np.sqrt(w**2 @ rest**2)) / 2
