"""Outcomes of two classes and numeric ones; values that are not finite."""

import numpy as np
import pandas as pd
import pytest

from sgmc import formula
from sgmc.errors import DataError

from .designs import design

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


@pytest.mark.parametrize("values", [[1, 1, 1], [True, True, True]])
def test_outcomes_of_one_class_are_read(values):
    table = formula.read("y ~ 1", pd.DataFrame({"y": values}), outcome="binary")
    np.testing.assert_array_equal(table.y, [1, 1, 1])


def test_numeric_outcome(frame):
    table = formula.read("np.log(x2) ~ x1", frame, outcome="numeric")
    np.testing.assert_allclose(table.y, np.log(frame.x2))
    assert table.spec.levels is None and table.spec.endog_name == "np.log(x2)"


def test_response_missing_in_every_row_after_a_transformation(frame):
    with pytest.raises(DataError, match=r"no row is complete.*'np\.where\(.*' \(60\)"):
        formula.read("np.where(x2 < 0, x2, np.nan) ~ x1", frame, outcome="numeric")


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize(
    "text, name", [("y ~ .", "x1"), ("y ~ center(x1)", "center(x1)"), ("y ~ x2:x1", "x2:x1")]
)
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


@pytest.mark.parametrize(
    ("values", "levels", "coded"),
    [
        (["a"] * 3, ("not a", "a"), 1.0),
        (pd.Categorical(["a"] * 3, categories=["a", "b"]), ("a", "b"), 0.0),
        (pd.Categorical(["b"] * 3, categories=["a", "b"]), ("a", "b"), 1.0),
        ([False] * 3, (False, True), 0.0),
    ],
)
def test_outcomes_of_one_level(values, levels, coded):
    """Both categories count where there are two; else the label that there is, is success."""
    table = formula.read("y ~ x", pd.DataFrame({"y": values, "x": [1.0, 2.0, 3.0]}))
    assert table.spec.levels == levels
    np.testing.assert_array_equal(table.y, [coded] * 3)
