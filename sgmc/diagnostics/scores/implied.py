"""Moments of a target that scores at draws imply, wherever the draws lie."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_points
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.visits import batch_mcse
from sgmc.diagnostics.scores.scales import as_sample
from sgmc.errors import ArgumentError

DRAWS_PER_DIMENSION = 5  # draws a dimension, more of which say little more
FEWEST_PER_DIMENSION = 2
NEARLY_GAUSSIAN = 0.3  # departure up to which implied moments hold whatever the draws


@dataclass(frozen=True)
class ImpliedMoments:
    """Means and sds of a target along directions, as `implied_moments` finds them.

    Attributes
    ----------
    mean, sd : ndarray, (p,)
        NaN where scores do not fall along every direction: then the target is no Gaussian at all
        there.
    mcse_mean, mcse_sd : ndarray, (p,)
        Their Monte Carlo errors.
    departure : ndarray, (p,)
        How far the target, and noise of the scores, are from a Gaussian with exact ones: sd of what
        is not linear in the scores, in sds of the target.  Below `NEARLY_GAUSSIAN` the moments hold
        whatever the draws; far above, of draws near the target only.
    """

    mean: np.ndarray
    sd: np.ndarray
    mcse_mean: np.ndarray
    mcse_sd: np.ndarray
    departure: np.ndarray
    centre: np.ndarray
    covariance: np.ndarray


def implied_moments(
    draws: ArrayLike,
    scores: ArrayLike,
    *,
    directions: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> ImpliedMoments:
    r"""Return the means and sds of the target that scores imply: those of the Gaussian whose scores
    are the draws' regression of s on x.

    With :math:`s = \bar s + B (x - \bar x) + r` by least squares, :math:`\Sigma = -B^{-1}` (its
    symmetric part) and :math:`\mu = \bar x + \Sigma \bar s`.  On a Gaussian target both are exact
    for any draws that span the space, too few, biased or too wide as they may be; on any other,
    draws of the target itself have no bias: :math:`E[s] = 0` and
    :math:`E[(x - \mu) s'] = -I` there (Stein's identity).  So the difference between the draws' own
    moments and these is the error of the draws, bias and Monte Carlo error together.  The
    residuals of n draws are too small by a share d/n, which is undone; the noise of B makes its
    inverse, and so the sds, too large by about :math:`\delta^2 d / 2n` for a departure
    :math:`\delta`, which is added to their errors.

    Parameters
    ----------
    draws, scores, weights
        As in `ksd`; scores with noise that is right on average will do.  At least 2 d draws,
        better 5 d.
    directions : array_like, (p, d), optional
        Rows w: moments are those of w'x.  Default: the coordinates.
    scale : array_like or "covariance", optional
        As in `ksd`; directions are then of the scaled coordinates.

    Returns
    -------
    ImpliedMoments

    Raises
    ------
    ArgumentError
        For fewer draws, or draws that do not span the space.
    """
    x, s, w = as_sample(draws, scores, weights, scale)
    n, d = x.shape
    along = np.eye(d) if directions is None else as_points("directions", directions)
    shaped("directions", along, ("p", d))
    if n < FEWEST_PER_DIMENSION * d:
        raise ArgumentError(
            f"draws has {n} rows, {d} dimensions need {FEWEST_PER_DIMENSION * d}; give more draws"
        )
    centre, level = w @ x, w @ s
    x, s = x - centre, s - level
    own = moments.weighted_product(x, x, w)
    try:
        slope = np.linalg.solve(own, moments.weighted_product(x, s, w)).T
        covariance = np.linalg.inv(-(slope + slope.T) / 2)
    except np.linalg.LinAlgError:
        raise ArgumentError(
            f"draws do not span their {d} dimensions; leave constant or collinear columns out"
        ) from None
    shadow = covariance @ along.T
    variance = np.einsum("pj,jp->p", along, shadow)
    sd = np.sqrt(np.where(variance > 0, variance, np.nan))
    for rows in moments.in_parts((1, d, n)):
        s[rows] -= x[rows] @ slope.T
    dual = np.linalg.solve(own, shadow)
    fitted = d * (w @ w)  # 1 / sum w^2 are as many draws of equal weights
    departure, level_error, slope_error = np.empty((3, len(along)))
    for at in moments.in_parts((1, n, len(along))):
        # a draw's part in the error of mu, and with its place that of Sigma
        rest, place = s @ shadow[:, at], x @ dual[:, at]
        departure[at] = np.einsum("i,ij,ij->j", w, rest, rest)
        level_error[at] = batch_mcse(rest[None], w)
        place *= rest
        slope_error[at] = batch_mcse(place[None], w)
    seen = 1 - min(fitted, 0.5)
    departure = np.sqrt(departure / seen) / sd
    return ImpliedMoments(
        along @ (centre + covariance @ level),
        sd,
        level_error / seen,
        np.hypot(slope_error / seen / (2 * sd), departure**2 * sd * fitted / 2),
        departure,
        centre + covariance @ level,
        covariance,
    )
