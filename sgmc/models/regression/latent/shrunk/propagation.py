"""Coefficients with learned scales under expectation propagation: moments, and the slope of the
marginal density of the global parameters.
"""

from typing import NamedTuple

import numpy as np

from sgmc.coordinates.approximations.propagation import Sites, propagate


class Shrunken(NamedTuple):
    """A `Propagated`, and what it tells of the global parameters.

    Attributes
    ----------
    sites, place, h, mean
        See `Propagated`.
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


def shrunken(precision, slope, where, grid, sites):
    """Expectation propagation with the grids of the scales.

    Parameters
    ----------
    precision, slope, where, sites
        See `propagate`.
    grid : tuple of array (k, m)
        Variances, slopes, log masses and nodes, see `tilted`.
    """

    def tilt(place, h):
        return tilted(place, h, *grid)

    found = propagate(precision, slope, where, tilt, sites)
    return Shrunken(*found[:4], *found.told)
