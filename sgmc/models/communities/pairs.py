"""Pairs of nodes from what users pass: a table of edges, an array, a sparse adjacency matrix."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.data.values import binary
from sgmc.arguments.messages import label_text
from sgmc.arguments.numbers import fraction, is_number
from sgmc.errors import DataError

HELD_OUT_SEED = 20160509  # seed of the pairs that are held out, the same ones for every model
MOST_TRIES = 100  # draws of pairs for each that is wanted


@dataclass(frozen=True)
class Pairs:
    """Some pairs of different nodes, by number.

    Attributes
    ----------
    first, second : array of int (m,)
        first < second.
    linked : array of bool (m,), or None
        Whether they are linked, where that is known.
    """

    first: np.ndarray
    second: np.ndarray
    linked: np.ndarray | None = None

    def codes(self, n):
        """One number a pair, of n nodes."""
        return self.first.astype(np.int64) * n + self.second

    def where(self, kept):
        """Those of them that are kept."""
        linked = None if self.linked is None else self.linked[kept]
        return Pairs(self.first[kept], self.second[kept], linked)


def links(edges, nodes=None):
    """The nodes of a network, an Index, and its links, `Pairs`.

    Parameters
    ----------
    edges : DataFrame, array_like (m, 2), or sparse array (n, n)
    nodes : array_like, optional
        Labels; default those that occur, sorted where they can be.

    Raises
    ------
    DataError
        For self-loops, pairs that come twice, labels that are missing or unknown, and matrices
        that are no adjacency matrices.
    """
    if sparse.issparse(edges):
        return of_matrix(edges, nodes)
    one, other = columns("edges", edges, 2)
    if nodes is None:
        nodes = sorted_labels(pd.concat([one, other]))
    else:
        nodes = pd.Index(nodes, tupleize_cols=False)
        refuse_missing("nodes", nodes)
        if nodes.has_duplicates:
            raise DataError(
                f"nodes repeats {label_text(nodes[nodes.duplicated()][0])}; give each node once"
            )
    found = numbered("edges", one, other, nodes)
    refuse_repeated("edges", found, nodes)
    return nodes, found


def of_matrix(matrix, nodes):
    """Nodes and links of an adjacency matrix."""
    n, m = matrix.shape
    if n != m:
        raise DataError(f"edges has shape {(n, m)}; an adjacency matrix is square")
    A = sparse.csr_array(matrix, dtype=float)
    A.sum_duplicates()
    A.eliminate_zeros()
    if A.nnz and not (A.data == 1).all():
        raise DataError(f"edges holds {A.data[A.data != 1][0]:g}; an adjacency matrix holds 0 or 1")
    if A.diagonal().any():
        loop = int(np.flatnonzero(A.diagonal())[0])
        raise DataError(f"edges links node {loop} with itself; drop self-loops, the diagonal")
    if (A != A.T).nnz:
        raise DataError(
            "edges is not symmetric; links of this model have no direction: give A.maximum(A.T)"
        )
    labels = pd.RangeIndex(n) if nodes is None else pd.Index(nodes, tupleize_cols=False)
    if len(labels) != n:
        raise DataError(f"nodes has {len(labels)} labels; edges has {n} nodes")
    upper = sparse.triu(A, 1).tocoo()
    return labels, Pairs(upper.row.astype(np.intp), upper.col.astype(np.intp))


def pairs_of(name, given, nodes):
    """Pairs of known nodes; with a third column also whether they are linked."""
    width = np.shape(given)[1] if np.ndim(given) == 2 else 2
    parts = columns(name, given, width)
    found = numbered(name, parts[0], parts[1], nodes)
    if width == 2:
        return found
    linked = binary(f"{name}: the third column", numeric(name, parts[2])).astype(bool)
    return Pairs(found.first, found.second, linked)


def columns(name, given, width):
    """The columns of a table of pairs, as Series."""
    frame = given if hasattr(given, "columns") else None
    if frame is not None and not isinstance(frame, pd.DataFrame):
        frame = frame.to_pandas()
    if frame is None:
        array = np.asarray(given, dtype=None if hasattr(given, "dtype") else object)
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise DataError(
                f"{name} has shape {array.shape}; it must be a table or an array with a pair of "
                "nodes in each row"
            )
        frame = pd.DataFrame(array).infer_objects()
    if frame.shape[1] != width or width not in (2, 3):
        raise DataError(
            f"{name} has {frame.shape[1]} columns; it must have {width if width < 4 else 2}, the "
            "two nodes of a pair" + (" and whether they are linked" if width == 3 else "")
        )
    if not len(frame):
        raise DataError(f"{name} has no rows")
    found = [frame.iloc[:, j] for j in range(width)]
    for part in found[:2]:
        refuse_missing(name, part)
        refuse_fractions(name, part)
    return found


def refuse_missing(name, labels):
    """DataError for labels that are missing."""
    missing = int(pd.isna(labels).sum())
    if missing:
        raise DataError(f"{name}: {missing} labels of nodes are missing; drop these rows first")


def refuse_fractions(name, labels):
    """DataError for numbers that are not whole: measurements, and no labels."""
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise DataError(
            f"{name} has the node {label_text(labels[labels % 1 != 0].iloc[0])}; nodes are "
            "labelled by whole numbers or text"
        )


def sorted_labels(labels):
    """Different labels, sorted where they have an order."""
    try:
        return pd.Index(pd.factorize(labels, sort=True)[1], tupleize_cols=False)
    except TypeError:
        return pd.Index(pd.unique(labels.astype(object)), tupleize_cols=False)


def numbered(name, one, other, nodes):
    """Pairs by the numbers of their nodes."""
    places = [nodes.get_indexer(pd.Index(part, tupleize_cols=False)) for part in (one, other)]
    for part, place in zip((one, other), places):
        if (place < 0).any():
            unknown = part.iloc[int(np.argmax(place < 0))]
            raise DataError(
                f"{name} has the node {label_text(unknown)}, which is none of the "
                f"{len(nodes)}; check the label, or list all nodes in nodes="
            )
    loops = places[0] == places[1]
    if loops.any():
        raise DataError(
            f"{name} pairs node {label_text(nodes[places[0][np.argmax(loops)]])} with itself "
            f"({int(loops.sum())} such rows in all); drop self-loops"
        )
    return Pairs(np.minimum(*places), np.maximum(*places))


def refuse_repeated(name, pairs, nodes):
    """DataError for pairs that come twice, in whatever order."""
    twice = pd.Series(pairs.codes(len(nodes))).duplicated(keep=False).to_numpy()
    if twice.any():
        i = int(np.argmax(twice))
        raise DataError(
            f"{name} has the pair of {label_text(nodes[pairs.first[i]])} and "
            f"{label_text(nodes[pairs.second[i]])} more than once ({int(twice.sum())} such rows in "
            "all); links have no direction: keep one"
        )


def held_out(given, known, nodes):
    """Pairs that are held out of the fit: those given, or a share of the links and as many pairs
    without a link, always the same ones.
    """
    if not is_number(given):
        found = pairs_of("held_out", given, nodes)
        if found.linked is None:
            raise DataError("held_out needs a third column: whether the pair is linked, 0 or 1")
        refuse_repeated("held_out", found, nodes)
        return found
    count = max(1, round(fraction("held_out", given) * len(known.first)))
    rng = np.random.default_rng(HELD_OUT_SEED)
    chosen = known.where(rng.choice(len(known.first), count, replace=False))
    free = unlinked(known, len(nodes), count, rng)
    return Pairs(
        np.append(chosen.first, free.first),
        np.append(chosen.second, free.second),
        np.repeat([True, False], [count, len(free.first)]),
    )


def unlinked(known, n, count, rng):
    """So many different pairs of n nodes that are not linked, fewer where there are no more."""
    count = min(count, n * (n - 1) // 2 - len(known.first))
    linked, found = known.codes(n), np.empty(0, dtype=np.int64)
    for _ in range(MOST_TRIES):
        if len(found) >= count:
            break
        a, b = rng.integers(0, n, (2, 2 * count + 10))
        codes = (np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b))[a != b]
        codes = codes[~np.isin(codes, linked)]
        found = np.concatenate([found, codes])
        found = found[np.sort(np.unique(found, return_index=True)[1])]
    found = found[:count]
    return Pairs((found // n).astype(np.intp), (found % n).astype(np.intp))
