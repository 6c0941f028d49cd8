"""How much gradient noise Barker dynamics can undo."""

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.types import Floats

# the largest difference of the logistic function of x and the normal one of x / 1.702
LOGISTIC_DEPARTURE = 0.0095


def breaking_point(increment: ArrayLike, gradient: ArrayLike | None = None) -> Floats | float:
    r"""Return tau*, the largest sd of normal gradient noise that stochastic gradient Barker
    dynamics can correct for.

    It solves :math:`\Phi(|g| / \tau^*) = 1 / (1 + \exp(-|z g|))` (Mauri and Zanella, eq. 12):
    :math:`\tau^* = |g| / \Phi^{-1}(\mathrm{logistic}(|z g|))`, between
    :math:`4 / (\sqrt{2 \pi} |z|) = 1.596 / |z|` for small gradients and :math:`(|g| / 2 |z|)^{1/2}`
    for large ones.

    Parameters
    ----------
    increment : array_like
        z.
    gradient : array_like, optional
        g, exact.  Default: their estimate for any gradient, :math:`1.702 / |z|` (eq. 42).

    Returns
    -------
    ndarray or float
        Of the shape of increment and gradient together; infinite where z = 0.
    """
    z = np.abs(np.asarray(increment, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        if gradient is None:
            return 1.702 / z
        return _solved(z, np.abs(np.asarray(gradient, dtype=float)))


def breaking_interval(
    increment: ArrayLike, gradient: ArrayLike, published: bool = False
) -> tuple[Floats | float, Floats | float]:
    r"""Return the limits of the breaking point where the logistic function is known by its normal
    approximation.

    From :math:`|\Phi(x / 1.702) - \mathrm{logistic}(x)| < 0.0095` (Mauri and Zanella, eq. 43),
    with :math:`p = \Phi(|z g| / 1.702)`,

    .. math:: |g| / \Phi^{-1}(p + 0.0095) < \tau^* < |g| / \Phi^{-1}(p - 0.0095).

    Their eq. 45 has :math:`\Phi^{-1}(p) \pm \Phi^{-1}(0.0095)` for these quantiles, which are other
    numbers: its interval is much wider, without an upper end up to :math:`|z g| = 4`, and beyond
    :math:`|z g| = 11` the breaking point is above it.

    Parameters
    ----------
    increment : array_like
        z.
    gradient : array_like
        g, exact.
    published : bool
        Return the interval of eq. 45, :math:`1 / (|z| / 1.702 \pm 2.345 / |g|)`.

    Returns
    -------
    low, high : ndarray or float
        Of the shape of increment and gradient together; `low` is zero and `high` infinite where the
        approximation gives no limit.

    See Also
    --------
    breaking_point : the breaking point itself.
    """
    from scipy.special import ndtr, ndtri

    z = np.abs(np.asarray(increment, dtype=float))
    g = np.abs(np.asarray(gradient, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        if published:
            width = -ndtri(LOGISTIC_DEPARTURE) / g
            inverse = z / 1.702 + width, z / 1.702 - width
        else:
            p = ndtr(z * g / 1.702)
            ends = np.minimum(p + LOGISTIC_DEPARTURE, 1.0), p - LOGISTIC_DEPARTURE
            inverse = [ndtri(end) / g for end in ends]
        low, high = (np.where(one > 0, 1 / one, np.inf)[()] for one in inverse)
        return low, high


def _solved(z: Floats, g: Floats) -> Floats | float:
    """|g| / Phi^-1(logistic(|z g|)), from the logarithm of logistic(-|z g|),
    which keeps its digits in the tail.
    """
    from scipy.special import ndtri_exp

    t = z * g
    return np.where(t < 1e-4, 4 / np.sqrt(2 * np.pi) / z, g / -ndtri_exp(-np.logaddexp(0.0, t)))[()]
