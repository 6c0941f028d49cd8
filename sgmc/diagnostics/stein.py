"""Kernel Stein discrepancy: one number for how far draws are from the target whose scores they carry."""
import numpy as np

from sgmc.diagnostics.checks import as_choice, as_points, as_weights, rescale
from sgmc.diagnostics.stein_sums import stein_sums
from sgmc.errors import ArgumentError


def ksd(draws, scores, *, weights=None, form="joint", kernel="imq", statistic="v", c=1.0, beta=-0.5, scale=None):
    r"""Kernel Stein discrepancy between draws and the target whose scores are given.

    With :math:`s = \nabla \log \pi` and a kernel k, coordinate j of the Stein kernel is

    .. math:: k_j^0(x, y) = s_j(x) s_j(y) k + s_j(x) \partial_{y_j} k + s_j(y) \partial_{x_j} k
              + \partial_{x_j} \partial_{y_j} k,

    with mean zero over the target.  Over weights w that sum to one, the V statistic is
    :math:`T_j = \sum_{a,b} w_a w_b k_j^0(x_a, x_b)`; the U statistic leaves out a = b and divides by
    :math:`1 - \sum_a w_a^2`.

    Parameters
    ----------
    draws : array_like, (n, d)
        One draw a row; (n,) is taken as (n, 1).
    scores : array_like, (n, d)
        Gradients of the *log density*, not of U = -log density, at the draws.
    weights : array_like, (n,), optional
        Non-negative, of any sum: step sizes or counts.  Equal by default.
    form : {"joint", "coordinate"}
        :math:`\sqrt{\sum_j T_j}` (Coullon, South and Nemeth 2023, eq. 3) or :math:`\sum_j \sqrt{T_j}`
        (Nemeth and Fearnhead 2021, eq. 13, whose middle terms belong to s and not to the printed gradient of U).
    kernel : {"imq", "gaussian"}
        :math:`(c^2 + r^2)^\beta` or :math:`\exp(-r^2 / 2 c^2)`.  Only the first is sure to see draws that do not
        converge when d >= 3 (Gorham and Mackey 2017).
    statistic : {"v", "u"}
        "v" is never negative, and of order :math:`n^{-1/2}` for exact draws.  "u" has mean zero for exact
        independent draws before the root; where T < 0 the root is :math:`-\sqrt{-T}`.
    c : float
        Width of the kernel, positive.
    beta : float
        Exponent of the "imq" kernel, between -1 and 0; "gaussian" has none.
    scale : array_like, (d,) or (d, d), optional
        S, such as posterior standard deviations or a Cholesky factor of the covariance: draws become
        :math:`S^{-1} x` and scores :math:`S' s`, so that the result does not depend on units.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Draws or scores are empty, not finite or not real numbers.
    ArgumentError
        Shapes do not fit, or an option is unknown or out of range.
    """
    draws, scores = as_points("draws", draws), as_points("scores", scores)
    if draws.shape != scores.shape:
        raise ArgumentError(f"scores must have the shape of draws, {draws.shape}, not {scores.shape}")
    weights = as_weights(np.ones(len(draws)) if weights is None else weights, len(draws))
    as_choice("form", form, ("joint", "coordinate"))
    as_choice("kernel", kernel, ("imq", "gaussian"))
    as_choice("statistic", statistic, ("v", "u"))
    if not 0 < c < np.inf:
        raise ArgumentError(f"c must be positive, not {c}")
    if not -1 < beta < 0:
        raise ArgumentError(f"beta must be between -1 and 0, not {beta}")
    if scale is not None:
        draws, scores = rescale(draws, scores, scale)

    pairs, diagonal = stein_sums(draws, scores, weights, kernel == "gaussian", c, beta, form == "joint")
    if statistic == "v":
        return float(np.sum(np.sqrt(np.maximum(2 * pairs + diagonal, 0.0))))  # below 0 only by rounding
    off_diagonal = 1 - np.sum(weights**2)
    if off_diagonal <= 0:
        raise ArgumentError("statistic 'u' needs two draws of positive weight")
    total = 2 * pairs / off_diagonal
    return float(np.sum(np.copysign(np.sqrt(np.abs(total)), total)))
