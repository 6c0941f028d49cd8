"""Tables of rows and columns: sparse, large, of bytes; and where their first bad cell is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.types import Array, Bools, Floats, Matrix, Same
from sgmc.errors import DataError

# Rows of a table that are looked at together, and cells of a wide one: 16 MB of float64, so that no
# look at a table needs a second one.
CHUNK_ROWS = 1 << 16
CHUNK_CELLS = 1 << 21


def table(name: str, values: Any) -> Matrix:
    """Return a float array, or a sound CSR array where the values are sparse, which stay so.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : array_like or scipy sparse array

    Returns
    -------
    ndarray or scipy.sparse.csr_array

    Raises
    ------
    DataError
        If something is no number, or a sparse array is damaged.
    """
    if not hasattr(values, "tocsr"):
        return numeric(name, values)
    X = values.tocsr()
    numeric(name, X.data[:1])
    check_sparse(name, X)
    return X


def check_sparse(name: str, X: Matrix) -> None:
    """Refuse a CSR array whose indices point outside of it: compiled loops would follow them.

    Raises
    ------
    DataError
        If its rows overlap, or a column index is out of range.
    """
    ends = np.asarray(X.indptr)
    if ends[0] != 0 or ends[-1] > min(len(X.indices), len(X.data)) or (ends[1:] < ends[:-1]).any():
        raise DataError(
            f"{name} is a damaged sparse array: its indptr does not ascend from 0 to the number of "
            "values"
        )
    used = np.asarray(X.indices[: ends[-1]])
    if len(used) and not 0 <= used.min() <= used.max() < X.shape[-1]:
        raise DataError(
            f"{name} is a damaged sparse array: a column index is outside 0 .. {X.shape[-1] - 1}"
        )


def dense_table(name: str, values: Any, owner: str) -> Array:
    """Return a contiguous table of uint8, float32 or float64, of at least one column.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : array_like
        Bytes stay bytes.
    owner : str
        The models that take it, for the message.

    Returns
    -------
    ndarray, shape (n, d)

    Raises
    ------
    DataError
        If it is no table of numbers, or sparse.
    """
    if hasattr(values, "tocsr"):
        raise DataError(
            f"{name} is a sparse array, which {owner} do not take; pass {name}.toarray() if it "
            "fits in memory"
        )
    of_bytes = isinstance(values, np.ndarray) and values.dtype == np.uint8
    X = np.ascontiguousarray(values if of_bytes else numeric(name, values))
    if X.ndim != 2 or X.shape[1] == 0:
        hint = f"; use {name}.reshape(len({name}), -1)" if X.ndim > 2 else ""
        raise DataError(f"{name} has shape {X.shape}; it must be rows x columns{hint}")
    return X


def matrix(name: str, values: Any) -> Floats:
    """Return a finite float64 table of at least one row and column; a vector is one column.

    Raises
    ------
    DataError
        If it is no table of numbers, is empty, or a number is missing or infinite.
    """
    array = numeric(name, values).astype(float, copy=False)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{name} has shape {np.shape(values)}; it must be a table of rows and columns"
        )
    return finite_table(name, array)


def finite_table(name: str, X: Same, names: Sequence[str] | None = None, first: int = 0) -> Same:
    """Return a table of finite numbers.

    Parameters
    ----------
    name : str
    X : ndarray or scipy.sparse.csr_array, shape (n, d)
    names : list of str, optional
        Of the columns; else their numbers are shown.
    first : int
        Number of the first row.

    Raises
    ------
    DataError
        If a number is missing or infinite; names the first such column and row.
    """
    place = None if X.dtype == np.uint8 else first_place(X, lambda values: ~np.isfinite(values))
    if place is not None:
        row, column = place
        shown = column if names is None else repr(names[column])
        raise DataError(
            f"{name} has missing or infinite values (column {shown}, row {first + row}); drop or "
            "impute them first"
        )
    return X


def chunk_rows(columns: int, most: int = CHUNK_ROWS) -> int:
    """Return how many rows of a table with so many columns are looked at together."""
    return max(1, min(most, CHUNK_CELLS // max(columns, 1)))


def first_place(X: Matrix, bad: Callable[[Array], Bools]) -> tuple[int, int] | None:
    """Return (row, column) of the first cell for which `bad` is true, or None.

    Parameters
    ----------
    X : ndarray, scipy.sparse.csr_array or table of coded factors, shape (n, d)
        Looked at in chunks of rows; of a sparse one the stored values alone.
    bad : callable
        From an array of numbers to one of bools.
    """
    if hasattr(X, "codes"):
        return X.first_place(bad)
    if hasattr(X, "indptr"):
        found = np.flatnonzero(bad(numeric("exog", X.data)))
        if not len(found):
            return None
        row = int(np.searchsorted(X.indptr, found[0], side="right")) - 1
        return row, int(X.indices[found[0]])
    step = chunk_rows(X.shape[1])
    for a in range(0, len(X), step):
        found = bad(X[a : a + step])
        if found.any():
            row, column = np.argwhere(found)[0]
            return a + int(row), int(column)
    return None
