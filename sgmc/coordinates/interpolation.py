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
    """The polynomial through values at Chebyshev's places of intervals, at which smooth functions
    are told by few (Trefethen 2013, Approximation Theory and Approximation Practice, chapter 4).

    Attributes
    ----------
    low, high : array (j,)
        Where the intervals end.
    coefficients : array (m, .., m, size)
        By j axes, of flat values.
    shape : tuple of int
        Of a value.
    """

    low: Floats
    high: Floats
    coefficients: Floats
    shape: tuple[int, ...]

    @staticmethod
    def places(low: Floats, high: Floats, m: int) -> Floats:
        """Return the places (m^j, j), in descending order along each axis."""
        away = np.cos(np.pi * (np.arange(m) + 0.5) / m)
        mesh = np.stack(np.meshgrid(*[away] * len(low), indexing="ij"), axis=-1)
        return 0.5 * (low + high) + 0.5 * (high - low) * mesh.reshape(-1, len(low))

    @classmethod
    def through(cls, low: Floats, high: Floats, m: int, values: Floats) -> "ChebyshevPolynomial":
        """Return that through values (m^j, ...) at the places."""
        count = len(low)
        found = values.reshape(*[m] * count, -1)
        inverse = np.linalg.inv(
            chebyshev.chebvander(np.cos(np.pi * (np.arange(m) + 0.5) / m), m - 1)
        )
        for axis in range(count):
            found = np.moveaxis(np.tensordot(inverse, found, (1, axis)), 0, axis)
        return cls(low, high, found, values.shape[1:])

    def __call__(self, at: Floats) -> Floats:
        """Return values (n, ...) at places (n, j); beyond the intervals those of their ends."""
        away = np.clip((2 * at - self.low - self.high) / (self.high - self.low), -1.0, 1.0)
        m = len(self.coefficients)
        by_place = np.ones((len(at), 1))
        for axis in away.T:
            own = chebyshev.chebvander(axis, m - 1)
            by_place = (by_place[:, :, None] * own[:, None, :]).reshape(len(at), -1)
        flat = self.coefficients.reshape(by_place.shape[1], -1)
        return (by_place @ flat).reshape(len(at), *self.shape)
