"""Graphs of neighbours, and effects that are near each other where their nodes are neighbours.

An intrinsic conditional autoregression (Besag, York & Mollie 1991, doi:10.1007/BF00116466) has the
log density -sum (b_i - b_j)^2 / (2 sd^2 s) over pairs of neighbours, with effects that add up to
zero.  Here s is such that the geometric mean of the effects' variances is sd^2 (Sorbye & Rue 2014,
doi:10.1016/j.spasta.2013.06.004; Riebler et al. 2016, doi:10.1177/0962280216660421).  Of a graph in
several pieces each adds up to zero and is scaled by itself, and a node without neighbours is
N(0, sd^2) (Freni-Sterrantino, Ventrucci & Rue 2018, doi:10.1016/j.sste.2018.04.001).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from sgmc.arguments.messages import label_text
from sgmc.arguments.types import Floats
from sgmc.core.system import deadline
from sgmc.splines.level_bases import LevelBasis, ends_of
from sgmc.splines.restored import numbers
from sgmc.splines.spectra import StructuredShare

FORMS = (
    "a dict of lists of neighbours, a list of pairs, a sparse matrix of 0 and 1, or weights of "
    "libpysal"
)


@dataclass(frozen=True)
class Graph:
    """Nodes and their neighbours.

    Attributes
    ----------
    labels : tuple
        Of the nodes.
    edges : tuple of (int, int)
        Pairs of neighbours, each once, by their numbers i < j, in rising order.
    """

    labels: tuple[Hashable, ...]
    edges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, given: Any) -> "Graph":
        """The graph that a user's object is; see `FORMS`.

        Raises
        ------
        ValueError
            For an object that is none, nodes that are their own neighbours, and neighbours on one
            side alone.
        """
        if isinstance(given, cls):
            return given
        if isinstance(getattr(given, "neighbors", None), Mapping):  # libpysal's W and Graph
            given = given.neighbors
        if isinstance(given, Mapping):
            return of_neighbours({one: list(those) for one, those in given.items()})
        if sparse.issparse(given):
            return of_matrix(given, tuple(range(given.shape[0])))
        if isinstance(given, pd.DataFrame):
            if given.shape[0] != given.shape[1] or list(given.index) != list(given.columns):
                raise ValueError("graph as a table is square, with the same labels on both sides")
            return of_matrix(sparse.coo_array(given.to_numpy()), tuple(given.index))
        return of_pairs(given)

    def basis(self, independent: bool) -> "GraphBasis":
        """The basis of effects of the nodes, see `GraphBasis`."""
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        return GraphBasis(*ends_of(self.labels), edges, independent)


def of_neighbours(given: dict[Any, list[Any]]) -> Graph:
    """The graph of a list of neighbours of each node."""
    number = {one: k for k, one in enumerate(given)}
    pairs = set()
    for one, those in given.items():
        for other in those:
            if other not in number:
                raise ValueError(
                    f"graph: {label_text(other)} is a neighbour of {label_text(one)} and has no "
                    "list of its own; give each node its list, an empty one where it has no "
                    "neighbours"
                )
            pairs.add((number[one], number[other]))
    return of_numbers(tuple(given), pairs)


def of_matrix(given: Any, labels: tuple[Hashable, ...]) -> Graph:
    """The graph of a sparse matrix with 1 where nodes are neighbours."""
    found = sparse.coo_array(given)
    if found.shape[0] != found.shape[1]:
        raise ValueError(f"graph as a matrix is square, and it has the shape {found.shape}")
    found.sum_duplicates()
    if not np.isin(found.data, (0, 1)).all():
        raise ValueError(
            "graph as a matrix has 1 where two nodes are neighbours and 0 elsewhere, and no other "
            "numbers: give (W > 0).astype(int), by which neighbours count alike"
        )
    where = found.data != 0
    return of_numbers(labels, set(zip(found.row[where].tolist(), found.col[where].tolist())))


def of_numbers(labels: tuple[Hashable, ...], pairs: set[tuple[int, int]]) -> Graph:
    """The graph of pairs of numbers in both directions."""
    for i, j in pairs:
        if i == j:
            raise ValueError(f"graph: {label_text(labels[i])} is its own neighbour; take it out")
        if (j, i) not in pairs:
            raise ValueError(
                f"graph: {label_text(labels[j])} is a neighbour of {label_text(labels[i])}, and "
                "not the other way round; give both"
            )
    return checked(labels, {pair for pair in pairs if pair[0] < pair[1]})


def of_pairs(given: Any) -> Graph:
    """The graph of a list of pairs of labels."""
    try:
        pairs = [tuple(pair) for pair in given]
        number = {one: k for k, one in enumerate(dict.fromkeys(x for pair in pairs for x in pair))}
    except TypeError:
        raise ValueError(f"graph must be {FORMS}, not {type(given).__name__}") from None
    if isinstance(given, str) or not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"graph must be {FORMS}; of pairs each has two labels")
    labels = tuple(getattr(one, "item", lambda one=one: one)() for one in number)  # numpy's too
    both = {(number[a], number[b]) for a, b in pairs} | {(number[b], number[a]) for a, b in pairs}
    return of_numbers(labels, both)


def checked(labels: tuple[Hashable, ...], edges: set[tuple[int, int]]) -> Graph:
    """The graph of pairs i < j; ValueError for one of fewer than two nodes, or without a pair."""
    if not edges:
        raise ValueError("graph has no pair of neighbours: use a group term, such as (1 | region)")
    return Graph(labels, tuple(sorted(edges)))


@dataclass(frozen=True)
class GraphBasis(LevelBasis):
    """Effects of the nodes of a graph.

    Attributes
    ----------
    low, high : float
    edges : array (pairs, 2) of int
        See `Graph`.
    independent : bool
        Whether independent effects are added to those of the graph, the sum having one sd.
    """

    low: float
    high: float
    edges: np.ndarray
    independent: bool

    def penalised(self) -> Floats:
        """See `Basis`: columns of the pieces one after the other, with independent effects of
        length one, and then levels of the pieces.
        """
        if self.independent:
            return modes(self.edges, self.elements)[0]
        return structured(self.edges, self.elements)

    def spectral(self) -> StructuredShare | None:
        """See `Basis`."""
        if not self.independent:
            return None
        return StructuredShare(modes(self.edges, self.elements)[1])

    def sound(self) -> bool:
        """See `Basis`."""
        edges = np.asarray(self.edges)
        known = super().sound() and isinstance(self.independent, bool) and numbers(edges, None, 2)
        return bool(
            known and edges.dtype.kind == "i" and (edges >= 0).all() and (edges <= self.high).all()
        )


def structured(edges: np.ndarray, size: int) -> Floats:
    """Columns R (size, r) such that effects R z, z ~ N(0, 1), are the scaled autoregression."""
    W = matrix_of(edges, size)
    pieces, piece = pieces_of(W)
    found = []
    for k in range(pieces):
        deadline.check()
        own = np.flatnonzero(piece == k)
        out = np.zeros((size, max(len(own) - 1, 1)))
        out[own] = scaled(W[own][:, own].toarray()) if len(own) > 1 else 1.0
        found.append(out)
    return np.hstack(found)


def matrix_of(edges: np.ndarray, size: int) -> Any:
    """A sparse matrix with 1 for neighbours."""
    ones = np.ones(len(edges))
    W = sparse.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(size, size))
    return sparse.csr_array(W + W.T)


def pieces_of(matrix: Any) -> tuple[int, np.ndarray]:
    """How many connected pieces a matrix of neighbours has, and that of each level."""
    from scipy.sparse.csgraph import connected_components  # a tenth of the first fit's start

    return connected_components(matrix, directed=False)


def modes(edges: np.ndarray, size: int) -> tuple[Floats, Floats]:
    """Orthonormal columns U (size, size) and variances v such that U diag(v) U' has the covariances
    of the scaled autoregression: v is 0 for the levels of pieces, the first columns; those of the
    others fall.
    """
    R = structured(edges, size)
    R = R[:, np.argsort(-(R**2).sum(axis=0), kind="stable")]
    variances = (R**2).sum(axis=0)
    piece = pieces_of(matrix_of(edges, size))[1]
    level = np.eye(piece.max() + 1)[piece]
    counts = level.sum(axis=0)
    level = (level / np.sqrt(counts))[:, counts > 1]  # the effect of an island is its level
    zeros = np.zeros(level.shape[1])
    return np.hstack([level, R / np.sqrt(variances)]), np.append(zeros, variances)


def scaled(W: Floats) -> Floats:
    """The same of one piece with neighbours W (m, m), whose precision Q has a null space of the
    constant: R R' is the generalised inverse of Q over the geometric mean of its diagonal.
    """
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    root = vectors[:, 1:] / np.sqrt(values[1:])
    return root / np.exp(0.5 * np.log((root**2).sum(axis=1)).mean())
