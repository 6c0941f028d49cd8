"""Predictions of new rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError

from .votes import flat, frame


def design(df, names):
    """The design of `frame`, by hand."""
    columns = {"Intercept": np.ones(len(df)), "g[T.b]": df.g == "b", "g[T.c]": df.g == "c"}
    return np.column_stack([columns.get(name, df.get(name)) for name in names]).astype(float)


@pytest.mark.extended("equal weights")
def test_predict_averages_over_draws(either):
    new = frame(30, seed=5)
    draws, w = flat(either)
    p = special.expit(design(new, either.names) @ draws.T)
    np.testing.assert_allclose(either.predict(new), p @ w, rtol=1e-10)
    plug_in = special.expit(design(new, either.names) @ either.params.to_numpy())
    assert np.abs(either.predict(new) - plug_in).max() > 1e-4
    table = either.get_prediction(new).summary_frame(alpha=0.2)
    assert table.columns.tolist() == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    np.testing.assert_allclose(table["mean"], p @ w, rtol=1e-10)
    np.testing.assert_allclose(
        table.mean_se, np.sqrt(((p - (p @ w)[:, None]) ** 2) @ w / (1 - (w**2).sum())), rtol=1e-9
    )
    for limit, share in (("mean_ci_lower", 0.1), ("mean_ci_upper", 0.9)):
        below = ((p < table[limit].to_numpy()[:, None]) * w).sum(axis=1)
        np.testing.assert_allclose(below, share, atol=0.002)


def test_predictions_carry_the_index(results):
    new = frame(4, seed=5).set_index(pd.Index(["p", "q", "r", "s"]))
    assert (
        results.predict(new).index.tolist()
        == results.get_prediction(new).summary_frame().index.tolist()
        == list("pqrs")
    )
    assert results.predict(new.iloc[:1]).iloc[0] == pytest.approx(
        results.predict(new).iloc[0], rel=1e-12
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how",
    [
        {},
        dict(sampler="mala"),
        dict(precondition="diag"),
        dict(precondition=None),
        dict(dtype="float32"),
    ],
    ids=str,
)
def test_predict_without_new_data_is_that_of_the_data(data, how):
    fit = sgmc.logit("y ~ x1 + g", data, seed=1, draws=1500, **how)
    tolerance = 1e-5 if "dtype" in how else 1e-9
    np.testing.assert_allclose(fit.predict(), fit.predict(data), rtol=tolerance)
    np.testing.assert_allclose(
        fit.get_prediction().summary_frame(),
        fit.get_prediction(data).summary_frame(),
        rtol=20 * tolerance,
    )
    # an intercept with a weak prior: nearly unbiased
    calibration = fit.predict().mean() - (data.y == "yes").mean()
    assert abs(calibration) < 0.01


def test_rows_with_gaps_are_predicted_as_missing(results):
    new = frame(5, seed=5)
    new.loc[2, "x1"] = np.nan
    found = results.predict(new)
    assert found.isna().tolist() == [False, False, True, False, False]


def test_new_data_that_do_not_suit(results):
    new = frame(5, seed=5)
    with pytest.raises(FormulaError, match="no column 'x10'.*did you mean 'x1'"):
        results.predict(new.drop(columns="x10"))
    with pytest.raises(FormulaError, match="'g' has the level 'd'; known are 'a', 'b', 'c'"):
        results.predict(new.assign(g="d"))
    with pytest.raises(FormulaError, match="x1"):
        results.predict(new.assign(x1="text"))
    assert len(results.predict({name: new[name].to_numpy() for name in new})) == 5


def test_predictions_of_arrays(data):
    X = data[["x1", "x10"]].to_numpy()
    fit = sgmc.Logit((data.y == "yes").to_numpy(), X).fit(seed=1)
    expected = special.expit(X[:3] @ fit.flat.T).mean(axis=1)
    np.testing.assert_allclose(fit.predict(X[:3]), expected, rtol=1e-10)
    np.testing.assert_allclose(fit.predict(X[0]), expected[:1], rtol=1e-10)
    np.testing.assert_allclose(fit.predict(), fit.predict(X), rtol=1e-9)
    with pytest.raises(DataError, match="must have 2 columns: x1, x2"):
        fit.predict(np.ones((3, 5)))


def test_an_offset_is_asked_for(data):
    fit, new = sgmc.logit("y ~ x1", data, offset="off", seed=1), frame(6, seed=5)
    with pytest.raises(ArgumentError, match="offset="):
        fit.predict(new)
    eta = np.column_stack([np.ones(6), new.x1]) @ fit.flat.T
    np.testing.assert_allclose(
        fit.predict(new, offset=new.off),
        special.expit(eta + new.off.to_numpy()[:, None]).mean(axis=1),
        rtol=1e-10,
    )
    np.testing.assert_allclose(
        fit.predict(new, offset=0), special.expit(eta).mean(axis=1), rtol=1e-10
    )
    np.testing.assert_allclose(
        fit.get_prediction(new, offset=1.0).summary_frame()["mean"],
        special.expit(eta + 1).mean(axis=1),
        rtol=1e-10,
    )
    np.testing.assert_allclose(fit.predict(), fit.predict(data, offset=data.off), rtol=1e-9)
    with pytest.raises(DataError, match="offset has 3 values, the new data have 6 rows"):
        fit.predict(new, offset=[1, 2, 3])
