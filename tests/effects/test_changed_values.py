"""New rows and changed values that a fit cannot take: what is said names the column and the cure;
grids and averages of all variables leave out what has no mean and no step.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    ColumnsLeftOutWarning,
    DataError,
    ExtrapolationWarning,
    FormulaError,
)

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws

N = 300
HOW = dict(seed=1, draws=50, sampler="laplace", progress=False)


@cache
def table():
    """A number x, years, dates, exposures, outcomes."""
    rng = np.random.default_rng(6)
    df = pd.DataFrame({"x": rng.uniform(1, 9, N), "w": rng.uniform(1, 2, N)})
    df["year"] = rng.choice([2007, 2008, 2009], N, p=[0.5, 0.1, 0.4])
    df["d"] = pd.date_range("2020-01-01", periods=N)
    df["y"] = df.x + (df.year == 2009) + rng.normal(size=N)
    df["k"] = rng.poisson(2, N)
    return df


@cache
def fitted(formula, verb="ols", **how):
    """A short fit."""
    return getattr(sgmc, verb)(formula, table(), **HOW, **how)


@pytest.mark.parametrize("term", ["C(year)", "factor(year)", "C(year - 2000)", "C(year, Sum)"])
def test_a_number_that_is_a_factor_is_at_its_most_common_level(term):
    res = fitted(f"y ~ x + {term}")
    grid = sgmc.datagrid(res, x=[1, 2])
    assert grid.year.tolist() == [2007, 2007]
    df = table()[table().year == 2007].head(2).assign(x=[1.0, 2.0])
    np.testing.assert_allclose(res.predictions(grid).estimate, res.predict(df), rtol=1e-9)
    pytest.importorskip("matplotlib").use("Agg")
    assert res.plot_predictions("x") is not None


@pytest.mark.cover(0)
@pytest.mark.parametrize("term", ["year.astype(str)", "year.astype('category')", "C(year - 2000)"])
def test_numbers_that_an_expression_takes_as_levels_are_compared_as_levels(term):
    """The outcome is higher by one in 2009; steps of years would leave the levels."""
    res, right = fitted(f"y ~ x + {term}"), fitted("y ~ x + C(year)")
    for one in (res.avg_comparisons, res.avg_slopes, lambda: res.avg_comparisons({"year": "all"})):
        assert one().estimate.notna().all()
    table_ = res.avg_comparisons("year")
    assert table_.contrast.tolist() == right.avg_comparisons("year").contrast.tolist()
    np.testing.assert_allclose(
        table_.estimate, right.avg_comparisons("year").estimate, atol=1e-9, rtol=1e-9
    )


def test_intervals_of_numbers_keep_their_mean():
    grid = sgmc.datagrid(fitted("y ~ pd.cut(x, [0, 5, 10]) + w"), w=1)
    assert grid.x[0] == pytest.approx(table().x.mean())


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.predict(table().head(2).assign(x=[1.5, 20])),
        lambda r: r.avg_comparisons("x"),
    ],
)
def test_splines_tell_their_ends(call):
    low, high = table().x.min(), table().x.max()
    wanted = rf"bs\(\) of x, .* is defined from {low:.6g} to {high:.6g}, .* has .*lower_bound"
    with pytest.raises(FormulaError, match=wanted):
        call(fitted("y ~ bs(x, df=4)"))
    assert len(fitted("y ~ bs(x, df=4)").avg_comparisons({"x": [2, 8]})) == 1


@pytest.mark.parametrize(
    "formula, call, words",
    [
        ("y ~ np.log(x)", lambda r: r.avg_comparisons({"x": -20}), r"values of 'x' leave the dom"),
        ("y ~ pd.cut(x, [0, 5, 10])", lambda r: r.avg_comparisons({"x": [1, 20]}), "are 1 and 20"),
        (
            "y ~ pd.cut(x, [0, 5, 10])",
            lambda r: r.avg_predictions(variables={"x": [1, 20]}),
            "in row 0 they are 20; compare values inside it",
        ),
    ],
)
def test_changed_values_leave_the_domain(formula, call, words):
    with pytest.raises(DataError, match=words):
        call(fitted(formula))


def test_missing_values_are_not_compared():
    with pytest.raises(DataError, match="values of 'x' to compare are .* and nan: give"):
        fitted("y ~ x").avg_comparisons({"x": np.nan})


def test_a_row_that_lacks_a_variable_is_still_named():
    with pytest.raises(DataError, match="row 1 of the data lacks a variable"):
        fitted("y ~ np.log(x)").avg_comparisons("x", table().head(3).assign(x=[1, np.nan, 2]))


def test_dates_are_left_out_of_all_variables():
    res = fitted("y ~ x + d.dt.month")
    with pytest.warns(ColumnsLeftOutWarning, match="effects leave out 'd'.*variables={'d'"):
        found = res.avg_comparisons()
    assert found.term.tolist() == ["x"]
    with pytest.warns(ColumnsLeftOutWarning):
        assert res.avg_slopes().term.tolist() == ["x"]
    days = table().d[[0, 40]].tolist()
    change = res.avg_comparisons({"d": days}).estimate[0]
    assert change == pytest.approx(res.params["d.dt.month"], rel=1e-9)  # January to February


@pytest.mark.parametrize(
    "data, words",
    [
        (
            {"x": ["1", "2"]},
            r"column 'x' held numbers in the fit and holds text.*to_numeric\(df\['",
        ),
        ({"x": ["a", "b"]}, "column 'x' held numbers in the fit and holds text in the new data$"),
    ],
)
def test_text_in_the_place_of_numbers(data, words):
    with pytest.raises(FormulaError, match=words):
        fitted("y ~ x").predict(data)


@pytest.mark.parametrize("name", ["exposure", "offset"])
def test_numbers_stored_as_text_beside_rows(name):
    res = fitted("k ~ x", "poisson", **{name: "w"})
    with pytest.raises(DataError, match=rf"{name} must .*np.asarray\({name}, dtype=float\)"):
        res.predict(table().head(1), **{name: ["1"]})
    with pytest.raises(DataError, match=f"{name} must be numeric.*np.asarray"):
        sgmc.poisson("k ~ x", table(), **{name: ["1"] * N})
    with pytest.raises(DataError, match=f"{name} must be numeric.*pd.to_numeric"):
        sgmc.poisson("k ~ x", table().assign(w="1"), **{name: "w"})


def test_values_of_one_row():
    res = fitted("y ~ x")
    wanted = res.params["Intercept"] + 3 * res.params["x"]
    np.testing.assert_allclose(res.predict({"x": 3.0}), [wanted], rtol=1e-9)
    assert res.posterior_predict({"x": 3.0}).shape[1] == 1
    np.testing.assert_allclose(res.predictions({"x": 3.0}).estimate, [wanted], rtol=1e-9)
    with pytest.raises(FormulaError, match="no column 'x'"):
        res.predict({})


@pytest.mark.parametrize("method", ["predict", "get_prediction"])
def test_a_path_in_the_place_of_transform(method, tmp_path):
    path = tmp_path / "a.csv"
    table().to_csv(path, index=False)
    for data in (table(), str(path)):
        with pytest.raises(ArgumentError, match="transform='pred.csv' must be.*to='pred.csv'"):
            found = getattr(fitted("y ~ x"), method)(data, "pred.csv")
            found.summary_frame()
    with pytest.raises(ArgumentError, match="transform=3 must be True or False$"):
        fitted("y ~ x").predict(table(), 3)


def test_predictions_keep_the_index():
    res, df = fitted("y ~ x + C(year)"), table()
    for new in (df.iloc[[5]], df.iloc[[9, 3, 7]], df.set_index("d").iloc[4:6]):
        found = res.predict(new)
        assert found.index.equals(new.index)
        assert res.get_prediction(new).summary_frame().index.equals(new.index)
    gap = df.iloc[[9, 3, 7]].assign(x=[1.0, np.nan, 2.0])
    found = res.predict(gap)
    assert found.index.tolist() == [9, 3, 7] and found.isna().tolist() == [False, True, False]
    assert found[7] == pytest.approx(res.predict(gap.loc[[7]])[7])


@pytest.mark.parametrize("formula", ["y ~ x + bs(z, df=4)", "y ~ x + log(z - 0.5)"])
def test_all_variables_stay_in_the_domain_of_their_terms(formula):
    """Nobody has named a step: quartiles are compared instead, as they are by name."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(size=80), "z": rng.uniform(0.6, 1.6, 80)})
    df["y"] = df.x + df.z + rng.normal(size=80)
    fit = sgmc.ols(formula, df, sampler="laplace", seed=1)
    with pytest.warns(ExtrapolationWarning, match="compare the quartiles of 'z'"):
        pytest.importorskip("matplotlib").use("Agg")
        drawn = fit.plot_comparisons()
    assert [text.get_text() for text in drawn.get_yticklabels()][1] == "z: Q3 - Q1"
    low, high = np.quantile(df.z, [0.25, 0.75])
    right = fit.predict(df.assign(z=high)) - fit.predict(df.assign(z=low))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        found = fit.avg_comparisons().set_index("term").estimate
    if "bs(" in formula:  # of the log +1 stays inside
        assert found["z"] == pytest.approx(right.mean())
    with warnings.catch_warnings():  # slopes end where the rows do
        warnings.simplefilter("error")
        fit.avg_slopes()
