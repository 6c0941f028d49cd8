"""Expectation propagation (Minka 2001) for coefficients with learned scales, on a Gaussian
likelihood: cavities, and the slope of the marginal density of the global parameters.
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
    by_scale : array (k,)
        Slopes of the log evidence by A_j.
    turn : array (k,)
        How much the mean of v_j falls where A_j grows by one.
    """

    sites: Sites
    place: np.ndarray
    h: np.ndarray
    mean: np.ndarray
    by_scale: np.ndarray
    turn: np.ndarray


def tilted(place, h, variance, slope, log_mass, nodes):
    """Mean and variance of each coefficient, and `Propagated.by_scale` and `turn`.

    Parameters
    ----------
    place, h : array (k,)
    variance, slope, log_mass, nodes : array (k, m)
        At the nodes of v: s^2 and d log s / d v, mass of the prior, and v.
    """
    h, place = h[:, None], place[:, None]
    total = variance + h
    log_weight = log_mass - 0.5 * np.log(total) - 0.5 * place**2 / total
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    means, spread = place * variance / total, variance * h / total
    mean = (weight * means).sum(axis=1)
    out = (weight * (spread + (means - mean[:, None]) ** 2)).sum(axis=1)
    by_node = slope * variance / total * (place**2 / total - 1)
    by_scale = (weight * by_node).sum(axis=1)
    v = (weight * nodes).sum(axis=1)
    turn = -(weight * (nodes - v[:, None]) * by_node).sum(axis=1)
    return mean, out, by_scale, turn


def propagate(precision, slope, where, grid, sites):
    """Expectation propagation on a Gaussian likelihood exp(-b' precision b / 2 + slope . b).

    Parameters
    ----------
    precision : array (d, d)
    slope : array (d,)
    where : array (k,) of int
    grid : tuple of array (k, m)
        Variances, slopes, log masses and nodes, see `tilted`.
    sites : Sites
        To begin with.

    Returns
    -------
    Propagated
    """
    p, q = sites
    last = np.zeros(len(where)), np.ones(len(where))
    for _ in range(SWEEPS):
        mean, own = marginals(precision, slope, where, p, q)
        outer = np.maximum(own - p, 1e-9 * own)
        place = (own * mean[where] - q) / outer
        now, variance, by_scale, turn = tilted(place, 1 / outer, *grid)
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
    return Propagated(Sites(p, q), place, 1 / outer, mean, by_scale, turn)


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
            "the normal approximation of the shrinkage prior is singular to rounding: predictors "
            "are collinear, or their scales differ too much; drop or rescale some of them"
        ) from None
    inverse = linalg.cho_solve(factor, np.eye(len(unit)))
    mean = unit * (inverse @ (unit * right))
    return mean, 1 / (np.diag(inverse) * unit**2)[where]
