"""Stein thinning: the few draws that together are closest to the target."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Ints
from sgmc.diagnostics.scores.scales import as_kernel, as_sample
from sgmc.diagnostics.scores.stein_sums import stein_diagonal, stein_matrix


def stein_thinning(
    draws: ArrayLike,
    scores: ArrayLike,
    m: int,
    *,
    kernel: Literal["imq", "gaussian"] = "imq",
    c: float | Literal["median"] = 1.0,
    beta: float = -0.5,
    scale: ArrayLike | None = "covariance",
) -> Ints:
    r"""Return the numbers of m draws chosen one by one so that their kernel Stein discrepancy is
    least.

    .. math:: \pi(j) = \arg\min_i \tfrac{1}{2} k^0(x_i, x_i) + \sum_{j' < j} k^0(x_{\pi(j')}, x_i)

    (Riabiz et al. 2022, Algorithm 1), in O(n m) time.  It takes out draws of the warmup and makes
    up for a biased spread; a draw may be chosen more than once.

    Parameters
    ----------
    draws, scores : array_like, (n, d)
        As in `ksd`.
    m : int
        Draws wanted; may exceed n.
    kernel, c, beta
        As in `ksd`.
    scale : array_like, (d,) or (d, d), "covariance" or None
        As in `ksd`.

    Returns
    -------
    ndarray of int, (m,)
        In the order of choice: the first k are the choice of k.
    """
    m = whole("m", m, 1)
    x, s, _ = as_sample(draws, scores, scale=scale)
    width = as_kernel(kernel, c, beta, x)
    worth, chosen = 0.5 * stein_diagonal(s, *width), np.empty(m, dtype=np.intp)
    for j in range(m):
        best = chosen[j] = np.argmin(worth)
        worth += stein_matrix(x[best : best + 1], s[best : best + 1], x, s, *width)[0]
    return chosen
