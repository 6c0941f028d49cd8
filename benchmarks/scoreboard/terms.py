"""Smooths and structured effects of the scoreboard: no code of sgmc.

A term's effects at the rows are Z u with u ~ N(0, sd^2).  Z is such that sd has a unit: of curves
and walks the root mean square over the rows, of regions the geometric mean of the effects' sds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

KNOTS = 10  # of a natural cubic spline, at quantiles of the distinct values
FLAT = 1e-9  # eigenvalues of a penalty below this share of the largest are zero


@dataclass(frozen=True)
class Term:
    """One term of a formula.

    Parameters
    ----------
    kind : {"s", "rw1", "car"}
        A natural cubic spline with its straight line, a random walk over the distinct values, or
        an intrinsic conditional autoregression of regions 0, 1, ...
    column : str
    at : tuple
        Where its values are scored.
    graph : dict, optional
        The neighbours of each region.
    """

    kind: str
    column: str
    at: tuple
    graph: dict | None = None

    @property
    def label(self):
        """As parameters are named."""
        return f"{self.kind}({self.column})"

    @property
    def call(self):
        """As formulas have it."""
        return f"{self.kind}({self.column}{', graph' if self.graph else ''})"

    @property
    def names(self):
        """Of its values."""
        return [f"{self.label} at {one:g}" for one in self.at]


@dataclass(frozen=True)
class Columns:
    """Z by level (levels, q), the level of each row or None where each row is one, and the rows of
    Z at the places that are scored.
    """

    Z: np.ndarray
    codes: np.ndarray | None
    at: np.ndarray

    def rows(self):
        """Z by row."""
        return self.Z if self.codes is None else self.Z[self.codes]


def columns(term, values):
    """The `Columns` of a term."""
    values = values.to_numpy()
    if term.kind == "s":
        Z, at = spline(values, np.array(term.at))
        return Columns(Z, None, at)
    levels, codes = np.unique(values, return_inverse=True)
    places = np.searchsorted(levels, term.at)
    Z = walk(levels, codes) if term.kind == "rw1" else areas(term.graph)
    return Columns(Z, codes, Z[places])


def root(penalty):
    """Columns R with R' penalty R the identity, and nothing of what has no penalty."""
    found, vectors = np.linalg.eigh(penalty)
    kept = found > FLAT * found[-1]
    return vectors[:, kept] / np.sqrt(found[kept])


def spline(x, at):
    """The bent part of a natural cubic spline, orthogonal to lines over the rows."""
    knots = np.quantile(np.unique(x), np.linspace(0, 1, KNOTS))
    basis = CubicSpline(knots, np.eye(KNOTS), bc_type="natural")
    bend, h = basis(knots, 2), np.diff(knots)[:, None, None]
    left, right = bend[:-1, :, None], bend[1:, :, None]
    both = left * bend[:-1, None] + right * bend[1:, None]
    mixed = left * bend[1:, None] + right * bend[:-1, None]
    R = root((h / 3 * both + h / 6 * mixed).sum(axis=0))
    Z, lines = basis(x) @ R, np.column_stack([np.ones(len(x)), x])
    taken = np.linalg.lstsq(lines, Z, rcond=None)[0]
    scale = np.sqrt(np.mean(np.square(Z - lines @ taken).sum(axis=1)))
    there = basis(at) @ R - np.column_stack([np.ones(len(at)), at]) @ taken
    return (Z - lines @ taken) / scale, there / scale


def walk(levels, codes):
    """Levels of a random walk, with mean zero over the rows."""
    steps = np.diff(np.eye(len(levels)), axis=0) / np.sqrt(np.diff(levels))[:, None]
    Z = root(steps.T @ steps)
    Z = Z - Z[codes].mean(axis=0)
    return Z / np.sqrt(np.square(Z[codes]).sum(axis=1).mean())


def areas(graph):
    """Regions of a connected graph, whose effects add up to zero."""
    Q = np.zeros((len(graph),) * 2)
    for one, others in graph.items():
        Q[one, others], Q[one, one] = -1, len(others)
    Z = root(Q)
    return Z / np.exp(np.log(np.square(Z).sum(axis=1)).mean() / 2)
