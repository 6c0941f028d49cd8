"""Priors of several coefficients together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.types import Floats
from sgmc.errors import ArgumentError
from sgmc.priors.spec import PriorSpec

ASYMMETRY = 1e-8  # of a covariance, relative to its largest number, that is rounding


@dataclass(frozen=True)
class Margin(PriorSpec):
    """The normal law of one parameter under a `JointNormal`."""

    def __str__(self) -> str:
        return f"mvnormal(mean {self.location:.4g}, sd {self.scale:.4g})"


@dataclass(frozen=True)
class JointNormal:
    """A normal prior of several parameters; made by `mvnormal`.

    Attributes
    ----------
    location : tuple of float
    covariance : tuple of tuple of float
    """

    location: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def __str__(self) -> str:
        return f"mvnormal of {len(self.location)} parameters"

    @property
    def margins(self) -> list[Margin]:
        """The priors of single parameters, a list."""
        sds = np.sqrt(np.diag(np.array(self.covariance)))
        return [Margin("normal", m, float(s)) for m, s in zip(self.location, sds)]

    @property
    def precision(self) -> Floats:
        """The inverse of the covariance."""
        found = np.linalg.inv(np.array(self.covariance))
        return 0.5 * (found + found.T)


def mvnormal(location: ArrayLike, covariance: ArrayLike) -> JointNormal:
    """Multivariate normal prior of several coefficients, in their own units.

    Give it for a factor or other term by its name, for some coefficients by a tuple of theirs,
    ``prior={("age", "educ"): sgmc.mvnormal([0, 0], [[1, .5], [.5, 1]])}``, or alone for all slopes.

    Parameters
    ----------
    location : array_like (k,)
        Means, in the order of the coefficients.
    covariance : array_like (k, k)

    Raises
    ------
    ArgumentError
        Unless the covariance is symmetric and positive definite.
    """
    try:
        m, V = np.array(location, dtype=float), np.array(covariance, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"mvnormal: location and covariance must be numbers: {error}") from None
    if m.ndim != 1 or not len(m) or V.shape != (len(m), len(m)):
        raise ArgumentError(
            f"mvnormal: a location of shape {m.shape} and a covariance of shape {V.shape}; they "
            "must be (k,) and (k, k)"
        )
    if not (np.isfinite(m).all() and np.isfinite(V).all()):
        raise ArgumentError("mvnormal: location and covariance must be finite")
    scale = np.sqrt(np.abs(np.diag(V)))
    if np.abs(V - V.T).max() > ASYMMETRY * np.abs(V).max():
        raise ArgumentError("mvnormal: the covariance is not symmetric")
    try:
        np.linalg.cholesky(V / np.outer(scale, scale)) if scale.all() else None
        proper = scale.all() and (np.diag(V) > 0).all()
    except np.linalg.LinAlgError:
        proper = False
    if not proper:
        raise ArgumentError(
            "mvnormal: the covariance is not positive definite; each coefficient needs a variance "
            "above 0, and none may be a sum of others"
        )
    V = 0.5 * (V + V.T)
    return JointNormal(tuple(map(float, m)), tuple(tuple(map(float, row)) for row in V))
