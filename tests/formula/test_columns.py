"""Types of columns, missing rows, and subsets."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sgmc import formula
from sgmc.errors import DataError, RowsLeftOutWarning

from .designs import N, design

NULLABLE = {
    "Int64": ([1, 2, None, 4] * 5, "x"),
    "UInt8": ([200, 2, None, 4] * 5, "x"),
    "Float64": ([1.5, 2, None, 4] * 5, "x"),
    "boolean": ([True, False, None, True] * 5, "x[T.True]"),
    "string": (["u", "v", None, "v"] * 5, "x[T.v]"),
    "str": (["u", "v", None, "v"] * 5, "x[T.v]"),
    "category": (["u", "v", None, "v"] * 5, "x[T.v]"),
    "object": (["u", "v", None, "v"] * 5, "x[T.v]"),
}


@pytest.mark.parametrize("dtype", NULLABLE)
def test_nullable_dtypes_with_missing_values(rng, dtype):
    values, label = NULLABLE[dtype]
    column = pd.Series(values, dtype=dtype)
    data = pd.DataFrame({"y": rng.integers(0, 2, 20), "x": column})
    table = formula.read("y ~ .", data)
    assert table.spec.exog_names == ["Intercept", label]
    assert table.dropped == 5 and table.rows.tolist() == [i for i in range(20) if i % 4 != 2]
    expected = [
        float(v == "v") if isinstance(v, str) else float(v) for v in values if v is not None
    ]
    np.testing.assert_array_equal(design(table)[:, 1], expected)
    fresh = table.spec.matrix(data)
    assert np.isnan(fresh[2]).all() and not np.isnan(fresh[3]).any()


def test_nan_inside_a_nullable_column_is_missing():
    column = pd.arrays.FloatingArray(
        np.array([1.0, np.nan, 3.0, 4.0]), np.array([False, False, True, False])
    )
    assert formula.read("y ~ x", pd.DataFrame({"y": [0, 1, 0, 1], "x": column})).rows.tolist() == [
        0,
        3,
    ]


def test_large_unsigned_integers():
    data = pd.DataFrame({"y": [0, 1], "x": np.array([2**63 + 2**12, 1], dtype="uint64")})
    assert design(formula.read("y ~ x + I(x - 2)", data))[:, 1].tolist() == [2.0**63 + 2**12, 1]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "string", "category", "object"])
def test_nullable_outcomes(rng, dtype):
    values = (
        ["no", "yes", None, "yes"]
        if dtype in ("string", "category", "object")
        else [False, True, None, True]
    )
    data = pd.DataFrame({"y": pd.Series(values * 5, dtype=dtype), "x": rng.normal(size=20)})
    table = formula.read("y ~ x", data)
    assert table.y.tolist() == [0, 1, 1] * 5 and table.dropped == 5


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "uint64", "float16", "float32", ">f8", ">i4", "int32", "bool"]
)
@pytest.mark.parametrize("rows", ["all", "some"])
def test_numpy_dtypes(dtype, rows):
    values = np.array([0, 1, 1, 0, 1, 0] * 3).astype(dtype) * np.array(
        1 if dtype == "bool" else 100, dtype
    )
    data = pd.DataFrame({"y": [0, 1, 1] * 6, "x": values}, copy=False)
    if rows == "some":
        data["z"] = [np.nan, *range(17)]
    table = formula.read("y ~ I(x ** 2) + I(x - 1)" if dtype != "bool" else "y ~ x", data)
    kept = values.astype(float)
    if dtype == "bool":
        np.testing.assert_array_equal(design(table)[:, 1], kept)
    else:
        np.testing.assert_array_equal(design(table)[:, 1:], np.column_stack([kept**2, kept - 1]))
    if rows == "some":
        table = formula.read("y ~ .", data)
        np.testing.assert_array_equal(design(table)[:, 1], kept[1:])


def test_strided_and_read_only_columns(rng):
    block = rng.normal(size=(N, 6))
    block.flags.writeable = False
    data = {"y": np.arange(N) % 2, "x": block[:, 1], "z": block[::-1, 3]}
    np.testing.assert_array_equal(
        design(formula.read("y ~ .", data))[:, 1:], np.column_stack([block[:, 1], block[::-1, 3]])
    )


def test_unused_categories_and_their_order(rng):
    column = pd.Categorical(
        ["lo", "hi"] * 10, categories=["never", "lo", "mid", "hi"], ordered=True
    )
    data = pd.DataFrame(
        {"y": [0, 1] * 10, "x": column, "n": pd.Categorical([3, 1] * 10, categories=[3, 2, 1])}
    )
    table = formula.read("y ~ x + n", data)
    assert table.spec.exog_names == ["Intercept", "x[T.hi]", "n[T.1]"]
    assert formula.read("x ~ n", data).spec.levels == ("lo", "hi")


def test_intervals_are_labelled_as_by_cut(frame):
    spec = formula.read("y ~ cut", frame.assign(cut=pd.cut(frame.x2, [1, 1.25, 1.75, 2]))).spec
    assert spec.exog_names == ["Intercept", "cut[T.(1.25, 1.75]]", "cut[T.(1.75, 2.0]]"]
    assert pickle.loads(pickle.dumps(spec)).matrix(
        {"cut": pd.cut([1.5], [1.0, 1.25, 1.75, 2])}
    ).tolist() == [[1, 1, 0]]


POSITIVE = "np.where(x2 > 0, x2, np.nan)"


def test_levels_come_from_the_rows_kept(frame):
    frame.loc[frame.g == "a", "x1"] = np.nan
    assert formula.read("y ~ g + x1", frame).spec.exog_names == ["Intercept", "g[T.c]", "x1"]
    frame["x2"] = np.where(frame.g == "b", -1.0, 2.0)  # missing only in the expression
    frame["x1"] = 1.0
    with pytest.warns(RowsLeftOutWarning, match=r"'np.where\(.*' is missing at row "):
        spec = formula.read(f"y ~ g + {POSITIVE}", frame).spec
    assert spec.exog_names == ["Intercept", "g[T.c]", "np.where(x2 > 0, x2, np.nan)"]


def test_missing_rows_are_dropped_jointly(frame):
    weights, offset = np.ones(N), np.zeros(N)
    frame["y"] = frame.y.astype(float)
    frame.loc[0, "y"] = frame.loc[1, "x1"] = frame.loc[2, "g"] = np.nan
    weights[3] = offset[4] = np.nan
    frame["expo"] = np.where(np.arange(N) == 5, np.nan, 1.5)
    frame.loc[6, "x2"] = -1
    frame.loc[0, "x1"] = np.nan  # a row that lacks two things is dropped once
    text = f"y ~ x1 + g + {POSITIVE}"
    with pytest.warns(RowsLeftOutWarning, match="at row 6, where x2 = -1.0: left out of the fit"):
        table = formula.read(text, frame, weights=weights, offset=offset, exposure="expo")
    assert table.rows.tolist() == list(range(7, N))
    assert table.dropped == 7
    assert table.rows.dtype == np.int64
    assert len(table.y) == len(table.weights) == len(table.offset) == len(table.exposure) == N - 7
    assert table.index.tolist() == list(range(7, N))
    with pytest.raises(DataError, match="^7 rows") as error:
        formula.read(
            text,
            frame,
            weights=weights,
            offset=offset,
            exposure="expo",
            missing="raise",
        )
    for part in (
        "'y' (1)",
        "'x1' (2)",
        "'g' (1)",
        "'weights' (1)",
        "'offset' (1)",
        "'exposure' (1)",
        "'np.where(x2 > 0, x2, np.nan)' (1)",
    ):
        assert part in str(error.value)


def test_missing_in_a_compared_response_is_dropped_not_failure(frame):
    frame.loc[[3, 5], "x1"] = np.nan
    table = formula.read("x1 > 0 ~ x2", frame)
    assert table.dropped == 2 and not {3, 5} & set(table.rows)
    np.testing.assert_array_equal(table.y, frame.x1.drop([3, 5]) > 0)


def test_subset_is_not_counted_as_dropped(frame):
    frame.loc[:9, "x1"] = np.nan
    masks = [frame.x2 > 1.5, (frame.x2 > 1.5).to_numpy(), lambda data: data.x2 > 1.5, "x2 > 1.5"]
    expected = np.flatnonzero((frame.x2 > 1.5) & frame.x1.notna())
    for subset in masks:
        table = formula.read("y ~ x1", frame, subset=subset)
        np.testing.assert_array_equal(table.rows, expected)
        assert table.dropped == ((frame.x2 > 1.5) & frame.x1.isna()).sum()
    masked = pd.array([True, None, False] * 20, dtype="boolean")
    assert formula.read("y ~ x2", frame, subset=masked).rows.tolist() == list(range(0, N, 3))


@pytest.mark.parametrize("text", ["y ~ x*z", "y ~ x/z", "y ~ x:z:g", "y ~ s(x, by=z, k=5)"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float16", "float32"])
def test_products_of_columns_do_not_overflow(dtype, text):
    """130 x 130 is 16,900, also where the columns have a byte."""
    x = np.geomspace(1, 130, 20) if dtype == "uint8" else np.geomspace(1, 20_000, 20)
    x = x * (10**6 if dtype == "int64" else 1)
    data = pd.DataFrame({"x": x.astype(dtype), "z": (x - 1).astype(dtype), "g": [*"abcd"] * 5})
    data["y"] = np.arange(20.0)
    wide = data.astype({"x": np.float64, "z": np.float64})
    found, wanted = (formula.read(text, one, outcome="numeric") for one in (data, wide))
    np.testing.assert_array_equal(design(found), design(wanted))
    np.testing.assert_array_equal(found.spec.matrix(data), wanted.spec.matrix(wide))


@pytest.mark.parametrize(
    "values, name",
    [
        ([1, 2, 1, None, 2, 1], "C(x)[T.2]"),
        ([1, 2.5, 1, None, 2.5, 1], "C(x)[T.2.5]"),
        ([2.5, 3, 3, None, 2.5, 3], "C(x)[T.3.0]"),
        ([1, 2**70, 1, None, 1, 1], "C(x)[T.1.1805916207174113e+21]"),
    ],
)
def test_levels_of_whole_numbers_in_objects_are_whole(values, name):
    table = pd.DataFrame({"y": np.arange(6.0), "x": pd.Series(values, dtype=object)})
    assert formula.read("y ~ C(x)", table, outcome="numeric").spec.exog_names[1] == name
