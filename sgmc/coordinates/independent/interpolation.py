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


def chebyshev_weights(at: Floats, low: Floats, high: Floats, sizes: Ints) -> Floats:
    """Return weights (n, m_1 m_2 ..) by which values at Chebyshev's places of intervals, the last
    axis fastest, give those at places (n, j); beyond the intervals those of their ends.

    Polynomials through these places tell smooth functions by few (Trefethen 2013, Approximation
    Theory and Approximation Practice, chapters 4 and 8).
    """
    out = np.ones((len(at), 1))
    for j, m in enumerate(sizes):
        x = np.clip((2 * at[:, j] - low[j] - high[j]) / (high[j] - low[j]), -1.0, 1.0)
        of = chebyshev.chebvander(chebyshev.chebpts1(m), m - 1)
        one = np.linalg.solve(of.T, chebyshev.chebvander(x, m - 1).T).T
        out = (out[:, :, None] * one[:, None]).reshape(len(at), -1)
    return out


def chebyshev_axes(low: Floats, high: Floats, sizes: Ints) -> list[Floats]:
    """Return Chebyshev's places of intervals, ascending, (m_1,), (m_2,), .."""
    return [0.5 * (a + b + (b - a) * chebyshev.chebpts1(m)) for a, b, m in zip(low, high, sizes)]


def between_places(places: Floats, at: float) -> float:
    """Return the middle of the two of Chebyshev's places that are next to a number: there, what a
    polynomial through them leaves unknown is about as large as anywhere near.
    """
    k = int(np.clip(np.searchsorted(places, at), 1, len(places) - 1))
    return float(places[k - 1 : k + 1].mean())


@dataclass(frozen=True)
class ChebyshevPolynomial:
    """The polynomial through values (m^j, ...) at `chebyshev_axes` of j intervals.

    Attributes
    ----------
    low, high : array (j,)
        Where the intervals end.
    values : array (m^j, ...)
    """

    low: Floats
    high: Floats
    values: Floats

    def __call__(self, at: Floats) -> Floats:
        """Return values (n, ...) at places (n, j); beyond the intervals those of their ends."""
        count = len(self.low)
        m = round(len(self.values) ** (1 / count))
        weight = chebyshev_weights(at, self.low, self.high, np.full(count, m))
        return (weight @ self.values.reshape(len(self.values), -1)).reshape(
            len(at), *self.values.shape[1:]
        )
