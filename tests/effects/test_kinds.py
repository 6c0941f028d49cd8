"""Effects of outcomes that are kinds, of two designs, and of censored times."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported


@cache
def table(n=300):
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    df["g"] = rng.choice(list("ab"), n)
    latent = 1.5 * df.x + rng.logistic(size=n)
    df["grade"] = pd.cut(latent, [-np.inf, -1, 1, np.inf], labels=["low", "mid", "high"])
    own = rng.random(n) < 1 / (1 + np.exp(1 - df.z))
    df["count"] = np.where(own, 0, rng.poisson(np.exp(0.8 + 0.4 * df.x)))
    df["time"], df["event"] = rng.weibull(1.5, n) * np.exp(0.5 * df.x), rng.random(n) < 0.7
    return df


FORMULAS = {
    "ordinal": "grade ~ x + g",
    "zeroinflated": "count ~ x + g | z",
    "survreg": "Surv(time, event) ~ x",
}


@cache
def fitted(verb):
    return getattr(sgmc, verb)(FORMULAS[verb], table(), seed=1, draws=2000)


@pytest.mark.extended
def test_levels_are_named():
    """Averages are those of the predicted probabilities, a line a level."""
    res = fitted("ordinal")
    found = res.avg_predictions()
    assert found["group"].tolist() == ["low", "mid", "high"]
    np.testing.assert_allclose(found["estimate"], res.fittedvalues.mean(), rtol=1e-9)
    rows = res.predictions(table().head(2))
    assert rows["group"].tolist() == ["low"] * 2 + ["mid"] * 2 + ["high"] * 2
    slopes = res.avg_slopes("x")
    assert slopes["group"].tolist() == ["low", "mid", "high"]
    assert slopes["estimate"].sum() == pytest.approx(0, abs=1e-6)
    up = table().assign(x=table().x + 1)
    wanted = res.predict(up).mean() - res.predict(table()).mean()
    np.testing.assert_allclose(res.avg_comparisons("x")["estimate"], wanted, rtol=1e-9)


@pytest.mark.extended
def test_both_designs_move():
    """Each variable by the part that it is in; a level of a factor as predicted."""
    res, df = fitted("zeroinflated"), table()
    assert res.avg_predictions()["estimate"][0] == pytest.approx(res.fittedvalues.mean())
    for name, change in {"x": df.x + 1, "z": df.z + 1}.items():
        moved = df.assign(**{name: change})
        wanted = (res.predict(moved) - res.predict(df)).mean()
        assert res.avg_comparisons(name)["estimate"][0] == pytest.approx(wanted)
    wanted = (res.predict(df.assign(g="b")) - res.predict(df.assign(g="a"))).mean()
    assert res.avg_comparisons("g")["estimate"][0] == pytest.approx(wanted)


def test_times_have_medians():
    res = fitted("survreg")
    assert res.avg_predictions()["estimate"][0] == pytest.approx(res.fittedvalues.mean())


@pytest.mark.parametrize("verb", ["ordinal", "zeroinflated"])
def test_several_linear_predictors_are_refused(verb):
    with pytest.raises(ArgumentError, match=f"type='link': {verb} has several"):
        fitted(verb).avg_predictions(type="link")


@pytest.mark.parametrize("verb", FORMULAS)
def test_what_is_not_there_is_said(verb):
    if verb != "zeroinflated":
        with pytest.raises(NotSupported, match="r2 needs outcomes that are"):
            fitted(verb).r2()


def test_marginal_effects_are_of_each_level():
    """Those of single columns are average slopes, and add up to zero over levels."""
    res = fitted("ordinal")
    found = res.get_margeff().summary_frame()["dy/dx"].xs("x", level="exog")
    slopes = res.avg_slopes("x")["estimate"].to_numpy()
    np.testing.assert_allclose(found.to_numpy(), slopes, rtol=1e-4)
    assert found.sum() == pytest.approx(0.0, abs=1e-10)
    dummies = res.get_margeff(dummy=True).summary_frame()["dy/dx"].xs("x", level="exog")
    np.testing.assert_allclose(dummies, found, rtol=1e-12)  # x has no dummy


@pytest.mark.parametrize("at", ["overall", "mean"])
def test_marginal_effects_of_times_are_on_the_median(at):
    """Of the Weibull law t = exp(x . theta) (log 2)^sigma, whose slopes are theta t."""
    res = fitted("survreg")
    X, sigma = res.model.spec.matrix(table()), res.flat[:, -1]
    X = X.mean(axis=0)[None] if at == "mean" else X
    median = np.exp(X @ res.flat[:, : X.shape[1]].T) * np.log(2) ** sigma
    j = res.names.index("x")
    found = res.get_margeff(at=at)
    np.testing.assert_allclose(
        found.draws[:, found.names.index("x")],
        res.flat[:, j] * median.mean(axis=0),
        rtol=1e-5,
    )
    if at == "overall":
        slopes = res.avg_slopes("x")["estimate"][0]
        assert found.summary_frame()["dy/dx"]["x"] == pytest.approx(slopes, rel=1e-4)


def test_ratios_are_of_slopes():
    """Thresholds are none; of two designs both are, under one name."""
    names = list(fitted("ordinal").summary_frame(exponentiate=True).index)
    assert names == ["g[T.b]", "x"]
    found = fitted("zeroinflated").summary_frame(exponentiate=True)
    assert found.columns[0] == "ratio" and "zero:z" in found.index


def test_a_dot_is_not_both_parts():
    with pytest.raises(ArgumentError, match="a dot would stand for both parts"):
        fitted("zeroinflated").update("~ . + g", table())
