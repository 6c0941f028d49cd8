"""Refusals of effects, of a fit in closed form."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.results.effects import groups, margeff, table

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

LEVELS = [f"g{k:02}" for k in range(30)]


@cache
def frame():
    """Numbers and labels of sixty rows."""
    rng = np.random.default_rng(4)
    df = pd.DataFrame({"x": rng.normal(size=60), "g": LEVELS * 2, "h": ["a", "b"] * 30})
    return df.assign(y=df.x + rng.normal(size=60))


@cache
def fitted(formula="y ~ x + h"):
    """A fit of few draws."""
    return sgmc.ols(formula, frame(), draws=100, progress=False)


@cache
def of_arrays():
    """The same, of arrays."""
    X = np.column_stack([np.ones(60), frame().x])
    return sgmc.OLS(frame().y.to_numpy(), X).fit(sampler="laplace", draws=100, progress=False)


def weightless():
    """Weights of which one level has none."""
    return (frame().h == "b").astype(float)


REFUSALS = {
    "weights of no group": (
        DataError,
        "the weights of h='a' are all 0",
        lambda: fitted().avg_predictions(frame(), by="h", weights=weightless()),
    ),
    "too many settings": (
        ArgumentError,
        "combinations of values, at most",
        lambda: fitted().predictions(variables={"x": np.arange(400.0), "h": ["a", "b"] * 20}),
    ),
    "a column in the place of a table": (
        DataError,
        "no such file or folder. For averages by a column give by='h'",
        lambda: fitted().avg_predictions("h"),
    ),
    "a grid of no rows": (
        DataError,
        "datagrid: the table has no rows",
        lambda: sgmc.datagrid(frame().head(0)),
    ),
    "a grid of no values": (
        ArgumentError,
        "datagrid: x has no values",
        lambda: sgmc.datagrid(frame(), x=[]),
    ),
    "a grid of too many rows": (
        ArgumentError,
        "datagrid: 16,000,000 rows, from 1 to 10,000,000 are made",
        lambda: sgmc.datagrid(frame(), x=range(4000), y=range(4000)),
    ),
    "a column without values": (
        DataError,
        "datagrid: column 'q' has no values",
        lambda: sgmc.datagrid(frame().assign(q=np.nan), x=[1.0]),
    ),
    "labels where the fit had numbers": (
        DataError,
        "'x' holds str in the data, and held numbers in the fit: convert it",
        lambda: fitted().slopes("x", data=frame().assign(x=frame().h.astype("str"))),
    ),
    "variables that are none": (
        ArgumentError,
        "variables=3 must be names of variables",
        lambda: fitted().comparisons(3),
    ),
    "nothing to compare": (
        ArgumentError,
        "variables: the model has no variable to compare values of",
        lambda: fitted("y ~ 1").comparisons(),
    ),
    "no slopes": (
        ArgumentError,
        "variables: the model has no variable to take slopes of",
        lambda: fitted("y ~ 1").slopes(),
    ),
    "too many pairs": (
        ArgumentError,
        "'g' has 30 levels, 435 comparisons; give two of them, variables={'g': ['g00', 'g01']}",
        lambda: fitted("y ~ x + g").comparisons({"g": "pairwise"}),
    ),
    "another number of columns": (
        DataError,
        "data has shape (60, 3); it must have 2 columns: const, x2",
        lambda: of_arrays().predictions(np.ones((60, 3))),
    ),
    "odds of numbers": (
        ArgumentError,
        "comparison='lnor' is of probabilities, and ols has none; use 'lnratio'",
        lambda: fitted().comparisons(comparison="lnor"),
    ),
    "too many curves": (
        ArgumentError,
        "30 curves are too many for one figure",
        lambda: fitted("y ~ x + g").plot_predictions("x", by="g"),
    ),
    "one row beside a smooth": (
        NotSupported,
        "at='mean' where effects of levels or smooths are beside the design",
        lambda: sgmc.ols("y ~ s(x)", frame(), draws=100, progress=False).get_margeff(at="mean"),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case, plt):
    error, message, call = REFUSALS[case]
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)


def test_more_groups_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(groups, "ROWS_MEMORY", 1)
    with pytest.raises(ArgumentError, match="by: 2 groups and more are too many to average by"):
        fitted().avg_predictions(frame(), by="h")


def test_infinite_predictions_have_no_average():
    steep = frame().assign(y=100 * frame().y)
    res = sgmc.ols("y ~ x", steep, prior="flat", progress=False)
    with pytest.raises(DataError, match="row 1 of the data has an infinite value"):
        res.avg_predictions(pd.DataFrame({"x": [1.0, 1e308]}))


def test_draws_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr(table, "DRAWS_KEPT", 1)
    with pytest.raises(ArgumentError, match="draws are with the table that the method returned"):
        fitted().predictions().draws


def test_medians_of_a_large_design_are_refused(monkeypatch):
    monkeypatch.setattr(margeff, "MOST_MEDIANS", 100)
    with pytest.raises(ArgumentError, match="at='median' sorts the whole design"):
        fitted().get_margeff(at="median")
