"""The formula front end: R's dot and names, types of columns, missing rows, outcomes, chunks, pickles, new data, errors."""
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import patsy
import pytest

from sgmc import formula
from sgmc.errors import ArgumentError, ColumnsLeftOutWarning, DataError, FormulaError

N = 60
AWKWARD = ["my var", "class", "it's", "Q", "C", "a:b", "1st", "größe", "x²", "np", "tick`", "I"]
AWKWARD += ["back\\slash", "'both\" quotes"]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, N),
            "x1": rng.normal(size=N),
            "x2": rng.uniform(1, 2, N),
            "g": rng.choice(["a", "b", "c"], N),
            "flag": rng.random(N) > 0.5,
            "my var": rng.normal(size=N),
        }
    )


def design(table, dtype=np.float64, **how):
    out = np.full((len(table.rows), len(table.spec.exog_names)), -99, dtype)
    table.fill(out, **how)
    return out


def check_against_patsy(text, expanded, frame):
    """Same columns as patsy's for the formula written out, in the same order."""
    table = formula.read(text, frame)
    expected = patsy.dmatrix(expanded, frame.rename(columns={"my var": "my_var"}))
    np.testing.assert_allclose(design(table), np.asarray(expected), rtol=1e-12, atol=1e-12)
    assert [as_patsy(name) for name in table.spec.exog_names] == expected.design_info.column_names
    slices = {as_patsy(name): where for name, where in table.spec.term_slices.items()}
    assert slices == dict(expected.design_info.term_name_slices)
    assert table.spec.has_intercept == ("Intercept" in slices)


def as_patsy(name):
    return name.replace("`my var`", "my_var").replace("my var", "my_var")


ALL = "x1 + x2 + g + flag + my_var"


@pytest.mark.parametrize(
    "text, expanded",
    [
        ("y ~ .", ALL),
        ("y~.", ALL),
        ("y ~ . - x1", "x2 + g + flag + my_var"),
        ("y ~ . - x1 - `my var`", "x2 + g + flag"),
        ("y ~ . - Q('my var')", "x1 + x2 + g + flag"),
        ("y ~ . + np.log(x2) - x2", "x1 + g + flag + my_var + np.log(x2)"),
        ("y ~ .:g - 1", f"({ALL}):g - 1"),
        ("y ~ 0 + .", f"0 + {ALL}"),
        ("y ~ .-1", f"{ALL} - 1"),
        ("y ~ (.)^2", f"({ALL})**2"),
        ("y ~ .^2", f"({ALL})**2"),
        ("y ~ .*g", f"({ALL})*g"),
        ("y ~ (x1 + g)**2", "(x1 + g)**2"),
        ("y ~ (x1+x2+g)^3", "(x1 + x2 + g)**3"),
        ("y ~ I(x1^2) + I(x1 ** 3)", "I(x1**2) + I(x1**3)"),
        ("y ~ g:flag", "g:flag"),
        ("y ~ 0 + g:flag + x1:g", "0 + g:flag + x1:g"),
        ("y ~ flag*g*x1", "flag*g*x1"),
        ("y ~ x1/g", "x1/g"),
        ("y ~ I(g == 'a`')", "I(g == 'a`')"),
        ("y ~ C(g, Sum) + C(flag):x1", "C(g, Sum) + C(flag):x1"),
        ("y ~ C(g, Treatment('c'))", "C(g, Treatment('c'))"),
        ("y ~ C(g, levels=['c', 'b', 'a'])", "C(g, levels=['c', 'b', 'a'])"),
        ("y ~ C(y)", "C(y)"),
        ("y ~ np.log(`my var`**2)", "np.log(my_var**2)"),
        ("y ~ center(x1) + standardize(x2)", "center(x1) + standardize(x2)"),
        ("y ~ scale(x1, ddof=1) + center(x1):g", "scale(x1, ddof=1) + center(x1):g"),
        ("y ~ standardize(np.log(x2)) + bs(center(x1), df=4)", "standardize(np.log(x2)) + bs(center(x1), df=4)"),
        ("y ~ bs(x1, df=5):g + cr(x2, df=3)", "bs(x1, df=5):g + cr(x2, df=3)"),
        ("y ~ te(cr(x1, df=3), cr(x2, df=3))", "te(cr(x1, df=3), cr(x2, df=3))"),
        ("y ~ (x1 > 0) + abs(x1)", "(x1 > 0) + abs(x1)"),
        ("y ~ I(x1 > 0) + np.where(g == 'a', 'one', 'two')", "I(x1 > 0) + np.where(g == 'a', 'one', 'two')"),
        ("y ~ 1", "1"),
        ("y ~\n x1 +\n x2", "x1 + x2"),
    ],
)
def test_design_equals_patsy_on_the_formula_written_out(frame, text, expanded):
    check_against_patsy(text, expanded, frame)


def test_dot_equals_get_dummies(frame):
    table = formula.read("y ~ .", frame)
    expected = pd.get_dummies(frame.drop(columns="y"), columns=["g", "flag"], drop_first=True, prefix_sep="[T.", dtype=float)
    expected.columns = [name + "]" if "[" in name else name for name in expected]
    built = pd.DataFrame(design(table), columns=table.spec.exog_names)
    pd.testing.assert_frame_equal(built[expected.columns], expected)
    assert (built["Intercept"] == 1).all()


def test_dot_excludes_what_is_used_elsewhere(frame):
    frame = frame.assign(w=1.0, off=0.5, expo=2.0, keep=True, z=frame.x1**2 + 1)
    table = formula.read("np.log(z) > 0.1 ~ .", frame, weights="w", offset="off", exposure="expo", subset="keep")
    assert table.spec.exog_names == ["Intercept", "g[T.b]", "g[T.c]", "flag[T.True]", "y", "x1", "x2", "my var"]
    table = formula.read("y ~ .", frame[["y", "x1", "x2", "my var"]], subset="x1 < 1 and `my var` < 1.5")
    assert table.spec.exog_names == ["Intercept", "x2"]


@pytest.mark.parametrize("text", ["np.log(x2) ~ .", "np.log(x2)~.", "x2 + 1 ~ .", "(x2) ~ ."])
def test_response_inside_an_expression_stays_out_of_the_dot(frame, text):
    table = formula.read(text, frame[["y", "x1", "x2"]], outcome="numeric")
    assert table.spec.exog_names == ["Intercept", "y", "x1"]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names(rng, name):
    data = pd.DataFrame({"y": [0, 1] * 10, name: rng.normal(size=20), "x": rng.normal(size=20)})
    table = formula.read("y ~ .", data)
    assert table.spec.exog_names == ["Intercept", name, "x"]
    np.testing.assert_array_equal(design(table)[:, 1], data[name])
    quoted = f"Q({name!r})" if "`" in name else f"`{name}`"
    assert formula.read(f"y ~ . - {quoted}", data).spec.exog_names == ["Intercept", "x"]
    table = formula.read(f"y ~ x + {quoted} + np.exp({quoted}):x", data)
    np.testing.assert_allclose(design(table)[:, 3], np.exp(data[name]) * data.x)
    again = formula.read(table.spec.expanded, data).spec
    assert again.exog_names == table.spec.exog_names
    assert formula.read(f"{quoted} ~ x", data, outcome="numeric").spec.endog_name == name


def test_labels_stay_distinct(rng):
    data = pd.DataFrame({"y": [0, 1] * 10, "a": rng.normal(size=20), "b": rng.normal(size=20), "a:b": rng.normal(size=20)})
    spec = formula.read("y ~ a:b + `a:b`", data).spec
    assert sorted(spec.exog_names) == ["Intercept", "`a:b`", "a:b"]
    assert len(spec.term_slices) == 3


def test_a_column_called_intercept(rng):
    data = pd.DataFrame({"y": [0, 1] * 10, "Intercept": rng.normal(size=20)})
    assert formula.read("y ~ .", data).spec.exog_names == ["Intercept", "`Intercept`"]
    assert formula.read("y ~ . - 1", data).spec.exog_names == ["Intercept"]


def test_function_and_column_of_one_name(frame):
    frame = frame.rename(columns={"x2": "center"})
    table = formula.read("y ~ center(center) + center", frame)
    np.testing.assert_allclose(design(table)[:, 1], frame.center - frame.center.mean(), atol=1e-12)
    np.testing.assert_array_equal(design(table)[:, 2], frame.center)


def test_keyword_arguments_are_no_columns(frame):
    frame["df"] = np.arange(N)
    assert len(formula.read("y ~ bs(x1, df=4)", frame).spec.exog_names) == 5


def test_many_columns_do_not_reach_the_recursion_limit(rng):
    data = pd.DataFrame(rng.normal(size=(5, 3000))).rename(columns=str).assign(y=[0, 1, 0, 1, 1])
    assert formula.read("y ~ .", data).spec.exog_names[-1] == "2999"


def test_dot_leaves_out_with_one_warning(frame):
    frame["when"] = pd.date_range("2020-01-01", periods=N)
    frame["gap"] = frame.when - frame.when[0]
    frame["month"] = frame.when.dt.to_period("M")
    frame["one"] = 3
    frame["same"] = "s"
    frame["zip"] = [f"z{i % 51}" for i in range(N)]
    frame["unknown"] = np.nan
    frame["lists"] = [[i] for i in range(N)]
    frame["wave"] = frame.x1 + 1j
    frame["many"] = frame.zip.astype("category")
    with pytest.warns(ColumnsLeftOutWarning) as caught:
        table = formula.read("y ~ .", frame)
    expected = {
        "when": "dates",
        "gap": "dates",
        "month": "dates",
        "one": "constant",
        "same": "constant",
        "zip": "51 levels",
        "unknown": "all missing",
        "lists": "neither numbers nor text",
        "wave": "complex numbers",
        "many": "51 levels",
    }
    assert table.left_out == expected
    assert len(caught) == 1 and all(f"{name!r} ({reason})" in str(caught[0].message) for name, reason in expected.items())
    assert caught[0].filename == __file__
    assert table.dropped == 0
    assert table.spec.exog_names == ["Intercept", "g[T.b]", "g[T.c]", "flag[T.True]", "x1", "x2", "my var"]


def test_fifty_levels_stay_in_the_dot(frame):
    frame["zip"] = [f"z{i % 50:02}" for i in range(N)]
    assert formula.read("y ~ .", frame[["y", "zip"]]).spec.exog_names[-1] == "zip[T.z49]"


def test_no_warning_for_columns_named_in_the_formula(frame):
    frame["when"] = pd.date_range("2020-01-01", periods=N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = formula.read("y ~ . - when + when.dt.month", frame)
    assert table.spec.exog_names[-1] == "when.dt.month"
    np.testing.assert_array_equal(design(table)[:, -1], frame.when.dt.month)


def test_dot_leaves_out_what_is_constant_in_the_rows_used(frame):
    frame["k"] = np.where(frame.x1 > 0, 1.0, 5.0)
    with pytest.warns(ColumnsLeftOutWarning, match="'k' \\(constant\\)"):
        formula.read("y ~ .", frame, subset="x1 > 0")
    frame.loc[frame.x1 <= 0, "x2"] = np.nan
    with pytest.warns(ColumnsLeftOutWarning, match="'k' \\(constant\\)"):
        table = formula.read("y ~ .", frame)
    assert table.dropped == (frame.x1 <= 0).sum()


def test_a_column_left_out_drops_no_rows(frame):
    frame["one"] = np.where(frame.x1 > 0, 1.0, np.nan)
    with pytest.warns(ColumnsLeftOutWarning):
        assert formula.read("y ~ .", frame).dropped == 0


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
    expected = [float(v == "v") if isinstance(v, str) else float(v) for v in values if v is not None]
    np.testing.assert_array_equal(design(table)[:, 1], expected)
    fresh = table.spec.matrix(data)
    assert np.isnan(fresh[2]).all() and not np.isnan(fresh[3]).any()


def test_nan_inside_a_nullable_column_is_missing():
    column = pd.arrays.FloatingArray(np.array([1.0, np.nan, 3.0, 4.0]), np.array([False, False, True, False]))
    assert formula.read("y ~ x", pd.DataFrame({"y": [0, 1, 0, 1], "x": column})).rows.tolist() == [0, 3]


def test_large_unsigned_integers():
    data = pd.DataFrame({"y": [0, 1], "x": np.array([2**63 + 2**12, 1], dtype="uint64")})
    assert design(formula.read("y ~ x + I(x - 2)", data))[:, 1].tolist() == [2.0**63 + 2**12, 1]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "string", "category", "object"])
def test_nullable_outcomes(rng, dtype):
    values = ["no", "yes", None, "yes"] if dtype in ("string", "category", "object") else [False, True, None, True]
    data = pd.DataFrame({"y": pd.Series(values * 5, dtype=dtype), "x": rng.normal(size=20)})
    table = formula.read("y ~ x", data)
    assert table.y.tolist() == [0, 1, 1] * 5 and table.dropped == 5


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "float16", "float32", ">f8", ">i4", "int32", "bool"])
@pytest.mark.parametrize("rows", ["all", "some"])
def test_numpy_dtypes(dtype, rows):
    values = np.array([0, 1, 1, 0, 1, 0] * 3).astype(dtype) * np.array(1 if dtype == "bool" else 100, dtype)
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
    np.testing.assert_array_equal(design(formula.read("y ~ .", data))[:, 1:], np.column_stack([block[:, 1], block[::-1, 3]]))


def test_unused_categories_and_their_order(rng):
    column = pd.Categorical(["lo", "hi"] * 10, categories=["never", "lo", "mid", "hi"], ordered=True)
    data = pd.DataFrame({"y": [0, 1] * 10, "x": column, "n": pd.Categorical([3, 1] * 10, categories=[3, 2, 1])})
    table = formula.read("y ~ x + n", data)
    assert table.spec.exog_names == ["Intercept", "x[T.hi]", "n[T.1]"]
    assert formula.read("x ~ n", data).spec.levels == ("lo", "hi")


def test_intervals_are_labelled_as_by_cut(frame):
    spec = formula.read("y ~ cut", frame.assign(cut=pd.cut(frame.x2, [1, 1.25, 1.75, 2]))).spec
    assert spec.exog_names == ["Intercept", "cut[T.(1.25, 1.75]]", "cut[T.(1.75, 2.0]]"]
    assert pickle.loads(pickle.dumps(spec)).matrix({"cut": pd.cut([1.5], [1.0, 1.25, 1.75, 2])}).tolist() == [[1, 1, 0]]


def test_levels_come_from_the_rows_kept(frame):
    frame.loc[frame.g == "a", "x1"] = np.nan
    assert formula.read("y ~ g + x1", frame).spec.exog_names == ["Intercept", "g[T.c]", "x1"]
    frame["x2"] = np.where(frame.g == "b", -1.0, 2.0)  # missing only after the log
    frame["x1"] = 1.0
    assert formula.read("y ~ g + np.log(x2)", frame).spec.exog_names == ["Intercept", "g[T.c]", "np.log(x2)"]


def test_missing_rows_are_dropped_jointly(frame):
    weights, offset = np.ones(N), np.zeros(N)
    frame["y"] = frame.y.astype(float)
    frame.loc[0, "y"] = frame.loc[1, "x1"] = frame.loc[2, "g"] = np.nan
    weights[3] = offset[4] = np.nan
    frame["expo"] = np.where(np.arange(N) == 5, np.nan, 1.5)
    frame.loc[6, "x2"] = -1
    frame.loc[0, "x1"] = np.nan  # a row that lacks two things is dropped once
    table = formula.read("y ~ x1 + g + np.log(x2)", frame, weights=weights, offset=offset, exposure="expo")
    assert table.rows.tolist() == list(range(7, N)) and table.dropped == 7 and table.rows.dtype == np.int64
    assert len(table.y) == len(table.weights) == len(table.offset) == len(table.exposure) == N - 7
    assert table.index.tolist() == list(range(7, N))
    with pytest.raises(DataError, match="^7 rows") as error:
        formula.read("y ~ x1 + g + np.log(x2)", frame, weights=weights, offset=offset, exposure="expo", missing="raise")
    for part in ("'y' (1)", "'x1' (2)", "'g' (1)", "'weights' (1)", "'offset' (1)", "'exposure' (1)", "'np.log(x2)' (1)"):
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


OUTCOMES = [
    (["no", "yes", "yes"], ("no", "yes")),
    (pd.Categorical(["no", "yes", "yes"], categories=["yes", "other", "no"]), ("yes", "no")),
    ([False, True, True], (False, True)),
    ([0, 1, 1], None),
    ([0.0, 1.0, 1.0], None),
]


@pytest.mark.parametrize("values, levels", OUTCOMES)
def test_binary_outcomes(values, levels):
    table = formula.read("y ~ 1", pd.DataFrame({"y": values}))
    expected = [1, 0, 0] if levels == ("yes", "no") else [0, 1, 1]
    assert table.y.tolist() == expected and table.y.dtype == np.float64
    assert table.spec.levels == levels and table.spec.endog_name == "y"


def test_comparisons_as_outcome(frame):
    table = formula.read("g == 'b' ~ x1", frame)
    np.testing.assert_array_equal(table.y, frame.g == "b")
    assert table.spec.endog_name == "g == 'b'" and table.spec.levels == (False, True)


@pytest.mark.parametrize(
    "values, outcome, words",
    [
        ([0, 1, 2], "binary", ["'y'", "0 or 1", "y > 0"]),
        ([1, 2, 2], "binary", ["'y'", "0 or 1"]),
        (["a", "b", "c"], "binary", ["'y'", "3 levels", "compare"]),
        (["a", "a", "a"], "binary", ["'y'", "'a'", "both classes"]),
        ([1, 1, 1], "binary", ["'y'", "both classes"]),
        ([True, True, True], "binary", ["'y'", "both classes"]),
        (pd.date_range("2020", periods=3), "binary", ["'y'", "text with two levels"]),
        (["a", "b", "c"], "numeric", ["'y'", "numeric"]),
        ([1.0, np.inf, 2.0], "numeric", ["'y'", "infinite", "1 row"]),
        ([0.0, np.inf, 1.0], "binary", ["'y'", "infinite"]),
        ([np.nan] * 3, "binary", ["'y' (3)", "no row is complete"]),
    ],
)
def test_unusable_outcomes(values, outcome, words):
    with pytest.raises(DataError) as error:
        formula.read("y ~ 1", pd.DataFrame({"y": values}), outcome=outcome)
    assert all(word in str(error.value) for word in words), error.value


def test_numeric_outcome(frame):
    table = formula.read("np.log(x2) ~ x1", frame, outcome="numeric")
    np.testing.assert_allclose(table.y, np.log(frame.x2))
    assert table.spec.levels is None and table.spec.endog_name == "np.log(x2)"


def test_response_missing_in_every_row_after_a_transformation(frame):
    with pytest.raises(DataError, match=r"no row is complete.*'np\.log\(-x2\)' \(60\)"):
        formula.read("np.log(-x2) ~ x1", frame, outcome="numeric")


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("text, name", [("y ~ .", "x1"), ("y ~ center(x1)", "center(x1)"), ("y ~ x2:x1", "x2:x1")])
def test_infinite_predictors(frame, bad, text, name):
    frame.loc[7, "x1"] = bad
    table = formula.read(text, frame)
    with pytest.raises(DataError, match="not finite at row 7") as error:
        design(table)
    assert repr(name) in str(error.value)


def test_infinite_after_a_transformation_or_in_float32(frame):
    frame.loc[7, "x2"] = 0
    with pytest.raises(DataError, match=r"'np\.log\(x2\)' is not finite at row 7"):
        design(formula.read("y ~ np.log(x2)", frame))
    frame.loc[8, "x1"] = 1e300
    table = formula.read("y ~ x1", frame)
    assert np.isfinite(design(table)).all()
    with pytest.raises(DataError, match="'x1' is not finite at row 8"):
        design(table, np.float32)


@pytest.mark.parametrize("text", ["y ~ .", "y ~ (.)^2 + bs(x1, df=4) + C(g, Sum)", "y ~ 1", "y ~ 0 + g"])
@pytest.mark.parametrize("chunk", [1, 7, N, 1000])
def test_fill_by_chunks_and_positions(frame, rng, text, chunk):
    frame.loc[[0, 11, 12, 59], "x1"] = np.nan
    table = formula.read(text, frame)
    whole = design(table)
    position = rng.permutation(len(table.rows))
    permuted = design(table, position=position, chunk=chunk)
    np.testing.assert_array_equal(permuted[position], whole)
    np.testing.assert_array_equal(design(table, chunk=chunk), whole)
    np.testing.assert_array_equal(design(table, np.float32, chunk=chunk), whole.astype(np.float32))


def test_fill_checks_the_shape(frame):
    with pytest.raises(ArgumentError, match=r"\(60, 2\)"):
        formula.read("y ~ x1", frame).fill(np.empty((N, 3)))


def test_memorizing_in_chunks_equals_memorizing_at_once(frame, monkeypatch):
    text = "y ~ standardize(x1) + center(x2) + C(g) + bs(x1, df=4) + np.where(x1 > 0, 'p', 'n')"
    whole = design(formula.read(text, frame))
    monkeypatch.setattr(formula.reader, "CHUNK", 7)
    np.testing.assert_allclose(design(formula.read(text, frame)), whole, rtol=1e-12, atol=1e-12)


def test_data_are_not_changed(frame):
    frame["i"] = pd.array([1, None, 3] * 20, dtype="Int64")
    frame["c"] = frame.g.astype("category")
    before = frame.copy(deep=True)
    design(formula.read("y ~ . + C(g)", frame, subset="x1 < 2", weights="x2"))
    pd.testing.assert_frame_equal(frame, before)
    data = {"y": np.array([0, 1]), "x": np.array([1.0, 2.0])}
    formula.read("y ~ x", data).fill(np.empty((2, 2)))
    assert list(data) == ["y", "x"] and type(data["x"]) is np.ndarray


STATEFUL = "y ~ standardize(x1) + center(x2) + bs(x1, df=5) + cr(x2, df=3) + C(g, Sum):flag + np.log(x2)"
STATEFUL += " + te(cr(x1, df=3), cr(x2, df=3))"


def test_stateful_transforms_remember_through_a_pickle(frame):
    table = formula.read(STATEFUL, frame)
    text = pickle.dumps(table.spec)
    assert len(text) < 20_000
    again = pickle.loads(text)
    new = frame.iloc[10:30].sample(frac=1, random_state=1).reset_index(drop=True)
    whole = design(table)
    expected = whole[frame.iloc[10:30].sample(frac=1, random_state=1).index]
    np.testing.assert_allclose(table.spec.matrix(new), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again.matrix(new), table.spec.matrix(new))
    for name in ("formula", "expanded", "endog_name", "exog_names", "term_slices", "levels", "has_intercept", "columns"):
        assert getattr(again, name) == getattr(table.spec, name)


def test_pickle_holds_no_data(rng):
    n = 20_000
    data = pd.DataFrame({"y": np.arange(n) % 2, "x1": rng.normal(size=n), "x2": rng.uniform(1, 2, n)})
    data["g"] = rng.choice(list("abcd"), n)
    assert len(pickle.dumps(formula.read(STATEFUL, data.assign(flag=data.x1 > 0)).spec)) < 20_000
    assert len(pickle.dumps(formula.read("y ~ .", data).spec)) < 3_000


def test_new_data(frame):
    table = formula.read("y ~ x1 + g + C(y) + np.log(x2)", frame)
    new = pd.DataFrame({"x1": [1, np.nan, 2, 3], "g": ["c", "a", None, "b"], "y": [1, 0, 1, 0], "x2": [1.0, 1, 1, -1]})
    built = table.spec.matrix(new)
    np.testing.assert_array_equal(built[0], [1, 0, 1, 1, 1, 0])
    assert np.isnan(built[1:]).all()
    np.testing.assert_array_equal(table.spec.matrix(new.to_dict("list"))[0], built[0])
    assert table.spec.matrix(new.iloc[:0]).shape == (0, 6)
    assert formula.read("y ~ 1", frame).spec.matrix(new).tolist() == [[1.0]] * 4
    category = new.iloc[:1].assign(g=pd.Categorical(["c"], categories=["c", "z"]))
    np.testing.assert_array_equal(table.spec.matrix(category), built[:1])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"g": ["z"] * 4}, ["'g'", "'z'", "'a', 'b', 'c'"]),
        ({"g": pd.Categorical(["a", "z", "a", "a"])}, ["'g'", "'z'", "'a', 'b', 'c'"]),
        ({"y": [0, 1, 2, 0]}, ["'y'", "2", "known are 0, 1"]),
        ({"x1": ["1.5"] * 4}, ["'x1'", "a number in each row"]),
        ({"x1": pd.Timestamp("2020-01-01")}, ["'x1'", "a number in each row"]),
        ({"x1": None}, ["'x1'", "no column"]),
        ({"x2": "text"}, ["'np.log(x2)'"]),
    ],
)
def test_new_data_that_do_not_fit(frame, change, words):
    spec = formula.read("y ~ x1 + g + C(y) + np.log(x2)", frame).spec
    new = frame.iloc[:4].assign(**change)
    if change.get("x1", 1) is None:
        new = new.drop(columns="x1")
    with pytest.raises(FormulaError) as error:
        spec.matrix(new)
    assert all(word in str(error.value) for word in words), error.value


def double(x):
    return 2 * x


def test_scope(frame):
    scope = {"double": double, "np": None, "math": math, "k": 3.0, "x1": double, "mod": np}
    table = formula.read("y ~ double(x1) + x1 + mod.exp(x1) + np.log(x2)", frame, scope=scope)
    np.testing.assert_allclose(design(table)[:, 1:4], np.column_stack([2 * frame.x1, frame.x1, np.exp(frame.x1)]))
    assert np.array_equal(pickle.loads(pickle.dumps(table.spec)).matrix(frame), design(table))
    with pytest.raises(FormulaError, match="'k' is a variable, not a column"):
        formula.read("y ~ x1 + k", frame, scope=scope)
    with pytest.raises(FormulaError, match="'k' is a variable, not a column"):
        formula.read("y ~ I(x1 * k)", frame, scope=scope)
    with pytest.raises(FormulaError, match="no function 'double'"):
        formula.read("y ~ double(x1)", frame)


def test_caller_scope(frame):
    def triple(x):
        return 3 * x

    assert formula.caller_scope()["triple"] is triple and formula.caller_scope()["double"] is double
    assert formula.read("y ~ triple(x1)", frame, scope=formula.caller_scope()).spec.exog_names[1] == "triple(x1)"


@pytest.mark.parametrize(
    "text, words",
    [
        ("x1 + x2", ["no response"]),
        ("~ x1", ["no response"]),
        ("y ~", ["right side is empty"]),
        ("y ~ 0", ["no term"]),
        ("y ~ x1 - x1 - 1", ["no term"]),
        ("y ~ x3", ["'x3'", "neither a column nor a call", "did you mean 'x"]),
        ("y ~ `my vat`", ["'my vat'", "did you mean 'my var'"]),
        ("y ~ `my var", ["backtick"]),
        ("y ~ np.log(.)", ["dot", "call"]),
        (". ~ x1", ["dot", "response"]),
        ("y ~ x1 +", ["'y ~ x1 +'"]),
        ("y ~ x1 + 2", ["numbers besides"]),
        ("y ~ (x1", ["'y ~ (x1'"]),
        ("y ~ x1 ~ x2", ["~"]),
        ("y ~ np", ["'np'"]),
        ("y ~ x1:center", ["'center'"]),
        ("y ~ x1 + id", ["'id'", "neither a column nor a call"]),
        ("y ~ bs(x1, df=2)", ["ValueError: df=2 is too small"]),
        ("y ~ logg(x1)", ["no function 'logg'"]),
        ("y ~ offset(x1)", ["offset="]),
        ("y ~ x1 $ x2", ["'y ~ x1 $ x2'"]),
        ("y ~ x1 # note", ["#"]),
        ("y ~ np.lag(x1)", ["np.lag(x1)", "AttributeError"]),
        ("y ~ [x1 for x1 in x2]", ["comprehension"]),
        ("y ~ when", ["'when'", "dates", "when`.dt"]),
        ("y ~ wave", ["'wave'"]),
        ("y ~ lists", ["'lists'"]),
        ("y ~ y + x1", ["response y is a predictor"]),
        ("y ~ C(g, levels=['a', 'b'])", ["'g'", "'c'", "'a', 'b'"]),
        (3, ["text"]),
    ],
)
def test_formula_errors(frame, text, words):
    frame = frame.assign(when=pd.Timestamp("2020-01-01"), wave=1j, lists=[[1]] * N)
    with pytest.raises(FormulaError) as error:
        formula.read(text, frame)
    message = str(error.value)
    assert all(word in message for word in words), message
    assert "\n" not in message and "_sgmc_" not in message


def test_a_dot_without_columns(frame):
    with pytest.raises(FormulaError, match="dot stands for no column"):
        formula.read("y ~ .", frame[["y"]])


def test_single_level_is_named(frame):
    with pytest.raises(DataError, match="'g' has a single level"):
        formula.read("y ~ x1 + g", frame.assign(g="a"))


def test_duplicate_predictors_are_fine(frame):
    built = design(formula.read("y ~ x1 + twin", frame.assign(twin=frame.x1)))
    np.testing.assert_array_equal(built[:, 1], built[:, 2])


@pytest.mark.parametrize(
    "data, words",
    [
        (pd.DataFrame({"y": []}), ["empty"]),
        (pd.DataFrame(), ["empty"]),
        (pd.DataFrame({0: [1], "y": [1]}), ["0", "text"]),
        (pd.DataFrame([[1, 2, 3]], columns=["y", "x", "x"]), ["'x'"]),
        ({"y": [0, 1], "x": [1]}, ["length"]),
        ([[1, 2]], ["DataFrame", "list"]),
    ],
)
def test_unusable_data(data, words):
    with pytest.raises(DataError) as error:
        formula.read("y ~ x", data)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("argument", ["weights", "offset", "exposure"])
def test_vector_arguments(frame, argument):
    frame = frame.assign(v=np.arange(N) + 1.0)
    for value in ("v", frame.v, frame.v.to_numpy(), frame.v.tolist(), frame.v.astype("Int64")):
        table = formula.read("y ~ x1", frame, **{argument: value})
        assert getattr(table, argument).tolist() == frame.v.tolist() and getattr(table, argument).dtype == np.float64
    for value, words in [
        (np.ones(3), [argument, "3", "60"]),
        (2.0, [argument, "shape"]),
        (frame.v.set_axis(np.arange(N) + 1), [argument, "index", "to_numpy"]),
        ("vv", [argument, "'vv'", "'v'"]),
        ("g", [argument, "numeric"]),
        (np.full(N, np.inf), [argument, "finite"]),
    ]:
        with pytest.raises(DataError) as error:
            formula.read("y ~ x1", frame, **{argument: value})
        assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("argument, value", [("weights", -1.0), ("weights", 0.0), ("exposure", 0.0), ("exposure", -1.0)])
def test_vector_ranges(frame, argument, value):
    with pytest.raises(DataError, match=argument):
        formula.read("y ~ x1", frame, **{argument: np.full(N, value)})
    assert formula.read("y ~ x1", frame, offset=np.full(N, value)).offset[0] == value


@pytest.mark.parametrize(
    "subset, words",
    [
        (np.ones(3, bool), ["subset", "3", "60"]),
        ("x1 > 99", ["no row"]),
        ("nothing > 1", ["nothing > 1"]),
        ("x1", ["true or false"]),
        (pd.Series(True, index=range(1, N + 1)), ["index"]),
    ],
)
def test_unusable_subsets(frame, subset, words):
    with pytest.raises(DataError) as error:
        formula.read("y ~ x1", frame, subset=subset)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("option", [{"missing": "keep"}, {"outcome": "count"}])
def test_unknown_options(frame, option):
    with pytest.raises(ArgumentError, match=next(iter(option))):
        formula.read("y ~ x1", frame, **option)


def test_odd_indexes_do_not_matter(frame):
    expected = design(formula.read("y ~ . + I(x1 * (g == 'a'))", frame))
    frame.index = [0, 1] * (N // 2)
    table = formula.read("y ~ . + I(x1 * (g == 'a'))", frame)
    np.testing.assert_array_equal(design(table), expected)
    assert table.index.equals(frame.index)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(frame, library):
    module = pytest.importorskip(library)
    pytest.importorskip("narwhals")
    other = module.DataFrame(frame.to_dict("list")) if library == "polars" else module.table(frame.to_dict("list"))
    table = formula.read("y ~ .", other)
    np.testing.assert_array_equal(design(table), design(formula.read("y ~ .", frame)))
    np.testing.assert_array_equal(table.spec.matrix(other), design(table))


def test_arrow_dtypes(rng):
    pa = pytest.importorskip("pyarrow")
    arrow = {
        "y": pa.array([True, False, None, False] * 5),
        "i": pa.array([1, None, 3, 4] * 5),
        "f": pa.array([1.5, 2.0, float("nan"), 3.0] * 5),
        "s": pa.array(["u", "v", "w", "w"] * 5),
        "d": pa.array([pd.Timestamp("2020-01-01").date()] * 20),
        "t": pa.array([pd.Timestamp("2020-01-01")] * 20),
        "n": pa.array([[1]] * 20),
        "k": pa.array(["p", "q", "p", "q"] * 5).dictionary_encode(),
    }
    data = pd.DataFrame({name: pd.Series(pd.arrays.ArrowExtensionArray(value)) for name, value in arrow.items()})
    with pytest.warns(ColumnsLeftOutWarning):
        table = formula.read("y ~ .", data)
    assert table.left_out == {"d": "dates", "t": "dates", "n": "neither numbers nor text"}
    assert table.rows.tolist() == [i for i in range(20) if i % 4 in (0, 3)]
    assert table.y.tolist() == [1, 0] * 5
    assert table.spec.exog_names == ["Intercept", "s[T.w]", "k[T.q]", "i", "f"]
