"""How much gradient noise Barker dynamics can undo."""

import numpy as np


def breaking_point(increment, gradient=None):
    r"""tau*, the largest sd of normal gradient noise that stochastic gradient Barker dynamics can
    correct for.

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


def _solved(z, g):
    """|g| / Phi^-1(logistic(|z g|)), from the logarithm of logistic(-|z g|),
    which keeps its digits in the tail.
    """
    from scipy.special import ndtri_exp

    t = z * g
    return np.where(t < 1e-4, 4 / np.sqrt(2 * np.pi) / z, g / -ndtri_exp(-np.logaddexp(0.0, t)))[()]
