"""Arrays of numbers from what users pass, or a DataError that names it."""

import mmap

import numpy as np

from sgmc.errors import DataError

CHUNK = 1 << 20  # numbers looked at at a time


def numeric(name, values):
    """A float array from array_like; DataError for what is not numbers,
    with the column where it is a frame's.
    """
    if values is None:
        raise DataError(f"{name} is None; it must hold numbers")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"{name} has masked values; drop or fill them first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is no array of numbers: {str(error).split('. ')[0]}") from error
    if array.dtype.kind not in "fiub":
        if array.ndim == 2 and hasattr(values, "iloc"):
            labels = enumerate(values.columns)
            return np.column_stack(
                [numeric(f"{name}: column {label!r}", values.iloc[:, j]) for j, label in labels]
            )
        array = from_objects(name, array)
    return (
        array
        if array.dtype in (np.float64, np.float32) and array.dtype.isnative
        else array.astype(float)
    )


def table_of_numbers(name, values):
    """A float array, or a sound CSR array where `values` is sparse: that is never made dense."""
    if not hasattr(values, "tocsr"):
        return numeric(name, values)
    X = values.tocsr()
    numeric(name, X.data[:1])
    check_sparse(name, X)
    return X


def check_sparse(name, X):
    """Refuse a CSR array whose indices point outside of it:
    the compiled loops would follow them.
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


def first_place(X, bad):
    """(row, column) of the first value of a table for which `bad` is true, or None;
    looked for in chunks of rows.
    """
    if hasattr(X, "indptr"):
        found = np.flatnonzero(bad(numeric("exog", X.data)))
        return (
            (int(np.searchsorted(X.indptr, found[0], side="right")) - 1, int(X.indices[found[0]]))
            if len(found)
            else None
        )
    step = max(1, CHUNK // max(X.shape[1], 1))
    for a in range(0, len(X), step):
        found = bad(X[a : a + step])
        if found.any():
            row, column = np.argwhere(found)[0]
            return a + int(row), int(column)
    return None


def is_lent(X):
    """Whether an array is memory-mapped or read-only: not the package's to change,
    and perhaps larger than memory.
    """
    owner = X
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap):
            return True
        owner = owner.base
    return isinstance(owner, mmap.mmap) or isinstance(X, np.ndarray) and not X.flags.writeable


def from_objects(name, array):
    """Floats from Python numbers, NaN for whatever pandas calls missing;
    text is not read as numbers.
    """
    import pandas as pd

    types = {type(value) for value in array.flat} if array.dtype.kind == "O" else set()
    if types and not any(issubclass(kind, (str, bytes)) for kind in types):
        try:
            return np.where(pd.isna(array), np.nan, array).astype(float)
        except (TypeError, ValueError, OverflowError):
            pass
    held = " and ".join(sorted(kind.__name__ for kind in types)) or (
        "text" if array.dtype.kind in "US" else array.dtype
    )
    hint = (
        "use a formula for text and categories"
        if array.dtype.kind in "US" or str in types
        else "convert it first"
    )
    raise DataError(f"{name} must hold numbers, it holds {held}; {hint}")


def vector(name, values):
    """A finite float64 vector."""
    array = numeric(name, values).astype(float, copy=False)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; it must be one number a row")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has missing or infinite values; drop those rows first")
    return array


def matrix(name, values):
    """A finite float64 table with a row and a column at least; a vector is one column."""
    array = numeric(name, values).astype(float, copy=False)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{name} has shape {np.shape(values)}; it must be a table of rows and columns"
        )
    bad = first_place(array, lambda part: ~np.isfinite(part))
    if bad:
        raise DataError(
            f"{name} has a missing or infinite value in row {bad[0]}, column {bad[1]}; drop those "
            "rows first"
        )
    return array


def check_index(**objects):
    """Refuse pandas objects whose indices differ:
    rows would be paired by position against the labels.
    """
    labelled = {
        name: one.index
        for name, one in objects.items()
        if hasattr(getattr(one, "index", None), "equals")
    }
    first = next(iter(labelled), None)
    for name, index in labelled.items():
        if not index.equals(labelled[first]):
            raise DataError(
                f"{first} and {name} have different indices; align them first, or pass "
                f"{name}.to_numpy()"
            )


def constant_column(X):
    """Index of the first column of ones, or None."""
    if hasattr(X, "indptr"):
        return constant_stored_column(X)
    for j in np.flatnonzero(X[0] == 1):
        if (X[:, j] == 1).all():
            return int(j)
    return None


def constant_stored_column(X):
    """The same for a CSR array, from what it stores."""
    stored = slice(X.indptr[-1])
    sums = np.bincount(X.indices[stored], X.data[stored], X.shape[1])
    for j in np.flatnonzero(sums == X.shape[0]):
        column = X[:, [j]]
        column.sum_duplicates()
        if column.nnz == X.shape[0] and (column.data == 1).all():
            return int(j)
    return None
