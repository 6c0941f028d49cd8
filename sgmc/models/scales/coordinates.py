"""Coordinates of coefficients, local scales, global parameters and auxiliary parameters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from sgmc.coordinates.composed import Composed
from sgmc.coordinates.maps import Warp
from sgmc.coordinates.walls import GRID
from sgmc.core.contract import Map
from sgmc.models.scales.shrinking import ShrunkMap


@dataclass(frozen=True)
class LearnedCoordinates:
    """From x, about standard normal, to (beta, v, g, u); it has of `Coordinates` what samplers and
    results need.  Local scales are not reported.

    Attributes
    ----------
    map : Map
    shrunk : Shrunk
    back : array (d, d)
        From the table's coefficients to the user's.
    """

    map: Map
    shrunk: object
    back: np.ndarray

    scaled, whitened, rotated, heavy = True, True, False, False
    max_precision = min_precision = 1.0

    @property
    def arrays(self):
        """What tells these coordinates from others."""
        return [np.asarray(self.map.outer.place), np.asarray(self.map.inner.values)]

    @property
    def logs(self):
        """How many of what is reported are sampled as logs, the last ones."""
        return self.shrunk.groups + self.shrunk.logs

    @cached_property
    def kept(self):
        """Places of what is reported."""
        return np.r_[0 : self.shrunk.d, self.shrunk.first_group : self.shrunk.size]

    def natural(self, x):
        """(beta, v, g, u) of points x (..., dim)."""
        return self.map(x)

    def theta(self, x):
        """The user's coefficients, g and u of points x (..., dim)."""
        out = self.natural(x)[..., self.kept]
        out[..., : self.shrunk.d] = out[..., : self.shrunk.d] @ self.back.T
        return out

    def reported(self, x):
        """The same, parameters instead of their logs."""
        out = self.theta(x)
        out[..., -self.logs :] = np.exp(out[..., -self.logs :])
        return out

    def from_white(self, z):
        """x of a standard normal draw z (dim,)."""
        return z

    def from_reported(self, values):
        """x of what is reported, (size,), with local scales in the middle of what they are given
        the global parameters.
        """
        of, values = self.shrunk, np.array(values, dtype=float)
        values[-self.logs :] = np.log(values[-self.logs :])
        x = np.zeros(of.size)
        theta = self.natural(x)
        theta[self.kept] = values
        theta[: of.d] = np.linalg.solve(self.back, values[: of.d])
        moved = theta[of.first_group : of.first_group + of.groups]
        outer = self.map.outer
        group = np.asarray(of.group)[of.has_local]
        theta[of.d : of.first_group] -= (
            np.asarray(outer.turn) * (moved - np.asarray(outer.centre))[group]
        )
        return self.map.inverse(theta)


def learned_map(scales, centre, power):
    """The map in which the posterior is about standard normal: `ShrunkMap` behind quantiles of
    local scales and global parameters.

    Parameters
    ----------
    scales : Scales
    centre : Centre
    power : float
        See `ShrunkMap`.
    """
    of, found, mode = scales.shrunk, centre.found, centre.mode
    where, d = np.asarray(of.where), of.d
    rest = np.setdiff1d(np.arange(d), where)
    inner = centre.precision[:d, :d]
    own = inner[np.ix_(rest, rest)]
    slope = -np.linalg.solve(own, inner[np.ix_(rest, where)]) if len(rest) else np.zeros((0, of.k))
    covariance = np.linalg.inv(inner)[np.ix_(where, where)]
    sd = np.sqrt(np.diag(covariance))
    u = mode.theta[d:]
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
        auxiliary=np.column_stack([u, 1 / np.sqrt(np.diag(mode.precision)[d:])]),
        power=power,
    )
    at = scales.log_scales(centre.g, u)
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
