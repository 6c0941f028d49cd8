"""Coordinates of models that are no regressions: parameters, the free numbers they are made of,
and the sampler's.

theta = c(u) with c the constraints' map, and u = x, or u = m + B x with B a preconditioner at the
mode m of u's density.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.coordinates.transforms.maps import Affine, Scaling
from sgmc.coordinates.whitened.whitening import eigenvalue_range
from sgmc.core.contract import Map
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import ArgumentError

START_SD = 0.1  # sd of the starts of chains, in free numbers, where nothing else is known


@dataclass(frozen=True)
class FreeCoordinates:
    """Everything between x and theta; see `Coordinates`,
    of which it has what samplers and results need.

    Attributes
    ----------
    constraints : Constrained or None
        From u to theta.
    between : Affine, Scaling or None
        From x to u.
    centre : array (d,)
        Of u: its mode, or where chains begin.
    precision : array (d, d) or None
        Of the Gaussian approximation at the mode; None where there is none.
    logged : array (d,) of bool
        Which of u are logs.
    """

    constraints: Constrained | None
    between: Map | None
    centre: np.ndarray
    precision: np.ndarray | None
    logged: np.ndarray

    heavy = light = walled = False  # no map of quantiles
    affine = False  # constraints bend

    @property
    def free(self):
        """The same without a map between free numbers and the sampler's."""
        return replace(self, between=None)

    @property
    def scaled(self):
        """Whether the Gaussian approximation is known."""
        return self.precision is not None

    @property
    def arrays(self):
        """What tells these coordinates from others."""
        return [self.centre, np.empty(0) if self.precision is None else self.precision]

    @property
    def log_params(self):
        """How many free numbers are logs."""
        return int(self.logged.sum())

    @cached_property
    def map(self):
        """From x to theta, or None."""
        if self.constraints is None or self.between is None:
            return self.constraints if self.between is None else self.between
        return Composed(self.constraints, self.between)

    @cached_property
    def white(self):
        """u's covariance is approximately white white'."""
        return root_of_inverse(self.precision) if self.scaled else None

    @cached_property
    def root(self):
        """A, where x's covariance is approximately A A'."""
        if self.between is None:
            return self.white
        return (
            self.white / np.asarray(self.between.scale)[:, None]
            if self.between.diagonal
            else np.eye(len(self.centre))
        )

    @cached_property
    def inner(self):
        """theta's covariance is approximately inner inner', by the slopes at the mode."""
        return (
            self.white
            if self.constraints is None
            else self.constraints.jacobian(self.centre) @ self.white
        )

    @cached_property
    def max_precision(self):
        """The largest precision of the approximation in x; 1 where it is whitened or unknown."""
        return self.precisions[1]

    @property
    def min_precision(self):
        """The smallest."""
        return self.precisions[0]

    @cached_property
    def precisions(self):
        """Smallest and largest precision in x."""
        if not self.scaled or self.between is not None and not self.between.diagonal:
            return 1.0, 1.0
        scale = (
            np.ones(len(self.centre)) if self.between is None else np.asarray(self.between.scale)
        )
        return eigenvalue_range(self.precision * np.outer(scale, scale))

    @property
    def rotated(self):
        """Never."""
        return False

    @property
    def whitened(self):
        """Whether x is about standard normal under the posterior."""
        return self.scaled and self.between is not None and not self.between.diagonal

    @property
    def spread_of_logs(self):
        """The largest sd of a log among u; 0 where there are none."""
        return float(np.sqrt((self.white[self.logged] ** 2).sum(axis=1)).max(initial=0.0))

    def natural(self, x):
        """theta of points x (..., d)."""
        return x if self.map is None else self.map(x)

    def theta(self, x):
        """u of points x (..., d)."""
        return x if self.between is None else self.between(x)

    def reported(self, x):
        """theta of points x (..., d)."""
        return np.array(self.natural(x))

    def from_theta(self, u):
        """x of u, (d,)."""
        return u if self.between is None else self.between.inverse(u)

    def from_natural(self, theta):
        """x of theta, (size,)."""
        if self.constraints is None:
            return self.from_theta(np.asarray(theta))
        return self.from_theta(self.constraints.inverse(theta))

    def from_reported(self, theta):
        """The same for a start that the user gave."""
        try:
            return self.from_natural(theta)
        except ValueError as error:
            raise ArgumentError(f"init: {error}") from error

    def from_white(self, z):
        """x of a standard normal draw z (d,): one of the Gaussian approximation, or near the start
        where there is none.
        """
        if self.whitened:
            return z
        return self.from_theta(self.centre + (self.white @ z if self.scaled else START_SD * z))

    def spread(self, x):
        """A, where the covariance of x is approximately A A'."""
        return self.root

    def pull_white(self, x, g):
        """The gradient in whitened coordinates of one in natural ones,
        the map's Jacobian included.
        """
        in_x = g if self.map is None else self.map.pulled(x, g)
        return in_x if self.whitened else self.root.T @ in_x


def free_coordinates(constraints, found, precondition, logged):
    """Coordinates for a way of preconditioning.

    Parameters
    ----------
    constraints : Constrained or None
    found : Peak
        Mode and precision; precision None where there is no Gaussian approximation.
    precondition : {"dense", "diag", None}
    logged : array (d,) of bool
    """
    between = None
    if precondition == "dense":
        between = Affine(found.place, root_of_inverse(found.precision))
    elif precondition == "diag":
        between = Scaling(found.place, 1 / np.sqrt(np.diag(found.precision)))
    return FreeCoordinates(constraints, between, found.place, found.precision, logged)


def root_of_inverse(precision):
    """L with L L' the inverse of a positive definite matrix, whose diagonal is scaled to one."""
    scale = 1 / np.sqrt(np.diag(precision))
    with one_blas_thread():
        factor = linalg.cholesky(precision * np.outer(scale, scale), lower=True)
        return scale[:, None] * linalg.solve_triangular(factor, np.eye(len(scale)), lower=True).T
