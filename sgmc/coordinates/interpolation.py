"""Polynomials through the nodes of an evenly spaced table."""

import numpy as np

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
