"""What a group's rows know of the coefficients: group-level predictors, which are constant within
groups, and of factors that vary the few levels that occur in a group.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sgmc.formula.designs.coded import CodedTable


@dataclass(frozen=True)
class GroupLevelDesign:
    """A design in two: that of groups, and that of rows.

    Attributes
    ----------
    groups : CodedTable
        A row per group, of all columns; those that vary within groups are zero.
    inner : CodedTable or array
        A column of ones, and what varies within groups.
    place : array (groups, k) of int
        The columns that those of `inner` after the first stand for in each group; -1: none.
    """

    groups: CodedTable
    inner: object
    place: np.ndarray


def two_designs(X, starts):
    """The `GroupLevelDesign` of a table whose groups of rows begin at `starts`; None where it is
    not coded, or rows of a group have no fewer coefficients than all rows.

    Parameters
    ----------
    X : CodedTable or array (n, d)
    starts : array (groups + 1,) of int
    """
    if not isinstance(X, CodedTable):
        return None
    numbers = np.array([constant(column, starts) for column in X.numbers.T], dtype=bool)
    factors = np.array([constant(column, starts) for column in X.factors.T], dtype=bool)
    terms = np.array([constant(column, starts) for column in X.codes.T], dtype=bool)
    terms &= (X.by < 0) | np.append(factors, True)[X.by]
    inner, place = of_rows(X.part(~terms, ~numbers), starts)
    if 1 + place.shape[1] >= X.shape[1]:
        return None
    return GroupLevelDesign(X.part(terms, numbers, ones=True)[starts[:-1]], inner, place)


def constant(column, starts):
    """Whether the rows of each group have the same number."""
    low, high = (which.reduceat(column, starts[:-1]) for which in (np.minimum, np.maximum))
    return bool((low == high).all())


def of_rows(X, starts):
    """A column of ones with all that varies, and which columns of each group these are."""
    ones = np.ones((len(X.codes), 1), dtype=X.dtype)
    numbers = np.ascontiguousarray(np.concatenate([ones, X.numbers], axis=1))
    used = np.flatnonzero(sum(X.counted(t) for t in range(len(X.by))))
    columns = np.flatnonzero(X.held(used))
    codes, cells = X.codes, X.cells[:, columns]
    place = np.broadcast_to(columns, (len(starts) - 1, len(columns)))  # large, and seldom needed
    found = ranked(X, used, starts) if len(columns) else None
    if found is not None and 2 * found[1].shape[1] <= len(columns):
        codes, place = found
        cells = sparse.eye_array(place.shape[1] + 1, format="csr")[:, 1:]  # the first: none
    everywhere = np.broadcast_to(X.places, (len(place), len(X.places)))
    place = np.hstack([everywhere, place]).astype(np.intp, copy=False)
    if not len(columns):
        return numbers, place
    blank = sparse.csr_array((cells.shape[0], numbers.shape[1]))
    cells = sparse.csr_array(sparse.hstack([blank, cells], format="csr"))
    table = replace(
        X, numbers=numbers, places=np.arange(numbers.shape[1]), codes=codes, cells=cells
    )
    return table, place


def ranked(X, used, starts):
    """Codes (n, t) of rows by the rank of their columns among those of their group, from one on,
    and these columns (groups, k), -1 behind the last; None where cells are no dummies.
    """
    if (np.diff(X.cells.indptr)[used] > 1).any() or (X.cells[used].data != 1).any():
        return None
    column = np.full(X.cells.shape[0], -1)
    column[used[np.diff(X.cells.indptr)[used] == 1]] = X.cells[used].indices
    column, d, groups = column[X.codes], X.shape[1], len(starts) - 1
    group = np.repeat(np.arange(groups), np.diff(starts))
    pairs, at = np.unique((group[:, None] * d + column)[column >= 0], return_inverse=True)
    first = np.searchsorted(pairs, np.arange(groups + 1) * d)
    rank = np.arange(len(pairs)) - first[pairs // d]
    place = np.full((groups, int(rank.max()) + 1), -1)
    place[pairs // d, rank] = pairs % d
    codes = np.zeros(X.codes.shape, dtype=np.int32)
    codes[column >= 0] = rank[at] + 1
    return codes, place
