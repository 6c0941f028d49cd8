"""Coefficients and effects under a normal law in the place of the likelihood: what is known at any
sds without another pass over the rows, and a few passes that correct it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy import linalg

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.grid import mesh
from sgmc.coordinates.independent.interpolation import (
    ChebyshevPolynomial,
    between_places,
    chebyshev_axes,
)
from sgmc.models.regression.latent.sampled.centre.laplace import GaussianApproximation

EXACT_SETTLED = {1: 8, 2: 7}  # of an axis, by their number: where modes are found with all rows
SETTLED_WITHIN = 0.01  # error between these, in nats and sds, with which they do
# the same of roots in sds: near an sd of zero these bend most, and weights of draws are looked at
ROOTS_WITHIN = 0.05


class GivenPsi(NamedTuple):
    """What is known of (beta, v) given psi, at n places.

    Attributes
    ----------
    log_density : array (n,)
        With (beta, v) integrated out.
    mean : array (n, k)
    root : array (n, k, k)
        Upper triangular: with root' root the covariance.
    """

    log_density: Floats
    mean: Floats
    root: Floats


Exact = Callable[[Floats, Floats], GivenPsi]  # of one psi, from a place near the mean


@dataclass(frozen=True)
class NormalEffects:
    """The normal law of (beta, b), b = sd v, that an approximation at one psi leaves to the
    likelihood and the priors of beta.

    Attributes
    ----------
    sds : callable
        From psi to the sds of all effects.
    prior : callable
        From psi to the log density of its prior, and about what else the likelihood tells of it.
    at_first : array (effects,)
        The sds whose prior is in `precision`.
    precision : array (k, k)
    linear : array (k,)
        The precision times the mean.
    smooth : tuple of ChebyshevPolynomial
        What is added to the numbers of `GivenPsi`; empty before `corrected`.
    """

    sds: Callable[[Floats], Floats]
    prior: Callable[[Floats], float]
    at_first: Floats
    precision: Floats
    linear: Floats
    smooth: tuple[ChebyshevPolynomial, ...] = ()

    @classmethod
    def of(cls, found: GaussianApproximation, psi: Floats, sds, prior) -> Self:
        """Return the law around an approximation at psi (j,)."""
        root, own = root_of(found, len(psi)), sds(psi)
        units = np.ones(len(root))
        units[len(root) - len(own) :] = own
        half = linalg.solve_triangular(root, np.eye(len(root)), trans="T") / units
        precision = half.T @ half
        mean = units * found.place[: len(root)]
        return cls(sds, prior, own, precision, precision @ mean)

    def at(self, psi: Floats) -> GivenPsi:
        """Return what is known at psi (n, j)."""
        known = GivenPsi(*map(np.array, zip(*(self.given(one) for one in psi))))
        if not self.smooth:
            return known
        return GivenPsi(*(one + more(psi) for one, more in zip(known, self.smooth)))

    def given(self, psi: Floats) -> tuple[float, Floats, Floats]:
        """Return the same at one psi (j,), without what corrects it."""
        k, sds = len(self.linear), self.sds(psi)
        inner = np.arange(k - len(sds), k)
        units = np.ones(k)
        units[inner] = sds
        # of (beta, v), whose effects have the prior N(0, 1) whatever the sds are
        own = self.precision * np.outer(units, units)
        own[inner, inner] += 1 - (sds / self.at_first) ** 2
        lower = linalg.cholesky(own, lower=True)
        half = linalg.solve_triangular(lower, units * self.linear, lower=True)
        mean = linalg.solve_triangular(lower, half, lower=True, trans="T")
        value = 0.5 * half @ half - np.log(np.diag(lower)).sum() + self.prior(psi)
        return value, mean, upper_root(linalg.cho_solve((lower, True), np.eye(k)))

    def corrected(self, exact: Exact, psi: Floats, low: Floats, high: Floats) -> Self | None:
        """Return the law with what exact approximations differ by at a few places of intervals, and
        polynomials between these; None where another place, in the middle between those around the
        mode psi (j,), shows that they do not do.
        """
        m = EXACT_SETTLED[len(psi)]
        axes = chebyshev_axes(low, high, [m] * len(psi))
        places = mesh(axes).reshape(-1, len(psi))
        between = [between_places(axis, at) for axis, at in zip(axes, psi)]
        places = np.concatenate([places, np.array(between)[None]])
        known = self.at(places)
        found = [exact(one, mean) for one, mean in zip(places, known.mean)]
        smooth, off = [], []
        for there, here in zip(zip(*found), known):
            change = np.array(there) - here
            smooth.append(ChebyshevPolynomial(low, high, change[:-1]))
            off.append(change[-1] - smooth[-1](places[-1:])[0])
        # means in sds, and roots in those of their columns
        away = [linalg.solve_triangular(found[-1].root, one, trans="T") for one in off[1:]]
        mean, root = (np.abs(one).max() for one in away)
        if not (max(abs(off[0]), mean) <= SETTLED_WITHIN and root <= ROOTS_WITHIN):
            return None
        return replace(self, smooth=tuple(smooth))


def known_at(found: GaussianApproximation, count: int, log_density: float) -> GivenPsi:
    """Return what an approximation tells at its own psi (count,), where (beta, v) has that log
    density.
    """
    root = root_of(found, count)
    return GivenPsi(log_density + found.map.log_scale, found.place[: len(root)], root)


def root_of(found: GaussianApproximation, count: int) -> Floats:
    """Return the upper root of the covariance of (beta, v), which precede psi (count,)."""
    k = len(found.place) - count
    moved = (found.map(np.eye(len(found.place))[:k]) - np.asarray(found.map.centre))[:, :k]
    return upper_root(moved.T @ moved)


def upper_root(covariance: Floats) -> Floats:
    """Return the upper triangular matrix with root' root the covariance."""
    return linalg.cholesky(covariance)
