"""Numbers of results and hypotheses: every method against numpy on the draws."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import diagnostics
from sgmc.errors import ArgumentError

from .votes import FORMULA, N, flat


def test_moments(either):
    draws, w = flat(either)
    mean = w @ draws
    centred = draws - mean
    covariance = (centred.T * w) @ centred / (1 - (w**2).sum())
    np.testing.assert_allclose(either.params, mean, rtol=1e-12)
    np.testing.assert_allclose(either.cov_params(), covariance, rtol=1e-9)
    np.testing.assert_allclose(either.bse, np.sqrt(np.diag(covariance)), rtol=1e-9)
    np.testing.assert_allclose(either.prob_positive, w @ (draws > 0), rtol=1e-12)
    names = ["Intercept", "g[T.b]", "g[T.c]", "x1", "x10", "my var"]
    assert sorted(either.names) == sorted(names) and either.params.index.tolist() == either.names
    assert (
        either.cov_params().index.tolist() == either.cov_params().columns.tolist() == either.names
    )


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_intervals(either, alpha):
    interval = either.conf_int(alpha)
    assert interval.columns.tolist() == [0, 1] and interval.index.tolist() == either.names
    draws, w = flat(either)
    below = np.array(
        [
            [w[draws[:, j] < limit].sum() for limit in row]
            for j, row in enumerate(interval.to_numpy())
        ]
    )
    np.testing.assert_allclose(
        below, [[alpha / 2, 1 - alpha / 2]] * len(below), atol=2 / len(draws) ** 0.5 / 40
    )
    if either.weights is None:
        np.testing.assert_allclose(
            interval.T, np.quantile(draws, [alpha / 2, 1 - alpha / 2], axis=0), rtol=1e-12
        )
    pd.testing.assert_frame_equal(either.conf_int(alpha, cols=["x1"]), interval.loc[["x1"]])


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan")])
def test_alpha_out_of_range(results, alpha):
    for method in (
        results.conf_int,
        results.summary_frame,
        results.summary,
        results.get_prediction().summary_frame,
    ):
        with pytest.raises(ArgumentError, match="alpha"):
            method(alpha=alpha)


def test_summary_frame(either):
    table = either.summary_frame(alpha=0.1)
    assert table.columns.tolist() == ["mean", "sd", "[0.05", "0.95]", "P(>0)", "ess_bulk", "r_hat"]
    np.testing.assert_array_equal(table["mean"], either.params)
    np.testing.assert_array_equal(table[["[0.05", "0.95]"]], either.conf_int(0.1))
    np.testing.assert_array_equal(
        table[["sd", "P(>0)", "ess_bulk", "r_hat"]],
        np.column_stack([either.bse, either.prob_positive, either.ess(), either.rhat()]),
    )


def test_diagnostics_are_those_of_plain_arrays(either):
    for method in ("bulk", "tail", "mean", "sd"):
        np.testing.assert_array_equal(
            either.ess(method), diagnostics.ess(either.draws, method=method, weights=either.weights)
        )
    for method in ("mean", "sd"):
        np.testing.assert_array_equal(
            either.mcse(method), diagnostics.mcse(either.draws, method, weights=either.weights)
        )
    np.testing.assert_array_equal(either.rhat(), diagnostics.rhat(either.draws))
    assert (either.ess() > 400).all()
    assert (either.rhat() < 1.03).all()
    assert (either.mcse() < 0.1 * either.bse).all()
    assert 0 < either.ksd() < 0.3


def test_ksd_tells_the_posterior_from_draws_twice_as_wide(data):
    X, y = np.column_stack([np.ones(N), data.x1, data.x10]), (data.y == "yes").to_numpy(float)
    results = sgmc.Logit(y, X).fit(
        seed=1, prior={"*": sgmc.normal(0, 2), "const": sgmc.normal(0, 2)}
    )

    def ksd(draws):
        scores = (y - special.expit(draws @ X.T)) @ X - draws / 4
        return diagnostics.ksd(draws, scores, scale=results.bse.to_numpy())

    draws = results.draws[:, ::5].reshape(-1, 3)
    wide = results.params.to_numpy() + 2 * (draws - results.params.to_numpy())
    off = draws + 0.5 * results.bse.to_numpy()
    assert ksd(draws) < 0.5 * min(ksd(wide), ksd(off))
    # other draws, and a dense scale there
    assert ksd(draws) == pytest.approx(results.ksd(), rel=0.5)


def test_facts(results, data):
    assert results.nobs == N
    assert results.df_model == 5
    assert results.interrupted == ""
    assert results.warnings == []
    assert results.model.formula == FORMULA
    assert results.model.endog_names == "y"
    assert results.model.exog_names == results.names
    assert results.draws.shape == (4, 1000, 6) and results.seed == 1


@pytest.mark.parametrize("name", ["pvalues", "tvalues", "aic", "bic", "f_test", "wald_test"])
def test_what_a_posterior_has_not(results, name):
    assert not hasattr(results, name)
    with pytest.raises(AttributeError, match=f"{name} .*(prob_positive|hypothesis|compare)"):
        getattr(results, name)


def test_unknown_attributes(results):
    with pytest.raises(AttributeError, match="'RegressionResults' object has no attribute 'parms'"):
        results.parms


def test_to_frame(either):
    table = either.to_frame()
    assert table.index.names == ["chain", "draw"]
    assert len(table) == either.draws.shape[0] * either.draws.shape[1]
    np.testing.assert_array_equal(table.loc[(2, 7), either.names], either.draws[2, 7])
    assert ("weight" in table) == (either.weights is not None)
    if either.weights is not None:
        np.testing.assert_array_equal(table.loc[3, "weight"], either.weights)


def test_prior_summary(data):
    prior = {
        "x1": sgmc.student_t(4, 0, 1),
        "g": sgmc.laplace(0, 0.5),
        "my var": sgmc.normal(0, 1, autoscale=True),
    }
    table = sgmc.logit(FORMULA, data, prior=prior, seed=1, draws=2000).prior_summary()
    assert table.specified.to_dict() == {
        "Intercept": "normal(0, 2.5)",
        "g[T.b]": "laplace(0, 0.5)",
        "g[T.c]": "laplace(0, 0.5)",
        "x1": "student_t(4, 0, 1)",
        "x10": "normal(0, 2.5*)",
        "my var": "normal(0, 1*)",
    }
    assert table.used["my var"] == f"normal(0, {1 / data['my var'].std():.4g})"
    assert table.used["x1"] == "student_t(4, 0, 1)"
    assert table.note["Intercept"] == "at centred predictors" and table.note["x1"] == ""
    named = sgmc.logit(FORMULA, data, prior={"Intercept": "flat"}, seed=1).prior_summary()
    assert named.specified["Intercept"] == "flat" and named.note["Intercept"] == ""


# ---- hypotheses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement, weights, constant",
    [
        ("x1 > 0", {"x1": 1}, 0),
        ("x1 > x10", {"x1": 1, "x10": -1}, 0),
        ("2*x1 - 0.5 < x10/4", {"x1": 2, "x10": -0.25}, -0.5),
        ("`my var` + x1 >= 0.1", {"my var": 1, "x1": 1}, -0.1),
        ("g[T.b] > g[T.c]", {"g[T.b]": 1, "g[T.c]": -1}, 0),
        ("`g[T.b]` <= Intercept", {"g[T.b]": 1, "Intercept": -1}, 0),
        ("-(x1 + x10)*3 < -1e-1", {"x1": -3, "x10": -3}, 0.1),
        ("0 < x1", {"x1": -1}, 0),
        ("x10 - x1 > -my var", {"x10": 1, "x1": -1, "my var": 1}, 0),
    ],
)
def test_hypothesis(either, statement, weights, constant):
    draws, w = flat(either)
    difference = constant + draws @ [weights.get(name, 0) for name in either.names]
    found = either.hypothesis(statement)
    mean = w @ difference
    assert found["mean"] == pytest.approx(mean, rel=1e-10)
    assert found["sd"] == pytest.approx(
        np.sqrt(w @ (difference - mean) ** 2 / (1 - (w**2).sum())), rel=1e-9
    )
    assert found["prob"] == pytest.approx(
        w @ ((difference < 0) if "<" in statement else (difference > 0)), abs=1e-12
    )
    assert w[difference < found["[0.025"]].sum() == pytest.approx(0.025, abs=0.001)
    assert w[difference < found["0.975]"]].sum() == pytest.approx(0.975, abs=0.001)


@pytest.mark.parametrize(
    "statement, text",
    [
        ("x1 = 0", "probability zero"),
        ("x1", "must have one of"),
        ("0 < x1 > 1", "two signs of one direction"),
        ("0 < x1 < x10 < 1", "must have one of"),
        ("x1 > 0 & ", "must have one of"),
        ("x1 & x10 > 0", "must have one of"),
        ("x11 > 0", "did you mean 'x1"),
        ("x1 * x10 > 0", "not linear"),
        ("x1 ** 2 > 0", "not linear"),
        ("1 / x1 > 0", "not linear"),
        ("x1 + > 0", "cannot read"),
        ("x1 / 0 > 1", "not linear"),
        ("exp(x1) > 1", "not linear"),
        ("x1 > ", "cannot read"),
        ("__import__('os') > 0", "not linear"),
        ("x1 == 0", "must have one of"),
        ("True > x1", "not linear"),
    ],
)
def test_hypotheses_refused(results, statement, text):
    with pytest.raises(ArgumentError, match=f"hypothesis.*{re.escape(text)}"):
        results.hypothesis(statement)


@pytest.mark.parametrize(
    "names",
    [
        ["x1", "x1:x2", "x2"],
        ["a b", "b", "a"],
        ["np.log(x)", "x", "log"],
        ["_c0_", "_c1_", "x_c0_"],
        ["x", "x²", "größe"],
    ],
    ids=str,
)
def test_hypotheses_of_awkward_names(names):
    rng = np.random.default_rng(1)
    results = sgmc.Logit(rng.integers(0, 2, 200), rng.normal(size=(200, 3)), names=names).fit(
        seed=1
    )
    for j, name in enumerate(names):
        found = results.hypothesis(f"2*`{name}` > 0.1")
        assert found["mean"] == pytest.approx(2 * results.params.iloc[j] - 0.1, rel=1e-10)


def test_line_ends_in_labels_do_not_break_the_summary():
    frame = pd.DataFrame({"g": ["a\nb", "c\td"] * 10, "y": np.arange(20.0) ** 0.5})
    text = str(sgmc.ols("y ~ g", frame, seed=1).summary())
    assert "\ng[T.c\\td]  " in text and "\t" not in text
