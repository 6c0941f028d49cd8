"""Independent draws of regressions with normal errors that have few scales of effects: given them
and sigma all coefficients are normal, and without them the density of these numbers has a table.

With t = 1 / sigma^2 and ratios r_j = s_j / sigma of the effects' sds, what effects leave of the
rows' covariance is sigma^2 times a matrix of the ratios alone, and of numbers eta by which sds of
an effect's columns differ.  So one root for each point of these tells the density for every sigma.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.grid import Grid, grid_of
from sgmc.coordinates.independent.transport import Transport
from sgmc.core.contract import Map, Prior
from sgmc.core.expansion import of_priors

MOST_OPERATIONS = 5e10  # floating-point ones of a table
PAIRS_AT_ONCE = 1 << 20  # numbers


class Sds(Protocol):
    """Coordinates of standard deviations, see `Loading`."""

    q: int
    scale: Floats

    def sds(self, bent: Floats) -> Floats:
        """Return sds of their coordinates (.., q)."""
        ...

    def curved(self, sds: Floats) -> Floats:
        """Return coordinates of sds (.., q)."""
        ...

    def steepness(self, bent: Floats) -> Floats:
        """Return derivatives of sds by their coordinates (.., q)."""
        ...

    def times(self, factor: float) -> "Sds":
        """Return the coordinates of sds that are so many times as large."""
        ...


class Sums:
    """What rows tell of coefficients and effects, as sums over them.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    count : int
        Effects that are drawn.
    operations : float
        Floating-point operations of `at` for each point.
    roots_size : int
        Effects of a root that draws share, 0 where each has a root of its own.
    at_once : int
        Points whose products are kept at once.
    """

    weight: float
    count: int
    operations: float
    roots_size: int = 0
    at_once: int = 1

    def prepare(self, ratios: Floats) -> None:
        """Look at all ratios, and eta (m, q + k), before `at` is asked for parts of them."""

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return the products of the columns of the coefficients and of the residuals in units of
        the rows' covariance over sigma^2, (m, d + 1, d + 1), and half the log of its determinant,
        (m,), at ratios, and eta (m, q + k).
        """
        steps = range(0, len(ratios), self.at_once)
        parts = [self.of_few(ratios[a : a + self.at_once]) for a in steps]
        found, logs = (np.concatenate(one) for one in zip(*parts))
        return found, logs

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return `at` of points whose products are kept at once."""
        raise NotImplementedError

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return effects (m, count) over sigma: normal ones given coefficients, of standard normal
        numbers z.

        Parameters
        ----------
        ratios : array (m, q + k)
            And eta.
        pull : array (m, d + 1)
            What leads from the columns and the residuals to those that are left, over sigma.
        z : array (m, count)
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ConditionallyNormal(Transport):
    """Draws of coefficients that are normal given (psi, u): coordinates of the ratios, which are
    like those of the sds in `loading`, with eta behind them, and log sigma.

    Attributes
    ----------
    map : Map
        From the sampler's coordinates to natural ones, (beta, effects that are drawn, phi, eta, u).
    prior : Prior
        Of (beta, phi, eta, u).
    beta : array (d,)
        Fixed coefficients at which residuals are taken.
    slope, precision : array (d,), (d, d)
        Gradient and curvature of their log prior there.
    sums : Sums
    loading : Sds
        Of the sds.
    ratios : Sds
        Of the ratios.
    rounding : float
        See `Dispersed`.
    grid : Grid or None
        Of psi and a number that tells u, see `log_sigma`.
    """

    map: Map
    prior: Prior
    beta: Floats
    slope: Floats
    precision: Floats
    sums: Sums
    loading: Sds
    ratios: Sds
    rounding: float
    grid: Grid | None = None

    @classmethod
    def tabulated(
        cls, mode: Floats, covariance: Floats, *, loading: Sds, **parts: Any
    ) -> Self | None:
        """Return the transport with its table, see `grid_of`; None where there is none.

        Parameters
        ----------
        mode : array (q + k + 1,)
            About that of (phi, eta, u).
        covariance : array (q + k + 1, q + k + 1)
            About that of (phi, eta, u).
        loading, parts
            Attributes; the sds are not correlated.
        """
        made, middle, covariance = cls.around(mode, covariance, loading=loading, **parts)
        # all points of the ratios are looked at some times, and drawn from once
        most = MOST_OPERATIONS / made.sums.operations
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                grid = grid_of(made.log_density, middle, covariance, most, even=loading.q)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        return None if grid is None else replace(made, grid=grid)

    @classmethod
    def around(
        cls,
        mode: Floats,
        covariance: Floats,
        *,
        loading: Sds,
        ratios: Sds | None = None,
        **parts: Any,
    ) -> tuple[Self, Floats, Floats]:
        """Return the transport without a table, and about the mode and the covariance of
        (psi, eta, u); parameters are those of `tabulated`.
        """
        q = loading.q
        phi, eta, u = mode[:q], mode[q:-1], mode[-1]
        side = np.where(phi < 0, -1.0, 1.0)  # signs of sds have no meaning
        ratios = ratios or loading.times(np.exp(-u))
        made = cls(loading=loading, ratios=ratios, **parts)
        # d psi = (d phi ds/dphi / sigma - r du) / (dr/dpsi)
        sds = np.abs(loading.sds(phi))
        psi = ratios.curved(sds * np.exp(-u))
        steep = ratios.steepness(psi)
        J = np.eye(len(mode))
        J[range(q), range(q)] = side * loading.steepness(side * phi) * np.exp(-u) / steep
        J[:q, -1] = -sds * np.exp(-u) / steep
        return made, np.concatenate([psi, eta, [u]]), J @ covariance @ J.T

    def behind(self, map: Map) -> Self:
        """Return the same draws in other coordinates, from which a map leads to natural ones."""
        return replace(self, map=map)

    def log_sigma(self, psi: Floats, last: Floats) -> Floats:
        """Return u of the table's last number (m, k), beside psi (m, q): the same."""
        return last

    def scales(self, psi: Floats) -> Floats:
        """Return ratios, and eta, of points psi (m, q + k)."""
        q = self.ratios.q
        ratios = self.ratios.sds(psi[:, :q])
        return np.concatenate([ratios, psi[:, q:]], axis=1) if psi.shape[1] > q else ratios

    def log_density(self, psi: Floats, last: Floats) -> Floats:
        """Return the log density of (psi, last) at m points psi and some last numbers (m, k) beside
        each, the coefficients integrated out: (m, k).
        """
        u = self.log_sigma(psi, last)
        self.sums.prepare(self.scales(psi))
        size = max(1, PAIRS_AT_ONCE // ((len(self.beta) + 1) * (len(self.beta) + 1 + u.shape[1])))
        steps = range(0, len(psi), size)
        return np.concatenate([self.at(psi[a : a + size], u[a : a + size]) for a in steps])

    def at(self, psi: Floats, u: Floats) -> Floats:
        """Return the same of points whose products are kept at once."""
        S, logs = self.sums.at(self.scales(psi))
        d, t = len(self.beta), np.exp(-2 * u)
        # products and the prior's precision have one set of axes, so that no sigma needs a root
        own = 1 / t[:, t.shape[1] // 2]
        root = np.linalg.cholesky(S[:, :d, :d] + own[:, None, None] * self.precision)
        half = np.linalg.solve(root, S[:, :d, :d])
        half = np.linalg.solve(root, np.swapaxes(half, 1, 2))
        share, axes = np.linalg.eigh(0.5 * (half + np.swapaxes(half, 1, 2)))
        pull = np.stack(
            np.broadcast_arrays(S[:, :d, d], self.slope), axis=-1
        )  # of rows, over sigma^2, and of the prior
        pull = np.swapaxes(axes, 1, 2) @ np.linalg.solve(root, pull)
        left = np.maximum(1 - share, 0.0) / own[:, None]
        told = t[:, :, None] * share[:, None] + left[:, None]
        push = t[:, :, None] * pull[:, None, :, 0] + pull[:, None, :, 1]
        value = 0.5 * (push**2 / told - np.log(told)).sum(axis=-1)
        known = logs + np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        square = S[:, d, d] + self.sums.weight * self.rounding
        value -= known[:, None] + self.sums.weight * u + 0.5 * t * square[:, None]
        return value + self.of_scales(psi, u)

    def of_scales(self, psi: Floats, u: Floats) -> Floats:
        """Return the log prior density of (psi, u), (m, k)."""
        psi, eta = np.split(psi, [self.ratios.q], axis=1)
        phi = self.phi(psi, u)
        beta = np.broadcast_to(self.beta, (*u.shape, len(self.beta)))
        eta = np.broadcast_to(eta[:, None], (*u.shape, eta.shape[1]))
        points = np.concatenate([beta, phi, eta, u[..., None]], axis=-1)
        value = of_priors(self.prior, points.reshape(-1, points.shape[-1])).reshape(u.shape)
        steep = self.ratios.steepness(psi)[:, None] * np.exp(u)[..., None]
        return value + np.log(steep / self.loading.steepness(phi)).sum(axis=-1)

    def phi(self, psi: Floats, u: Floats) -> Floats:
        """Return phi (m, k, q) of points psi (m, q) and u (m, k)."""
        return self.loading.curved(self.ratios.sds(psi)[:, None] * np.exp(u)[..., None])

    def draws(self, z: Floats) -> Floats:
        return self.given(self.grid(z[:, -len(self.grid.low) :]), z)

    def given(self, points: Floats, z: Floats) -> Floats:
        """Return draws x (n, dim) at points (psi, eta, last) (n, k) of standard normal numbers
        z (n, dim), whose last k are not looked at.
        """
        d, q, last = len(self.beta), self.ratios.q, points.shape[1]
        psi = points[:, :-1]
        u = self.log_sigma(psi, points[:, -1:])[:, 0]
        ratios, t = self.scales(psi), np.exp(-2 * u)[:, None]
        S, _ = self.sums.at(ratios)
        root = np.linalg.cholesky(t[..., None] * S[:, :d, :d] + self.precision)
        half = np.linalg.solve(root, (t * S[:, :d, d] + self.slope)[..., None]) + z[:, :d, None]
        moved = np.linalg.solve(np.swapaxes(root, 1, 2), half)[..., 0]
        pull = np.concatenate([-moved, np.ones((len(z), 1))], axis=1) * np.sqrt(t)
        effects = self.sums.effects(ratios, pull, z[:, d : len(z.T) - last]) / np.sqrt(t)
        phi = self.phi(psi[:, :q], u[:, None])[:, 0]
        return self.map.inverse(
            np.concatenate([self.beta + moved, effects, phi, psi[:, q:], u[:, None]], axis=1)
        )
