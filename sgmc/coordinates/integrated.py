"""Independent draws of models with normal errors that have one scale of effects: given it and sigma
all coefficients are normal, and without them the density of the two numbers has a table.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.coordinates.plane import Plane, plane_of
from sgmc.coordinates.transport import Transport
from sgmc.core.contract import Map, Prior
from sgmc.core.expansion import of_prior

MOST_INTEGRATED = 100  # coefficients: a precision's root for each of some thousand pairs
PRECISIONS_AT_ONCE = 1 << 21  # numbers


@dataclass(frozen=True, kw_only=True)
class ConditionallyNormal(Transport):
    """Draws of coefficients that are normal given pairs (phi, u): the coordinate of an sd, and log
    sigma.

    Attributes
    ----------
    map : Map
        From the sampler's coordinates to natural ones.
    prior : Prior
        Of (beta, phi, u).
    beta : array (d,)
        Fixed coefficients at which `given` is told.
    slope, precision : array (d,), (d, d)
        Gradient and curvature of their log prior there.
    plane : Plane or None
        Of (phi, u).
    """

    map: Map
    prior: Prior
    beta: Floats
    slope: Floats
    precision: Floats
    plane: Plane | None = None

    def given(self, pairs: Floats) -> tuple[Floats, Floats, Floats]:
        """Return precisions of the coefficients, gradients at those where they are told, and log
        densities there, without the prior of the pairs: (m, k, k), (m, k) and (m,).
        """
        raise NotImplementedError

    @property
    def count(self) -> int:
        """Number of the coefficients that are normal given pairs."""
        raise NotImplementedError

    def natural(self, moved: Floats, pairs: Floats) -> Floats:
        """Return natural coordinates (m, size) of coefficients, from where they are told on."""
        raise NotImplementedError

    def log_density(self, pairs: Floats) -> Floats:
        """Return the log density of pairs (m, 2), the coefficients integrated out."""
        size = max(1, PRECISIONS_AT_ONCE // self.count**2)
        parts = [self.of_pairs(pairs[a : a + size]) for a in range(0, len(pairs), size)]
        return np.concatenate(parts)

    def of_pairs(self, pairs: Floats) -> Floats:
        """Return the same of pairs whose precisions are kept at once."""
        H, slope, value = self.given(pairs)
        root = np.linalg.cholesky(H)
        half = np.linalg.solve(root, slope[..., None])[..., 0]
        value += 0.5 * (half**2).sum(axis=1)
        value -= np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        known = [of_prior(self.prior, np.append(self.beta, one), False)[0] for one in pairs]
        return value + known

    def tabulated(self, centre: Floats, covariance: Floats) -> Self | None:
        """Return this transport with the table of its pairs, see `plane_of`; None where there is
        none, or coefficients are so many that it would take long.
        """
        if self.count > MOST_INTEGRATED:
            return None
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                plane = plane_of(self.log_density, centre, covariance)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some pair
            return None
        return None if plane is None else replace(self, plane=plane)

    def draws(self, z: Floats) -> Floats:
        pairs = self.plane(z[:, -2:])
        H, slope, _ = self.given(pairs)
        root = np.linalg.cholesky(H)
        half = np.linalg.solve(root, slope[..., None]) + z[:, :-2, None]
        moved = np.linalg.solve(np.swapaxes(root, 1, 2), half)[..., 0]
        return self.map.inverse(self.natural(moved, pairs))
