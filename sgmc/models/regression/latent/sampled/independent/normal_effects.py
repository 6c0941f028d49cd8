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
# errors between these with which they do: of densities in nats, of means in sds (root mean square:
# searches end within 0.005), and the largest of roots, which bend most near an sd of zero; weights
# of draws leave none of them
SETTLED_WITHIN, ROOTS_WITHIN = 0.02, 0.05
HELD_TOGETHER = 1 << 20  # numbers of precisions at several psi, of which some copies are made


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
        From psi (n, j) to the sds of all effects, (n, effects).
    prior : callable
        From psi to log densities (n,) of its prior, and about what else the likelihood tells of it.
    at_first : array (effects,)
        The sds whose prior is in `precision`.
    precision : array (k, k)
    linear : array (k,)
        The precision times the mean.
    smooth : tuple of ChebyshevPolynomial
        What is added to the numbers of `GivenPsi`; empty before `corrected`.
    """

    sds: Callable[[Floats], Floats]
    prior: Callable[[Floats], Floats]
    at_first: Floats
    precision: Floats
    linear: Floats
    smooth: tuple[ChebyshevPolynomial, ...] = ()

    @classmethod
    def of(cls, found: GaussianApproximation, psi: Floats, sds, prior) -> Self:
        """Return the law around an approximation at psi (j,)."""
        root, own = root_of(found, len(psi)), sds(psi[None])[0]
        units = np.ones(len(root))
        units[len(root) - len(own) :] = own
        half = linalg.solve_triangular(root, np.eye(len(root)), trans="T") / units
        precision = half.T @ half
        mean = units * found.place[: len(root)]
        return cls(sds, prior, own, precision, precision @ mean)

    def at(self, psi: Floats) -> GivenPsi:
        """Return what is known at psi (n, j)."""
        parts = [self.given(psi[few]) for few in self.together(len(psi))]
        known = GivenPsi(*(np.concatenate(part) for part in zip(*parts)))
        if not self.smooth:
            return known
        return GivenPsi(*(one + more(psi) for one, more in zip(known, self.smooth)))

    def densities(self, psi: Floats) -> Floats:
        """Return the log densities of `at` alone, (n,)."""
        parts = [self.conditional(psi[few])[0] for few in self.together(len(psi))]
        value = np.concatenate(parts)
        return value + self.smooth[0](psi) if self.smooth else value

    def together(self, n: int) -> list[slice]:
        """Return slices of n places whose matrices are held together."""
        step = max(1, HELD_TOGETHER // len(self.linear) ** 2)
        return [slice(first, first + step) for first in range(0, n, step)]

    def conditional(self, psi: Floats) -> tuple[Floats, Floats, Floats]:
        """Return log densities at psi (n, j), and means and precisions of (beta, v), without what
        corrects them.
        """
        k, sds = len(self.linear), self.sds(psi)
        inner = np.arange(k - sds.shape[1], k)
        units = np.ones((len(psi), k))
        units[:, inner] = sds
        # of (beta, v), whose effects have the prior N(0, 1) whatever the sds are
        own = self.precision * (units[:, :, None] * units[:, None])
        own[:, inner, inner] += 1 - (sds / self.at_first) ** 2
        linear = units * self.linear
        mean = np.linalg.solve(own, linear[..., None])[..., 0]
        lower = np.linalg.cholesky(own)
        logs = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return 0.5 * (linear * mean).sum(axis=1) - logs + self.prior(psi), mean, own

    def given(self, psi: Floats) -> GivenPsi:
        """Return what is known at psi (n, j), without what corrects it."""
        value, mean, precision = self.conditional(psi)
        return GivenPsi(value, mean, upper_root(np.linalg.inv(precision)))

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
        mean, root = np.sqrt((away[0] ** 2).mean()), np.abs(away[1]).max()
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
    """Return upper triangular matrices with root' root the covariance, (..., k, k)."""
    return np.swapaxes(np.linalg.cholesky(covariance), -1, -2)
