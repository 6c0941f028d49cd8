"""Counts of successes and failures as formulas, tables and arrays have them,
and what is refused by name.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.errors import DataError, FormulaError

from .counts import BUDWORM, MOTHS, assert_same_posterior


def read(formula, table, **how):
    """The data of a logit."""
    return sgmc.Logit.from_formula(formula, table, **how).data


def test_both_columns_stay_out_of_the_dot():
    model = read("dead + alive ~ .", BUDWORM)
    assert model.names == ["Intercept", "sex[T.M]", "ldose"]
    assert model.endog_name == "dead + alive"
    assert model.given == ("trials",)
    np.testing.assert_array_equal(model.y, BUDWORM.dead)
    np.testing.assert_array_equal(model.trials, np.full(12, 20.0))


@pytest.mark.parametrize("dtype", ["uint8", "Int8", "float32", "Float64", "object", "decimal"])
def test_types_of_counts(dtype):
    """250 + 250 is past what eight bits hold,
    and a missing value on either side leaves the row out.
    """
    table = pd.DataFrame({"my yes": [250, 3, 0, 120], "no": [250, 100, 7, 1], "x": [1.0, 2, 3, 5]})
    if dtype == "Int8":
        table = table.assign(**{"my yes": [120, 3, 0, 120], "no": [120, 100, 7, 1]})
    cast = (lambda c: c.map(Decimal)) if dtype == "decimal" else (lambda c: c.astype(dtype))
    table = table.assign(**{name: cast(table[name]) for name in ("my yes", "no")})
    model = read("`my yes` + no ~ x", table)
    assert model.trials.tolist() == [240.0 if dtype == "Int8" else 500.0, 103.0, 7.0, 121.0]
    assert model.y[3] == 120
    if dtype != "uint8":
        gone = table.astype({"no": object} if dtype in ("object", "decimal") else {})
        gone.loc[1, "no"] = None
        assert read("`my yes` + no ~ x", gone).trials.tolist() == [model.trials[0], 7.0, 121.0]
        assert read("`my yes` + no ~ x", gone).dropped == 1


def test_polars_columns_of_counts():
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(
        read(MOTHS, polars.from_pandas(BUDWORM)).trials, np.full(12, 20.0)
    )


def test_sums_that_are_arithmetic():
    table = pd.DataFrame({"a": [0, 1, 0, 0], "b": [1, 0, 0, 0], "x": [1.0, 2, 3, 5]})
    assert read("I(a + b) ~ x", table).trials is None
    assert read("I(a + b) ~ x", table).y.tolist() == [1, 1, 0, 0]
    assert read("a + b + 0 * x ~ x", table).trials is None
    assert sgmc.Poisson.from_formula("a + b ~ x", table).data.trials is None
    assert read("a + b ~ x", table).trials.tolist() == [1, 1, 0, 0]


COUNTED = pd.DataFrame(
    {"a": [3, 1, 2, 0], "b": [1, 2, 2, 5], "x": [1.0, 2, 3, 5], "t": list("pqrs")}
)


@pytest.mark.parametrize(
    "formula, change, error, message",
    [
        (
            "a + b ~ x",
            dict(b=[1, -2, 2, 5]),
            DataError,
            "column 'b' must hold counts, 0, 1, 2, ..; it has -2",
        ),
        (
            "a + b ~ x",
            dict(a=[0.5, 1, 2, 0]),
            DataError,
            "column 'a' must hold counts, 0, 1, 2, ..; it has 0.5",
        ),
        (
            "a + b ~ x",
            dict(a=[np.inf, 1, 2, 0]),
            DataError,
            "column 'a' must hold counts, 0, 1, 2, ..; it has inf",
        ),
        (
            "a + t ~ x",
            {},
            DataError,
            "column 't' of the response 'a . t' must hold counts, it holds 'p', 'q', 'r', ...",
        ),
        (
            "a + b ~ x",
            dict(b=[True, False, True, True]),
            DataError,
            r"must hold counts, it holds True, False; for arithmetic write I\(a",
        ),
        ("a + a ~ x", {}, DataError, "has the same column as successes and failures"),
        ("a + b ~ x", dict(a=0, b=0), DataError, "the counts 'a . b' are 0 in every row used"),
        ("a + b ~ x + b", {}, FormulaError, "the response b is a predictor too"),
        ("a + c ~ x", {}, FormulaError, "'c' is neither a column"),
        (
            "a / (a + b) ~ x",
            {},
            DataError,
            (
                "must be 0 or 1, it holds 0.75, .*: of shares give the counts, 'successes . "
                "failures ~ ...'"
            ),
        ),
        (
            "a ~ x",
            {},
            DataError,
            "must be 0 or 1, it holds 3, 1, 2, ...: compare, as in 'a > 0 ~ ...'",
        ),
    ],
    ids=range(11),
)
def test_counts_that_are_none_are_refused_by_name(formula, change, error, message):
    with pytest.raises(error, match=message):
        read(formula, COUNTED.assign(**change))


def test_arrays_of_two_columns_are_counts():
    X = sm.add_constant(BUDWORM[["ldose"]])
    frame = BUDWORM[["dead", "alive"]]
    model = sgmc.Logit(frame, X)
    assert model.endog_names == "dead + alive"
    assert sgmc.Logit(frame.to_numpy(), X.to_numpy()).endog_names == "successes + failures"
    how = dict(seed=1, draws=500)
    listed = sgmc.Logit(frame.to_numpy().tolist(), X.to_numpy(), names=list(X))
    np.testing.assert_array_equal(model.fit(**how).draws, listed.fit(**how).draws)
    assert_same_posterior(model.fit(**how), sgmc.logit("dead + alive ~ ldose", BUDWORM, **how))


@pytest.mark.parametrize(
    "model, endog, message",
    [
        (
            sgmc.Poisson,
            COUNTED[["a", "b"]],
            r"endog has shape \(4, 2\); it must be one number a row",
        ),
        (sgmc.Logit, COUNTED[["a", "b", "x"]], r"endog has shape \(4, 3\)"),
        (
            sgmc.Logit,
            COUNTED[["a", "b"]].assign(b=-1),
            "endog: column 'b' must hold counts, 0, 1, 2, ..; it has -1",
        ),
        (
            sgmc.Logit,
            [[1, 2.5], [1, 2], [0, 3], [1, 1]],
            "endog: column 'failures' must hold counts, 0, 1, 2, ..; it has 2.5",
        ),
        (
            sgmc.Logit,
            [[1, np.nan], [1, 2], [0, 3], [1, 1]],
            "endog: column 'failures' has missing or infinite values",
        ),
        (sgmc.Logit, COUNTED[["a", "b"]].set_index(COUNTED.index + 1), "different indices"),
    ],
    ids=range(6),
)
def test_arrays_that_are_no_counts_are_refused_by_name(model, endog, message):
    with pytest.raises(DataError, match=message):
        model(endog, COUNTED[["x"]])
