"""Functions in scope, and errors that name the column or argument."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

from sgmc import formula
from sgmc.errors import ArgumentError, ColumnsLeftOutWarning, DataError, FormulaError

from .designs import N, design


def double(x):
    return 2 * x


def test_scope(frame):
    scope = {"double": double, "np": None, "math": math, "k": 3.0, "x1": double, "mod": np}
    table = formula.read("y ~ double(x1) + x1 + mod.exp(x1) + np.log(x2)", frame, scope=scope)
    np.testing.assert_allclose(
        design(table)[:, 1:4], np.column_stack([2 * frame.x1, frame.x1, np.exp(frame.x1)])
    )
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
    assert (
        formula.read("y ~ triple(x1)", frame, scope=formula.caller_scope()).spec.exog_names[1]
        == "triple(x1)"
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("x1 + x2", ["no response"]),
        ("~ x1", ["no response"]),
        ("y ~", ["right side is empty"]),
        ("y ~ 0", ["no term"]),
        ("y ~ x1 - x1 - 1", ["no term"]),
        ("y ~ x3", ["'x3'", "neither a column nor a call", "columns are: y, x1"]),
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
        ("y ~ x2:offset(x1)", ["offset(x1) can only be added"]),
        ("y ~ offset(g)", ["offset(g)", "a number"]),
        ("y ~ offset(center(x1))", ["center() learns from all rows"]),
        ("y ~ offset(x1, x2)", ["one number a row"]),
        ("y ~ offset(.)", ["dot", "offset"]),
        ("y ~ poly(x1, 0)", ["whole number from 1 on"]),
        ("y ~ poly(g, 2)", ["poly() must be of one number"]),
        ("y ~ poly(y, 2)", ["more than 2 different values", "smaller degree"]),
        ("y ~ ns(x1, df=0)", ["df=0 must be a whole number from 1 on"]),
        ("y ~ ns(x1, knots=[99])", ["between the ends"]),
        ("y ~ relevel(g, ref='z')", ["no level 'z'", "'a', 'b'"]),
        ("cbind(y) ~ x1", ["1 parts", "cbind(successes, failures)"]),
        ("cbind(y, 1 - y) ~ y", ["response y is a predictor"]),
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
    with pytest.raises((FormulaError, DataError)) as error:
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
        assert getattr(table, argument).tolist() == frame.v.tolist()
        assert getattr(table, argument).dtype == np.float64
    for value, words in [
        (np.ones(3), [argument, "3", "60"]),
        (2.0, [argument, "shape"]),
        (frame.v.set_axis(np.arange(N) + 1), [argument, "different indices", "to_numpy"]),
        ("vv", [argument, "'vv'", "'v'"]),
        ("g", [argument, "numeric"]),
        (np.full(N, np.inf), [argument, "finite"]),
    ]:
        with pytest.raises(DataError) as error:
            formula.read("y ~ x1", frame, **{argument: value})
        assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize(
    "argument, value", [("weights", -1.0), ("weights", 0.0), ("exposure", 0.0), ("exposure", -1.0)]
)
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
        (pd.Series(True, index=range(1, N + 1)), ["different indices"]),
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
    other = (
        module.DataFrame(frame.to_dict("list"))
        if library == "polars"
        else module.table(frame.to_dict("list"))
    )
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
    data = pd.DataFrame(
        {name: pd.Series(pd.arrays.ArrowExtensionArray(value)) for name, value in arrow.items()}
    )
    with pytest.warns(ColumnsLeftOutWarning):
        table = formula.read("y ~ .", data)
    assert table.left_out == {"d": "dates", "t": "dates", "n": "neither numbers nor text"}
    assert table.rows.tolist() == [i for i in range(20) if i % 4 in (0, 3)]
    assert table.y.tolist() == [1, 0] * 5
    assert table.spec.exog_names == ["Intercept", "s[T.w]", "k[T.q]", "i", "f"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("y ~ 1 / x1", r"1 is the intercept.*I\(1 / x\)"),
        ("y ~ x1 ** .5", r"\*\* of terms takes a positive whole number.*I\(x \*\* 0.5\)"),
        ("y ~ C(g, 5)", r"C\(g, 5\): the second argument is no contrast: write Treatment"),
        ("y ~ C(g, 'sum')", "the second argument is no contrast"),
    ],
)
def test_arithmetic_and_contrasts_say_how_they_are_written(text, why):
    table = pd.DataFrame({"y": np.arange(9.0), "x1": np.arange(9.0) ** 2, "g": list("abc") * 3})
    with pytest.raises(FormulaError, match=why):
        formula.read(text, table)
