"""Coordinates of coefficients, local scales, global parameters and auxiliary parameters."""

import numpy as np
from scipy import linalg

from sgmc.coordinates.shapes.separation_transform import GRID
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.maps import Warp
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whole import WholeCoordinates
from sgmc.models.regression.latent.shrunk.shrinking import ShrunkMap


def learned_coordinates(scales, centre, power, back, thresholds=None):
    """Coordinates of (beta, v, g, u), of which local scales v are not printed.

    Parameters
    ----------
    scales, centre, power
        See `learned_map`.
    back : array (d, d)
        From the table's coefficients to the user's.
    thresholds : Thresholds, optional
        What is printed in the place of an intercept and gaps.
    """
    of, map = scales.shrunk, learned_map(scales, centre, power)
    return WholeCoordinates(
        map,
        np.r_[0 : of.d, of.first_group : of.size],
        np.arange(of.first_group - of.d),
        back,
        Report(of.groups + of.log_params, thresholds=thresholds),
        (np.asarray(map.outer.place), np.asarray(map.inner.values)),
    )


def turned_coordinates(known, back):
    """Coordinates of (beta, v, g, u) for draws in turn, by their `ScaleConditionals`."""
    of, scaling = known.shrunk, known.map.inner
    return WholeCoordinates(
        known.map,
        np.r_[0 : of.d, of.first_group : of.size],
        np.arange(of.locals),
        back,
        Report(of.groups + of.log_params),
        (np.asarray(scaling.centre), np.asarray(scaling.scale)),
    )


def ridge_coordinates(moved, back):
    """Coordinates of (beta, log of the sd, log sigma) for independent draws of a ridge, by their
    `Transport`.
    """
    scaling, d = moved.map.map, len(back)
    return WholeCoordinates(
        scaling,
        np.arange(d + 2),
        np.arange(0),
        back,
        Report(2),
        (np.asarray(scaling.centre), np.asarray(scaling.scale)),
    )


def learned_map(scales, centre, power):
    """The map in which the posterior is about standard normal: `ShrunkMap` behind quantiles of
    local scales and global parameters.

    Parameters
    ----------
    scales : LearnedScales
    centre : ScalesMode
    power : float
        See `ShrunkMap`.
    """
    of, found = scales.shrunk, centre.found
    where, d = np.asarray(of.where), of.d
    rest = np.setdiff1d(np.arange(d), where)
    inner = centre.precision[:d, :d]
    own = inner[np.ix_(rest, rest)]
    slope = -np.linalg.solve(own, inner[np.ix_(rest, where)]) if len(rest) else np.zeros((0, of.k))
    covariance = np.linalg.inv(inner)[np.ix_(where, where)]
    sd = np.sqrt(np.diag(covariance))
    group, has = np.asarray(of.group), of.has_local
    turn = np.clip(found.turn, 0.0, 1.0) * np.asarray(of.share)
    outer = ShrunkMap(
        of,
        place=found.place,
        cavity=found.h,
        root=np.linalg.cholesky(covariance / np.outer(sd, sd)),
        turn=turn[has],
        centre=centre.g,
        rest=rest,
        expected=found.mean[rest] + slope @ (found.place - found.mean[where]),
        slope=slope,
        own=inverse_root(own),
        auxiliary=centre.logs,
        power=power,
    )
    at = scales.log_scales(centre.g, centre.logs[:, 0])
    locals_ = [
        scales.locals[group[j]].quantiles(at[j], of.unit[j], of.slab[j], found.place[j], found.h[j])
        for j in np.flatnonzero(has)
    ]
    tables = [np.array(one) for one in zip(*locals_, *centre.margins)]
    return Composed(outer, Warp(of.size, GRID, *tables))


def inverse_root(precision):
    """L with L L' the inverse."""
    if not len(precision):
        return np.zeros((0, 0))
    lower = np.linalg.cholesky(precision)
    return linalg.solve_triangular(lower, np.eye(len(lower)), lower=True).T
