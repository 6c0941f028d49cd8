"""Polynomials through the nodes of an evenly spaced table, and through a few of an interval."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from sgmc.arguments.types import Floats, Ints

POLYNOMIAL_DEGREE = 5


def polynomials(place: Floats, m: int) -> tuple[Ints, Floats]:
    """Return the first of the nodes 0, 1, .. m - 1 that the values at some places are made of, and
    Lagrange's weights of these: (n,) and (n, POLYNOMIAL_DEGREE + 1).
    """
    k = np.clip(np.floor(place).astype(int) - POLYNOMIAL_DEGREE // 2, 0, m - 1 - POLYNOMIAL_DEGREE)
    s = (place - k)[:, None]
    nodes = np.arange(POLYNOMIAL_DEGREE + 1)
    weight = np.ones((len(k), POLYNOMIAL_DEGREE + 1))
    for i in nodes:
        for j in nodes[nodes != i]:
            weight[:, i] *= (s[:, 0] - j) / (i - j)
    return k, weight


def interpolated(table: Floats, place: Floats) -> Floats:
    """Return the values (n, ...) of a table (m, ...) at places in units of its nodes, (n,)."""
    k, weight = polynomials(place, len(table))
    return np.einsum("ni,ni...->n...", weight, table[k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1)])


@dataclass(frozen=True)
class ChebyshevPolynomial:
    """The polynomial through values at Chebyshev's places of an interval, at which smooth functions
    are told by few (Trefethen 2013, Approximation Theory and Approximation Practice, chapter 4).

    Attributes
    ----------
    low, high : float
    coefficients : array (m, size)
    shape : tuple of int
        Of a value.
    """

    low: float
    high: float
    coefficients: Floats
    shape: tuple[int, ...]

    @staticmethod
    def places(low: float, high: float, m: int) -> Floats:
        """Return the m places, in descending order."""
        return 0.5 * (low + high) + 0.5 * (high - low) * np.cos(np.pi * (np.arange(m) + 0.5) / m)

    @classmethod
    def through(cls, low: float, high: float, values: Floats) -> "ChebyshevPolynomial":
        """Return that through values (m, ...) at the places."""
        flat, m = values.reshape(len(values), -1), len(values)
        found = chebyshev.chebfit(cls.places(-1.0, 1.0, m), flat, m - 1)
        return cls(low, high, found, values.shape[1:])

    def __call__(self, at: Floats) -> Floats:
        """Return values (n, ...) at places (n,); beyond the interval those of its ends."""
        away = np.clip((2 * at - self.low - self.high) / (self.high - self.low), -1.0, 1.0)
        return chebyshev.chebval(away, self.coefficients).T.reshape(len(at), *self.shape)
