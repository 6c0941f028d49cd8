"""Kernel Stein discrepancy: one number for how far draws are from the target whose scores they
carry.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.choices import one_of
from sgmc.arguments.types import Floats
from sgmc.diagnostics.scores.scales import as_kernel, as_sample
from sgmc.diagnostics.scores.stein_sums import stein_pairs, stein_sums
from sgmc.errors import ArgumentError


def ksd(
    draws: ArrayLike,
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    form: Literal["joint", "coordinate"] = "joint",
    kernel: Literal["imq", "gaussian"] = "imq",
    statistic: Literal["v", "u"] = "v",
    c: float | Literal["median"] = 1.0,
    beta: float = -0.5,
    scale: ArrayLike | None = None,
) -> float:
    r"""Return the kernel Stein discrepancy between draws and the target whose scores are given.

    With :math:`s = \nabla \log \pi` and a kernel k, coordinate j of the Stein kernel is

    .. math:: k_j^0(x, y) = s_j(x) s_j(y) k + s_j(x) \partial_{y_j} k + s_j(y) \partial_{x_j} k
              + \partial_{x_j} \partial_{y_j} k,

    with mean zero over the target.  Over weights w that sum to one, the V statistic is
    :math:`T_j = \sum_{a,b} w_a w_b k_j^0(x_a, x_b)`; the U statistic leaves out a = b and divides
    by :math:`1 - \sum_a w_a^2`.

    Parameters
    ----------
    draws : array_like, (n, d)
        One draw a row; (n,) is taken as (n, 1).
    scores : array_like, (n, d)
        Gradients of the *log density*, not of U = -log density, at the draws.
    weights : array_like, (n,), optional
        Non-negative, of any sum: step sizes or counts.  Equal by default.
    form : {"joint", "coordinate"}
        :math:`\sqrt{\sum_j T_j}` (Coullon, South and Nemeth 2023, eq. 3) or
        :math:`\sum_j \sqrt{T_j}` (Nemeth and Fearnhead 2021, eq. 13, whose middle terms belong to s
        and not to the printed gradient of U).
    kernel : {"imq", "gaussian"}
        :math:`(c^2 + r^2)^\beta` or :math:`\exp(-r^2 / 2 c^2)`.  Only the first is sure to see
        draws that do not converge when d >= 3 (Gorham and Mackey 2017).
    statistic : {"v", "u"}
        "v" is never negative, and of order :math:`n^{-1/2}` for exact draws.  "u" has mean zero for
        exact independent draws before the root; where T < 0 the root is :math:`-\sqrt{-T}`.
    c : float or "median"
        Width of the kernel, positive, or the median distance between draws in the coordinates of
        `scale`.
    beta : float
        Exponent of the "imq" kernel, between -1 and 0; "gaussian" has none.
    scale : array_like, (d,) or (d, d), or "covariance", optional
        S, such as posterior standard deviations or a Cholesky factor of the
        covariance ("covariance": of these draws'): draws become :math:`S^{-1} x` and scores
        :math:`S' s`, so that the result does not depend on units.

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
    draws, scores, weights = as_sample(draws, scores, weights, scale)
    one_of("form", form, ("joint", "coordinate"))
    one_of("statistic", statistic, ("v", "u"))
    pairs, diagonal = stein_sums(
        draws, scores, weights, *as_kernel(kernel, c, beta, draws), form == "joint"
    )
    if statistic == "v":
        # below 0 only by rounding
        return float(np.sum(np.sqrt(np.maximum(2 * pairs + diagonal, 0.0))))
    return float(np.sum(signed_root(2 * pairs / off_diagonal(weights))))


def linear_ksd(
    draws: ArrayLike,
    scores: ArrayLike,
    *,
    kernel: Literal["imq", "gaussian"] = "imq",
    c: float | Literal["median"] = 1.0,
    beta: float = -0.5,
    scale: ArrayLike | None = None,
) -> float:
    r"""Return the kernel Stein discrepancy in O(n) time, from n/2 pairs of draws (Liu, Lee and
    Jordan 2016).

    :math:`T = \frac{2}{n} \sum_{t \le n/2} k^0(x_t, x_{t + n/2})` estimates the joint `ksd` squared
    without bias, as its "u" does, with a larger error.  Draws half a run apart are paired, not
    neighbours, which in a chain are alike.

    Parameters
    ----------
    draws, scores, kernel, c, beta, scale
        As in `ksd`.

    Returns
    -------
    float
        :math:`\sqrt{T}`, and :math:`-\sqrt{-T}` where T < 0.
    """
    draws, scores, _ = as_sample(draws, scores, scale=scale)
    half = len(draws) // 2
    if half < 1:
        raise ArgumentError("linear_ksd needs two draws")
    first, second = slice(0, half), slice(half, 2 * half)
    values = stein_pairs(
        draws[first],
        scores[first],
        draws[second],
        scores[second],
        *as_kernel(kernel, c, beta, draws),
    )
    return float(signed_root(values.mean()))


def off_diagonal(weights: Floats) -> float:
    """Weight of the pairs of different draws, for weights that sum to one."""
    rest = 1 - np.sum(weights**2)
    if rest <= 0:
        raise ArgumentError("statistic 'u' needs two draws of positive weight")
    return rest


def signed_root(total: float | Floats) -> Any:
    """The root of what may be negative."""
    return np.copysign(np.sqrt(np.abs(total)), total)
