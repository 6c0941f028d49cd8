"""Arrays, tables, and what there is one of for each row."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sgmc.arguments.data import rows, values
from sgmc.arguments.data.arrays import numeric, shaped, vector
from sgmc.arguments.data.tables import (
    CHUNK_CELLS,
    CHUNK_ROWS,
    chunk_rows,
    dense_table,
    finite_table,
    first_place,
    matrix,
    table,
)
from sgmc.errors import ArgumentError, DataError

from .tables import assert_gives

NAN = float("nan")
ONES = np.ones((3, 2))
MASKED = np.ma.masked_greater([1.0, 2.0], 1)
FLOATS = np.array([1.0, 2.0])
DAMAGED = sparse.csr_array(ONES)
DAMAGED.indices = DAMAGED.indices + 7


@pytest.mark.parametrize(
    "values, expected",
    [
        ([1, 2], FLOATS),
        (np.array([1, 2], np.float32), np.array([1, 2], np.float32)),
        (np.array([1.0, 2.0]).astype(">f8"), FLOATS),
        ([True, False], np.array([1.0, 0.0])),
        ([Decimal(1), None], np.array([1.0, NAN])),
        (pd.Series([1, pd.NA], dtype="Int64"), np.array([1.0, NAN])),
        (pd.DataFrame({"a": [1], "b": [Decimal(2)]}), np.array([[1.0, 2.0]])),
        (None, (DataError, "v is None; it must hold numbers")),
        (
            ["1"],
            (
                DataError,
                "v must hold numbers, it holds text; convert it first, np.asarray(v, dtype",
            ),
        ),
        (["a"], (DataError, "v must hold numbers, it holds text; use a formula for text")),
        ([1.0, "a", None], (DataError, "v must hold numbers, it holds ")),
        ([1j], (DataError, "v must hold numbers, it holds complex128; convert it first")),
        (MASKED, (DataError, "v has masked values; drop or fill them first")),
        ([[1], [1, 2]], (DataError, "v is no array of numbers")),
        (pd.DataFrame({"a": ["u"]}), (DataError, "v: column 'a' must hold numbers")),
    ],
)
def test_numeric(values, expected):
    assert_gives(lambda: numeric("v", values), expected)


@pytest.mark.parametrize(
    "values, expected",
    [
        ([[1], [2]], FLOATS),
        (np.array([1, 2], np.float32), FLOATS),
        (ONES, (DataError, "v has shape (3, 2); it must be one number a row")),
        ([1, NAN], (DataError, "v has missing or infinite values; drop those rows first")),
    ],
)
def test_vector(values, expected):
    assert_gives(lambda: vector("v", values), expected)


@pytest.mark.parametrize(
    "shapes, expected",
    [
        ([(3, 2)], ONES),
        ([("n", 2)], ONES),
        ([(7,), (3, "d")], ONES),
        ([(2, 3)], (ArgumentError, "v has shape (3, 2); it must be (2, 3); transpose")),
        ([("n",), ("n", 3)], (ArgumentError, "v has shape (3, 2); it must be (n,) or (n, 3); ")),
    ],
)
def test_shaped(shapes, expected):
    assert_gives(lambda: shaped("v", ONES, *shapes, advice="transpose"), expected)


@pytest.mark.parametrize(
    "values, expected",
    [
        (FLOATS, FLOATS[:, None]),
        (np.ones((0, 2)), (DataError, "v has shape (0, 2); it must be a table")),
        (np.ones((1, 1, 1)), (DataError, "v has shape (1, 1, 1); it must be a table")),
        ([[1, 2], [3, NAN]], (DataError, "v has missing or infinite values (column 1, row 1)")),
    ],
)
def test_matrix(values, expected):
    assert_gives(lambda: matrix("v", values), expected)


@pytest.mark.parametrize(
    "values, expected",
    [
        (np.ones((2, 2), np.uint8), np.ones((2, 2), np.uint8)),
        (ONES, ONES),
        (np.ones((2, 3, 4)), (DataError, "v has shape (2, 3, 4); it must be rows x columns; use")),
        (FLOATS, (DataError, "v has shape (2,); it must be rows x columns")),
        (sparse.csr_array(ONES), (DataError, "v is a sparse array, which networks do not take")),
    ],
)
def test_dense_table(values, expected):
    assert_gives(lambda: dense_table("v", values, "networks"), expected)


def test_sparse_tables_stay_so_and_are_sound():
    found = table("v", sparse.coo_array(ONES))
    assert sparse.issparse(found) and (found.toarray() == ONES).all()
    assert_gives(
        lambda: table("v", DAMAGED), (DataError, "v is a damaged sparse array: a column index")
    )


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_the_first_bad_cell_is_named(kind):
    X = np.arange(1.0, 13.0).reshape(4, 3)
    assert finite_table("v", kind(X)) is not None
    X[2, 1] = X[3, 0] = np.inf
    assert first_place(kind(X), np.isinf) == (2, 1)
    text = "v has missing or infinite values (column 'b', row 2); drop or impute them first"
    assert_gives(lambda: finite_table("v", kind(X), ["a", "b", "c"]), (DataError, text))


def test_bad_cells_are_found_in_later_chunks():
    X = np.zeros((CHUNK_ROWS + 5, 1))
    X[CHUNK_ROWS + 3] = np.nan
    assert first_place(X, np.isnan) == (CHUNK_ROWS + 3, 0)


@pytest.mark.parametrize(
    "columns, expected", [(0, CHUNK_ROWS), (1, CHUNK_ROWS), (2**10, 2**11), (2 * CHUNK_CELLS, 1)]
)
def test_chunks_of_wide_tables_have_fewer_rows(columns, expected):
    assert chunk_rows(columns) == expected


def of(*values):
    """A vector."""
    return np.array(values, dtype=float)


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("weights", of(0, 2), of(0, 2)),
        ("weights", of(1, 1e18), (DataError, "at most 9e+15 in all, the rows that float64 counts")),
        ("weights", of(0, 0), (DataError, "zero or more, with a positive sum: they range from 0 ")),
        ("weights", of(-1, 2), (DataError, "they range from -1 to 2")),
        ("weights", of(1, np.inf), (DataError, "v must be finite numbers")),
        ("exposures", of(1, 2), of(1, 2)),
        ("exposures", of(0, 2), (DataError, "v must be finite numbers, positive: they range")),
        ("finite", of(-1, 2), of(-1, 2)),
        (
            "finite",
            of(1, np.inf),
            (DataError, "v must be finite numbers: they range from 1 to inf"),
        ),
        ("counts", of(0, 2), of(0, 2)),
        ("counts", of(0, 0.5), (DataError, "v must hold counts, 0, 1, 2, ..; it has 0.5")),
        ("counts", of(-1, 2), (DataError, "it has -1")),
        ("counts", of(1, np.inf), (DataError, "it has inf")),
        ("counts", of(1, NAN), (DataError, "it has nan")),
        ("positives", of(1, 2), of(1, 2)),
        ("positives", of(1, 0), (DataError, "v must be positive; it has 0")),
        ("varying", of(1, 2), of(1, 2)),
        ("varying", of(2, 2), (DataError, "v is 2 in every row used: there is nothing to explain")),
        ("binary", of(0, 1), of(0, 1)),
        ("binary", of(0, 2), (DataError, "v must be 0 or 1")),
    ],
)
def test_values(name, given, expected):
    assert_gives(lambda: getattr(values, name)("v", given), expected)


def test_counts_with_gaps_name_the_step():
    gaps = np.array([[1.0], [NAN], [0.5]])
    assert_gives(lambda: values.counts("v", gaps[:2], "step"), gaps[:2])
    assert_gives(lambda: values.counts("v", gaps, "step"), (DataError, "it has 0.5 at step 2"))


@pytest.mark.parametrize(
    "values, expected",
    [
        (2, of(2, 2)),
        ([1, 2], of(1, 2)),
        ([1, 2, 3], (DataError, "v has 3 values, the new data have 2 rows; give one value a row")),
        (ONES, (DataError, "v has shape (3, 2); it must be () or (2,)")),
        ("w", (ArgumentError, "v='w': give the numbers themselves, e.g. v=new['w']")),
        (["w", "u"], (DataError, "v must hold numbers")),
    ],
)
def test_new_rows(values, expected):
    assert_gives(lambda: rows.for_rows("v", values, 2), expected)


def test_indices():
    one, other = pd.Series(FLOATS), pd.Series(FLOATS, [1, 0])
    assert_gives(lambda: rows.same_index(a=one, b=FLOATS, c=one.to_frame()), None)
    text = "a and b have different indices; align them first, or pass b.to_numpy()"
    assert_gives(lambda: rows.same_index(a=one, b=other), (DataError, text))
