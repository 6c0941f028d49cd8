"""Coefficients and effects of one sd under a normal law in the place of the likelihood: what is
known at any sd without another pass over the rows, and a few passes that correct it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy import linalg

from sgmc.arguments.types import Floats
from sgmc.coordinates.interpolation import ChebyshevPolynomial
from sgmc.models.crossed.laplace import GaussianApproximation

EXACT_SETTLED = 8  # sds at which modes are found with all rows
PLACES_LOOKED_AT = 65  # sds at which the density's own top is looked for
SETTLED_WITHIN = 0.01  # error between these, in nats and sds, with which they do


class GivenEffectSd(NamedTuple):
    """What is known of (beta, v) given the coordinate of the sd, at n places.

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


Exact = Callable[[float, Floats], GivenEffectSd]  # of one coordinate, from a place near the mean


@dataclass(frozen=True)
class NormalEffects:
    """The normal law of (beta, b), b = sd v, that an approximation at one sd leaves to the
    likelihood and the priors of beta.

    Attributes
    ----------
    d : int
        Coefficients beta.
    loading : Loading
        Of one effect.
    sd : float
        Of the effects whose prior is in `precision`.
    precision : array (k, k)
    linear : array (k,)
        The precision times the mean.
    prior : callable
        From the coordinate of the sd to the log density of its prior.
    smooth : tuple of ChebyshevPolynomial
        What is added to the numbers of `GivenEffectSd`; empty before `corrected`.
    """

    d: int
    loading: object
    sd: float
    precision: Floats
    linear: Floats
    prior: Callable[[float], float]
    smooth: tuple[ChebyshevPolynomial, ...] = ()

    @classmethod
    def of(cls, found: GaussianApproximation, d: int, loading, prior) -> Self:
        """Return the law around an approximation, whose last number is the coordinate of the sd."""
        place, root = found.place, root_of(found)
        sd = abs(float(loading.root(place[-1:])[0, 0]))
        units = np.where(np.arange(len(place) - 1) < d, 1.0, sd)
        half = linalg.solve_triangular(root, np.eye(len(root)), trans="T")  # half' half: inverse
        half = half / units
        precision = half.T @ half
        return cls(d, loading, sd, precision, precision @ (units * place[:-1]), prior)

    def at(self, psi: Floats) -> GivenEffectSd:
        """Return what is known at coordinates psi (n,)."""
        k = len(self.linear)
        inner = np.arange(k) >= self.d
        log_density, mean, root = (
            np.empty(len(psi)),
            np.empty((len(psi), k)),
            np.empty((len(psi), k, k)),
        )
        for i, one in enumerate(psi):
            sd = abs(float(self.loading.root(np.array([one]))[0, 0]))
            units = np.where(inner, sd, 1.0)
            # of (beta, v), whose effects have the prior N(0, 1) whatever the sd is
            own = self.precision * np.outer(units, units)
            own[inner, inner] += 1 - (sd / self.sd) ** 2
            lower = linalg.cholesky(own, lower=True)
            half = linalg.solve_triangular(lower, units * self.linear, lower=True)
            mean[i] = linalg.solve_triangular(lower, half, lower=True, trans="T")
            log_density[i] = 0.5 * half @ half - np.log(np.diag(lower)).sum() + self.prior(one)
            root[i] = upper_root(linalg.cho_solve((lower, True), np.eye(k)))
        known = GivenEffectSd(log_density, mean, root)
        if not self.smooth:
            return known
        return GivenEffectSd(*(one + more(psi) for one, more in zip(known, self.smooth)))

    def corrected(self, exact: Exact, low: float, high: float) -> Self | None:
        """Return the law with what exact approximations differ by at a few sds between two
        coordinates, and polynomials between these; None where another one shows that they do not
        do.
        """
        places = ChebyshevPolynomial.places(low, high, EXACT_SETTLED)
        inside = np.linspace(low, high, PLACES_LOOKED_AT)
        # beside the mode, where most draws are
        middle = inside[self.at(inside).log_density.argmax()] + 0.25 * np.ptp(places[3:5])
        places = np.append(places, min(middle, high))
        known = self.at(places)
        found = [exact(psi, mean) for psi, mean in zip(places, known.mean)]
        smooth, off = [], []
        for there, here in zip(zip(*found), known):
            change = np.array(there) - here
            smooth.append(ChebyshevPolynomial.through(low, high, change[:-1]))
            off.append(change[-1] - smooth[-1](places[-1:])[0])
        away = linalg.solve_triangular(found[-1].root, off[1], trans="T")
        if not max(abs(off[0]), np.abs(away).max()) <= SETTLED_WITHIN:
            return None
        return replace(self, smooth=tuple(smooth))


def known_at(found: GaussianApproximation, log_density: float) -> GivenEffectSd:
    """Return what an approximation tells at its own sd, where (beta, v) has that log density."""
    value = log_density + found.map.log_scale
    return GivenEffectSd(value, found.place[:-1], root_of(found))


def root_of(found: GaussianApproximation) -> Floats:
    """Return the upper root of the covariance of (beta, v)."""
    ones = np.eye(len(found.place))[:-1]
    moved = (found.map(ones) - np.asarray(found.map.centre))[:, :-1]
    return upper_root(moved.T @ moved)


def upper_root(covariance: Floats) -> Floats:
    """Return the upper triangular matrix with root' root the covariance."""
    return linalg.cholesky(covariance)
