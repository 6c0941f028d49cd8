"""Effects at the rows of a fit are those of the rows as they were: what happens to the table
afterwards does not count, or is refused by name where it is too large for a copy.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ArgumentError, DataError
from sgmc.results.effects import kept

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws

N = 300
HOW = dict(seed=1, draws=50, sampler="laplace", progress=False)


def columns():
    """Arrays of a table, made anew."""
    rng = np.random.default_rng(4)
    x, g = rng.normal(size=N), rng.choice(["a", "b", "c"], N)
    other = rng.integers(0, 2, N)
    return {"x": x, "g": g, "other": other, "y": 1 + 2 * x + (g == "b") + rng.normal(size=N)}


def shared(made):
    """A DataFrame over the arrays of a dict, as of pandas 2 each DataFrame may be."""
    return pd.DataFrame({k: pd.Series(v, copy=False) for k, v in made.items()}, copy=False)


TABLES = {"dict": lambda made: made, "frame": shared}


@pytest.mark.parametrize("kind", TABLES)
def test_changes_in_place_do_not_count(kind):
    made = columns()
    res = sgmc.ols("y ~ x + g", TABLES[kind](made), **HOW)
    intercept, b, c, slope = (res.params[k] for k in ("Intercept", "g[T.b]", "g[T.c]", "x"))
    eta = intercept + slope * made["x"] + b * (made["g"] == "b") + c * (made["g"] == "c")
    before = made["other"].copy()
    made["x"] += 10
    made["g"][:] = "a"
    made["other"][:] = 0
    np.testing.assert_allclose(res.predictions().estimate, eta, rtol=1e-9)
    found = res.avg_predictions(by="other")
    wanted = [eta[before == one].mean() for one in (0, 1)]
    np.testing.assert_allclose(found.estimate, wanted, rtol=1e-9)
    assert res.avg_predictions(by="g").g.tolist() == ["a", "b", "c"]
    assert sgmc.datagrid(res, g="a").x[0] == pytest.approx(made["x"].mean() - 10)


def test_arrays_and_weights_do_not_count():
    made = columns()
    X, w = np.column_stack([np.ones(N), made["x"]]), np.arange(1.0, N + 1)
    for design in (X, sparse.csr_array(X)):
        res = sgmc.OLS(made["y"], design, weights=w).fit(**HOW)
        wanted = np.average(X @ res.params[:2], weights=w)
        if sparse.issparse(design):
            design.data *= 7
        else:
            design[:, 1] += 10
        w[:] = w[::-1].copy()
        assert res.avg_predictions().estimate[0] == pytest.approx(wanted, rel=1e-9)
        X[:, 1], w = made["x"], np.arange(1.0, N + 1)


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_a_subset_and_missing_rows(small, monkeypatch):
    monkeypatch.setattr(kept, "MOST_COPIED", small)
    df = pd.DataFrame(columns())
    df.loc[5:20, "x"] = np.nan
    res = sgmc.ols("y ~ x + g", df, subset="y > 0", **HOW)
    used = df[df.x.notna() & (df.y > 0)]
    assert res._kept.n == len(used)
    np.testing.assert_allclose(res.predictions().estimate, res.predict(used), rtol=1e-9)
    by = res.avg_predictions(by="other").set_index("other").estimate
    np.testing.assert_allclose(by, res.predict(used).groupby(used.other).mean(), rtol=1e-9)


@pytest.mark.parametrize("name", ["x", "g"])
def test_what_is_too_large_for_a_copy_is_looked_at(name, monkeypatch):
    monkeypatch.setattr(kept, "MOST_COPIED", 100)
    made = columns()
    res = sgmc.ols("y ~ x + g", made, **HOW)
    wanted = res.predict({**made}).mean()
    assert res.avg_predictions().estimate[0] == pytest.approx(wanted, rel=1e-9)
    if name == "x":
        made["x"][7] += 1
    else:  # as pandas 2 would; text of pandas 3 cannot be changed in place
        res._kept.table["g"] = made["g"][::-1]
    with pytest.raises(DataError, match=f"column '{name}' was changed after the fit.*data="):
        res.avg_predictions()
    with pytest.raises(DataError, match=f"column '{name}' was changed"):
        sgmc.datagrid(res)


def test_other_columns_of_large_tables(monkeypatch):
    """Those that the formula does not need are looked at where averages are taken by them."""
    monkeypatch.setattr(kept, "SMALL_TABLE", 100)
    made = columns()
    res = sgmc.ols("y ~ x", made, **HOW)
    made["x"] += 1
    before = res.avg_predictions(by="other").estimate
    made["other"][:] = 0
    assert res.avg_predictions().estimate[0] == pytest.approx(np.mean(made["y"]), abs=0.2)
    with pytest.raises(DataError, match="column 'other' was changed"):
        res.avg_predictions(by="other")
    assert len(before) == 2


def test_large_arrays(monkeypatch):
    monkeypatch.setattr(kept, "MOST_COPIED", 100)
    made = columns()
    X = np.column_stack([np.ones(N), made["x"]])
    for design in (X, sparse.csr_array(X)):
        res = sgmc.OLS(made["y"], design).fit(**HOW)
        assert res.avg_predictions().estimate[0] == pytest.approx((X @ res.params[:2]).mean())
        (design.data if sparse.issparse(design) else design[:, 1])[:] += 1
        with pytest.raises(DataError, match="the design was changed after the fit"):
            res.avg_predictions()
        X[:, 1] = made["x"]
    X.setflags(write=False)  # lent: not to be changed, and not looked at
    assert sgmc.OLS(made["y"], X).fit(**HOW)._kept.sums == {}


def test_an_intercept_alone():
    res = sgmc.ols("y ~ 1", columns(), **HOW)
    assert res.avg_predictions(by="other").estimate.tolist() == pytest.approx(
        [res.params["Intercept"]] * 2
    )


@pytest.mark.extended
def test_copies_of_results_have_their_data():
    df = pd.DataFrame(columns())
    res = sgmc.ols("y ~ x", df, **HOW)
    wanted = res.predictions().estimate
    for one in (copy.copy(res), copy.deepcopy(res), copy.deepcopy([res])[0]):
        np.testing.assert_array_equal(one.predictions().estimate, wanted)
        pd.testing.assert_series_equal(one.fittedvalues, res.fittedvalues)
        np.testing.assert_array_equal(one.loo().elpd_i, res.loo().elpd_i)
        assert one.resume(draws=5).draws.shape[1] == 55
    deep = copy.deepcopy(res)
    deep.draws[:] = 0
    deep.remove_data()
    assert res.draws.any() and res._fit is not None
    with pytest.raises(ArgumentError, match="give data="):
        deep.predictions()
    with pytest.raises(ArgumentError, match="give data="):  # as documented
        pickle.loads(pickle.dumps(res)).predictions()


def test_the_forecast_counts_the_copies():
    df = pd.DataFrame(columns())
    data = sgmc.OLS.from_formula("y ~ x", df).data
    assert kept.copied_bytes(data) == 8 * N
    subset = sgmc.OLS.from_formula("y ~ x", df, subset="y > 0").data
    assert kept.copied_bytes(subset) == 8 * subset.n
