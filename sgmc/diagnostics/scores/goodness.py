"""A test of whether draws are from the target whose scores they carry, by the wild bootstrap."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_number, whole
from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import convergence
from sgmc.diagnostics.scores.scales import as_kernel, as_sample
from sgmc.diagnostics.scores.stein_sums import stein_matrix

STEIN_BLOCK = 128  # rows of the Stein kernel at a time
PATIENCE = 7  # autocorrelation times between changes of sign


class KSDTest(NamedTuple):
    """What `ksd_test` returns.

    Attributes
    ----------
    ksd : float
        Joint KSD, "v".
    pvalue : float
    change : float
        Probability with which the bootstrap's signs changed.
    """

    ksd: float
    pvalue: float
    change: float


def ksd_test(
    draws: ArrayLike,
    scores: ArrayLike,
    *,
    change: float | None = None,
    replicates: int = 999,
    weights: ArrayLike | None = None,
    kernel: Literal["imq", "gaussian"] = "imq",
    c: float | Literal["median"] = 1.0,
    beta: float = -0.5,
    scale: ArrayLike | None = None,
    seed: int = 0,
) -> KSDTest:
    r"""Test whether draws are of their target: p-value of the kernel Stein discrepancy by the wild
    bootstrap.

    :math:`T = \sum_{a,b} w_a w_b k^0(x_a, x_b)` is compared with
    :math:`\sum_{a,b} w_a w_b W_a W_b k^0(x_a, x_b)` for random signs W that change from one draw to
    the next with probability a: 1/2 for independent draws (Liu, Lee and Jordan 2016), less for
    draws of a Markov chain (Chwialkowski, Strathmann and Gretton 2016), so that W varies more
    slowly than the chain.  Without that, dependent draws of the target would be rejected.  The
    p-value is :math:`(1 + \#\{B \ge T\}) / (1 + \mathrm{replicates})`; terms a = b are in T and B
    alike.

    Parameters
    ----------
    draws, scores : array_like, (n, d)
        In the order of the chain; chains one after the other.
    change : float, optional
        a, up to 0.5.  Default: :math:`1 / (2 + 7 (\tau - 1))`, with tau the largest autocorrelation
        time (n over the effective size of the mean) of any draw's or score's coordinate; the test
        needs n a of some tens.
    replicates : int
    weights, kernel, c, beta, scale
        As in `ksd`.
    seed : int
        Of the signs.

    Returns
    -------
    KSDTest
        ``ksd``, ``pvalue`` and ``change``.
    """
    x, s, w = as_sample(draws, scores, weights, scale)
    width = as_kernel(kernel, c, beta, x)
    if change is None:
        change = 1 / (2 + PATIENCE * (autocorrelation_time(x, s) - 1))
    elif not (is_number(change) and 0 < change <= 0.5):
        raise must_be("change", change, "a number above 0, at most 0.5")
    replicates = whole("replicates", replicates, 1)
    signed = w[:, None] * signs(len(x), replicates, change, np.random.default_rng(seed))
    signed = np.column_stack([w, signed])
    totals = np.zeros(replicates + 1)
    for a in range(0, len(x), STEIN_BLOCK):
        rows = slice(a, a + STEIN_BLOCK)
        totals += np.einsum(
            "ab,ab->b", signed[rows], stein_matrix(x[rows], s[rows], x, s, *width) @ signed
        )
    # signs that never changed give T, to rounding
    beyond = np.count_nonzero(totals[1:] >= (1 - 1e-12) * totals[0])
    return KSDTest(
        float(np.sqrt(max(totals[0], 0.0))), float((1 + beyond) / (1 + replicates)), float(change)
    )


def signs(n: int, count: int, change: float, rng: np.random.Generator) -> Array:
    """Paths of signs (n, count) that change with a probability."""
    changes = rng.random((n, count)) < change
    changes[0] = rng.random(count) < 0.5
    return 1.0 - 2.0 * (np.cumsum(changes, axis=0) % 2)


def autocorrelation_time(x: Floats, s: Floats) -> float:
    """n over the least effective size of a mean of draws or scores, at least 1."""
    sizes = convergence.ess(np.concatenate([x, s], axis=1)[None], method="mean")
    return max(1.0, len(x) / np.nanmin(sizes)) if np.isfinite(sizes).any() else 1.0
