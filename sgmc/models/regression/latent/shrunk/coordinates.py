"""Coordinates of coefficients, local scales, global parameters and auxiliary parameters."""

from dataclasses import replace

import numpy as np
from scipy import linalg

from sgmc.coordinates.shapes.separation_transform import GRID
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.maps import Affine, Scaling, Warp
from sgmc.coordinates.transforms.partial_map import PartialMap
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whole import WholeCoordinates
from sgmc.models.regression.latent.shrunk.shrinking import ShrunkMap


def learned_coordinates(scales, centre, power, back, thresholds=None, margins=None):
    """Coordinates of (beta, v, g, u), of which local scales v are not printed.

    Parameters
    ----------
    scales, centre, power
        See `learned_map`.
    back : array (d, d)
        From the table's coefficients to the user's.
    thresholds : Thresholds, optional
        What is printed in the place of an intercept and gaps.
    margins : Margins, optional
        Of other parameters that no Gaussian describes.
    """
    of, moving, more = scales.shrunk, np.arange(scales.shrunk.locals), ()
    if margins is None:
        map = learned_map(scales, centre, power)
    else:
        bent = margins.places[margins.places < of.d]
        moving, more = np.delete(np.arange(of.size), bent)[moving], margins.arrays
        map = map_beside(scales, centre, power, margins, bent)
    return WholeCoordinates(
        map,
        np.r_[0 : of.d, of.first_group : of.size],
        moving,
        back,
        Report(of.groups + of.log_params, thresholds=thresholds),
        (centre.found.place, centre.found.h, centre.g, *more),
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


def map_beside(scales, centre, power, margins, bent):
    """The map beside parameters that no Gaussian describes, the coefficients `bent` (k,) among
    them: the others are what they are expected to be given these, and what `learned_map` has.

    Coefficients with learned scales have the law that they have whatever these are.
    """
    of, found, P = scales.shrunk, centre.found, centre.precision
    d, where, end = of.d, np.asarray(of.where), of.size - of.log_params
    kept = np.setdiff1d(np.arange(d), bent)
    rest = np.setdiff1d(kept, where)
    basis = np.eye(d)
    basis[np.ix_(rest, bent)] = -np.linalg.solve(P[np.ix_(rest, rest)], P[np.ix_(rest, bent)])
    origin = found.mean[:d] - basis @ found.mean[:d]
    origin[bent] = 0.0
    own, inner = np.searchsorted(kept, where), P[np.ix_(kept, kept)].copy()
    among = np.linalg.inv(inner)[np.ix_(own, own)]
    all_else = np.linalg.inv(P[:d, :d])[np.ix_(where, where)]
    inner[np.ix_(own, own)] += np.linalg.inv(all_else) - np.linalg.inv(among)
    mean = np.append(found.mean[kept], found.mean[d:])
    reduced = replace(centre, precision=inner, found=found._replace(mean=mean))
    fewer = replace(scales, shrunk=of.replaced(d=len(kept), where=own))
    given = margins.places[margins.places >= d] - d
    map = PartialMap(
        of.size, np.delete(np.arange(of.size), bent), learned_map(fewer, reduced, power, given)
    )
    map = Composed(PartialMap(of.size, np.arange(d), Affine(origin, basis)), map)
    return margins.behind(map, np.r_[0:d, end : of.size])


def learned_map(scales, centre, power, given=()):
    """The map in which the posterior is about standard normal: `ShrunkMap` behind quantiles of
    local scales and global parameters.

    Parameters
    ----------
    scales : LearnedScales
    centre : ScalesMode
    power : float
        See `ShrunkMap`.
    given : sequence of int
        Auxiliary parameters that are coordinates themselves.
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
    map = Composed(outer, Warp(of.size, GRID, *tables))
    if not len(given):
        return map
    mean, sds = centre.logs[given].T
    own = of.size - of.log_params + np.asarray(given)
    return Composed(map, PartialMap(of.size, own, Scaling(-mean / sds, 1 / sds)))


def inverse_root(precision):
    """L with L L' the inverse."""
    if not len(precision):
        return np.zeros((0, 0))
    lower = np.linalg.cholesky(precision)
    return linalg.solve_triangular(lower, np.eye(len(lower)), lower=True).T
