"""Expectation propagation (Minka 2001; arXiv:1301.2294) of priors that are not normal, on a
Gaussian likelihood.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from sgmc.errors import DataError

SWEEPS = 200  # at most
DAMPING, TOLERANCE = 0.6, 1e-3  # and the change of a mean or sd, in sds, at which they end


class Sites(NamedTuple):
    """Normal laws that stand for the priors: precision and slope, arrays (k,)."""

    precision: np.ndarray
    slope: np.ndarray


class Propagated(NamedTuple):
    """What expectation propagation has found.

    Attributes
    ----------
    sites : Sites
    place, h : array (k,)
        Means and variances of the cavities.
    mean : array (d,)
    told : tuple
        What `tilt` has told beside moments, in the last sweep.
    """

    sites: Sites
    place: np.ndarray
    h: np.ndarray
    mean: np.ndarray
    told: tuple


def propagate(precision, slope, where, tilt, sites):
    """Expectation propagation on a Gaussian likelihood exp(-b' precision b / 2 + slope . b).

    Parameters
    ----------
    precision : array (d, d)
    slope : array (d,)
    where : array (k,) of int
    tilt : callable
        ``tilt(place, h)`` gives mean and variance (k,) of each prior times N(place, h), and what
        else is to be told.
    sites : Sites
        To begin with.

    Returns
    -------
    Propagated
    """
    p, q = sites
    if not len(where):
        return Propagated(sites, p, q, marginals(precision, slope, where, p, q)[0], ())
    last = np.zeros(len(where)), np.ones(len(where))
    for _ in range(SWEEPS):
        mean, own = marginals(precision, slope, where, p, q)
        outer = np.maximum(own - p, 1e-9 * own)
        place = (own * mean[where] - q) / outer
        now, variance, *told = tilt(place, 1 / outer)
        moved = max(
            (np.abs(now - last[0]) / np.sqrt(variance)).max(),
            np.abs(variance / last[1] - 1).max(),
        )
        new = np.maximum(1 / variance - outer, 1e-6 * outer)
        if moved < TOLERANCE:
            break
        last = now, variance
        p = (1 - DAMPING) * p + DAMPING * new
        q = (1 - DAMPING) * q + DAMPING * ((new + outer) * now - outer * place)
    return Propagated(Sites(p, q), place, 1 / outer, mean, tuple(told))


def marginals(precision, slope, where, p, q):
    """Mean (d,), and the precisions (k,) of the margins at `where`, with normal laws beside."""
    full, right = precision.copy(), slope.copy()
    full[where, where] += p
    right[where] += q
    unit = 1 / np.sqrt(np.diag(full))
    try:
        factor = linalg.cho_factor(full * np.outer(unit, unit))
    except (linalg.LinAlgError, ValueError):  # a ValueError where scaling overflows
        raise DataError(
            "the normal approximation of the posterior is singular to rounding: predictors "
            "are collinear, or their scales differ too much; drop or rescale some of them"
        ) from None
    inverse = linalg.cho_solve(factor, np.eye(len(unit)))
    mean = unit * (inverse @ (unit * right))
    return mean, 1 / (np.diag(inverse) * unit**2)[where]
