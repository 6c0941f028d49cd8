"""Group-level predictors: columns of a design that are constant within each group of rows."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sgmc.formula.coded import CodedTable

FEWEST = 2  # columns that are constant: with one, the intercept, nothing is gained


@dataclass(frozen=True)
class TwoDesigns:
    """A design in two: that of groups, and that of rows.

    Attributes
    ----------
    groups : CodedTable
        A row per group, of all columns; those that vary within groups are zero.
    inner : CodedTable or array
        A column of ones, and the columns that vary.
    varying : array of int
    """

    groups: CodedTable
    inner: object
    varying: np.ndarray


def two_designs(X, starts):
    """The `TwoDesigns` of a table whose groups of rows begin at `starts`; None where it is not
    coded, or fewer than two of its columns are constant within groups.

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
    inner, varying = of_rows(X.part(~terms, ~numbers))
    if X.shape[1] - len(varying) < FEWEST:
        return None
    return TwoDesigns(X.part(terms, numbers)[starts[:-1]], inner, varying)


def constant(column, starts):
    """Whether the rows of each group have the same number."""
    low, high = (which.reduceat(column, starts[:-1]) for which in (np.minimum, np.maximum))
    return bool((low == high).all())


def of_rows(X):
    """A column of ones and the columns of a coded table that are not always zero, and which these
    are.
    """
    ones = np.ones((len(X.codes), 1), dtype=X.dtype)
    used = np.flatnonzero(sum(X.counted(t) for t in range(len(X.by))))
    coded = np.unique(X.cells[used].indices)
    varying = np.append(X.places, coded).astype(int)
    numbers = np.ascontiguousarray(np.concatenate([ones, X.numbers], axis=1))
    if not len(coded):
        return numbers, varying
    cells = sparse.csr_array(X.cells[:, varying])
    blank = sparse.csr_array((cells.shape[0], 1))
    cells = sparse.csr_array(sparse.hstack([blank, cells], format="csr"))
    return replace(X, numbers=numbers, places=np.arange(numbers.shape[1]), cells=cells), varying
