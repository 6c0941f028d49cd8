"""Survival functions, quantiles and predictions of survival models, and what is refused of them."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.arguments.data.survival import RIGHT
from sgmc.errors import ArgumentError, NotSupported

from .tables import ERRORS, FORMULAS, log_density, outcomes, remissions, simulated

DISTS = list(ERRORS)


@cache
def fitted(dist="weibull"):
    """A fit of Gehan's table."""
    return sgmc.survreg("Surv(time, event) ~ placebo", remissions(), dist=dist, seed=1)


def parameters(results, dist):
    """Draws of the predictors of both groups, and of sigma."""
    draws = results.flat
    eta = np.column_stack([draws[:, 0], draws[:, 0] + draws[:, 1]])
    return eta, np.ones(len(draws)) if dist == "exponential" else draws[:, 2]


NEW = pd.DataFrame({"placebo": [0, 1]}, index=["drug", "placebo"])


@pytest.mark.parametrize("dist", DISTS)
def test_survival_and_quantiles_are_averages_over_draws(dist):
    results = fitted(dist)
    eta, sigma = parameters(results, dist)
    found = results.survival([5.0, 0.0, 20.0], NEW)
    assert found.index.names == ["row", "time"]
    for place, row in enumerate(NEW.index):
        for t in (5.0, 20.0):
            curve = ERRORS[dist].sf((np.log(t) - eta[:, place]) / sigma)
            one = found.loc[(row, t)]
            assert one.survival == pytest.approx(curve.mean(), rel=1e-9)
            ends = np.quantile(curve, [0.025, 0.975])
            np.testing.assert_allclose(one[["ci_lower", "ci_upper"]], ends, atol=2e-3)
        assert found.loc[(row, 0.0)].survival == 1
    some = results.quantiles([0.25, 0.5], NEW, alpha=0.2)
    for place, row in enumerate(NEW.index):
        times = np.exp(eta[:, place] + sigma * ERRORS[dist].ppf(0.25))
        one = some.loc[(row, 0.25)]
        assert one["quantile"] == pytest.approx(times.mean(), rel=1e-9)
        np.testing.assert_allclose(
            one[["ci_lower", "ci_upper"]], np.quantile(times, [0.1, 0.9]), rtol=2e-3
        )
    medians = some.xs(0.5, level="p")["quantile"]
    np.testing.assert_allclose(results.predict(NEW), medians, rtol=1e-12)
    frame = results.get_prediction(NEW).summary_frame()
    np.testing.assert_allclose(frame["mean"], medians, rtol=1e-12)
    assert (frame.obs_ci_lower < frame.mean_ci_lower).all()


@pytest.mark.parametrize("dist", DISTS)
def test_simulated_times_are_of_the_survival_functions(dist):
    """The share beyond 10 weeks of 4,000 draws within five standard errors."""
    results = fitted(dist)
    share = (results.posterior_predict(NEW) > 10).mean(axis=0)
    expected = results.survival(10.0, NEW).survival.to_numpy()
    assert (np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / 4000)).all()


def test_rows_of_the_fit_are_in_their_order():
    results, frame = fitted(), remissions()
    found = results.survival(10.0)
    again = results.survival(10.0, frame)
    np.testing.assert_allclose(found.survival, again.survival, rtol=1e-10)
    np.testing.assert_allclose(results.fittedvalues, results.predict(frame), rtol=1e-10)


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", list(FORMULAS))
def test_likelihoods_and_loo_count_what_is_known(kind):
    frame = simulated("lognormal", 50, 2, kind)
    results = sgmc.survreg(FORMULAS[kind], frame, dist="lognormal", seed=1)
    y, draws = outcomes(frame, kind), results.flat
    X = np.column_stack([np.ones(50), frame.a, frame.b])
    expected = log_density("lognormal", y, draws[:, :3] @ X.T, draws[:, 3:])
    np.testing.assert_allclose(results.log_lik(), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(results.log_lik(frame, y), expected, rtol=1e-8, atol=1e-8)
    with pytest.raises(ArgumentError, match="is not enough, as times may be censored"):
        results.log_lik(frame, frame.columns[-1])
    lpd = (np.log(np.exp(expected).mean(axis=0))).sum()
    loo = results.loo()
    assert lpd - 10 < loo.elpd < lpd and loo.p > 1


def test_models_of_the_same_times_are_compared():
    table = sgmc.compare(weibull=fitted(), loglogistic=fitted("loglogistic"))
    assert len(table) == 2
    other = sgmc.survreg("time ~ placebo", remissions(), seed=1)
    with pytest.raises(ArgumentError, match="not of the same outcomes"):
        sgmc.compare(fitted(), other)


def test_cox_snell_residuals_are_exponential_where_the_model_is_right():
    """Their sum is about the number of events (Lawless 2003, section 6.2.2)."""
    frame = simulated("weibull", 400, 3)
    results = sgmc.survreg(FORMULAS["right"], frame, seed=1)
    residuals = results.resid_cox_snell
    assert abs(residuals.sum() / frame.event.sum() - 1) < 0.05
    wrong = sgmc.survreg("Surv(time) ~ a + b", frame, seed=1).resid_cox_snell
    assert abs(wrong.sum() / frame.event.sum() - 1) > 0.2
    with pytest.raises(NotSupported, match="observed or censored on the right"):
        one = simulated("weibull", 60, 1, "interval")
        assert sgmc.survreg(FORMULAS["interval"], one, seed=1).resid_cox_snell is None


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
def test_labels_of_rows_are_those_of_the_table():
    frame = simulated("weibull", 40, 3).set_index(np.arange(40) + 100)
    how = dict(sampler="laplace", draws=50, seed=1)
    fit = sgmc.survreg(FORMULAS["right"], frame, **how)
    assert fit.resid_cox_snell.index.equals(frame.index)
    table = fit.survival([1.0, 2.0])
    assert table.index.get_level_values("row").unique().equals(frame.index)
    polars = pytest.importorskip("polars")
    other = sgmc.survreg(FORMULAS["right"], polars.DataFrame(frame.to_dict("list")), **how)
    assert isinstance(other.resid_cox_snell, polars.Series)
    np.testing.assert_array_equal(other.resid_cox_snell.to_numpy(), fit.resid_cox_snell)
    found = other.survival([1.0, 2.0])
    assert found.columns == ["row", "time", "survival", "ci_lower", "ci_upper"]
    np.testing.assert_array_equal(found["survival"].to_numpy(), table.survival)


@pytest.mark.parametrize(
    "what",
    ["resid_response", "resid_pearson", "resid_deviance", "deviance", "null_deviance", "pp_check"],
)
def test_what_censored_times_do_not_have_is_refused(what):
    with pytest.raises(NotSupported, match=f"{what} needs .* survival times may be censored"):
        found = getattr(fitted(), what)
        found()


def test_other_families_have_no_survival_functions():
    results = sgmc.ols("time ~ placebo", remissions(), seed=1)
    for call in (
        lambda: results.survival(1.0),
        lambda: results.quantiles(0.5),
        lambda: results.resid_cox_snell,
    ):
        with pytest.raises(NotSupported, match="needs survival times, and ols has other outcomes"):
            call()


def test_bad_times_and_probabilities():
    with pytest.raises(ArgumentError, match="times=-1 must be 0 or more"):
        fitted().survival([1.0, -1.0], NEW)
    with pytest.raises(ArgumentError, match="p=1 must lie between 0 and 1"):
        fitted().quantiles([0.5, 1.0], NEW)


def test_saved_results_go_on(tmp_path):
    results = fitted("loglogistic")
    results.save(tmp_path / "r.sgmc")
    again = sgmc.load(tmp_path / "r.sgmc")
    pd.testing.assert_frame_equal(
        again.survival([3.0, 9.0], NEW), results.survival([3.0, 9.0], NEW)
    )
    assert again.model.family.dist == "loglogistic"
    longer = again.resume(draws=200, data=remissions())
    assert np.isfinite(longer.params).all()
    text = str(again.summary())
    assert "Log-logistic survival" in text and "Surv(time, event)" in text
    assert "Known, not sampled: sigma = 1." in str(fitted("exponential").summary())


def test_a_fit_says_how_times_are_censored():
    text = str(fitted().summary())
    assert "Of the times 12 are censored on the right." in text
    frame = simulated("loglogistic", 200, 1, "interval")
    y = outcomes(frame, "interval")
    text = str(sgmc.survreg(FORMULAS["interval"], frame, seed=1).summary())
    assert f"{(y.imag == RIGHT).sum()} are censored on the right" in text.replace("\n ", "")
    assert f"{(y.imag > 0).sum()} are known between two ends" in text.replace("\n ", "")


@pytest.mark.extended
def test_group_terms_find_the_spread_of_groups():
    """30 groups of 12: the sd of effects, 0.5, within 0.15; predictions have the effects."""
    rng = np.random.default_rng(1)
    g = np.repeat(np.arange(30), 12)
    effect = 0.5 * rng.normal(size=30)
    x = rng.normal(size=360)
    time = np.exp(1 + 0.4 * x + effect[g] + 0.6 * np.log(rng.exponential(size=360)))
    end = rng.exponential(8.0, size=360)
    frame = pd.DataFrame(
        {"t": np.minimum(time, end), "event": (time <= end).astype(int), "x": x, "g": g}
    )
    results = sgmc.survreg("Surv(t, event) ~ x + (1 | g)", frame, seed=1)
    assert abs(results.params["sd(1|g)"] - 0.5) < 0.15
    assert abs(results.params["x"] - 0.4) < 0.15 and abs(results.params["sigma"] - 0.6) < 0.06
    medians = results.quantiles(0.5, frame.groupby("g").head(1).assign(x=0.0))["quantile"]
    assert np.corrcoef(np.log(medians), effect)[0, 1] > 0.85
    assert np.isfinite(results.loo().elpd)
    new = results.survival(2.0, pd.DataFrame({"x": [0.0], "g": [99]}), new_levels="sample")
    assert 0.2 < new.survival.iloc[0] < 0.8


@pytest.mark.parametrize("event", ["status == 2", "state == 'dead'", "event"])
def test_rows_without_a_status_are_left_out(event):
    """A comparison of what is missing is false: such times would count as censored."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"time": rng.exponential(size=300) + 0.1, "status": rng.integers(1, 3, 300)})
    df["status"] = df.status.astype(float)
    df["state"] = np.where(df.status == 2, "dead", "alive").astype(object)
    df["event"] = (df.status == 2).astype("Int64")
    df.loc[:49, ["status", "state", "event"]] = np.nan, None, pd.NA
    found = sgmc.survreg(f"Surv(time, {event}) ~ 1", df, seed=1)
    complete = sgmc.survreg(f"Surv(time, {event}) ~ 1", df.dropna(), seed=1)
    assert found.nobs == complete.nobs == 250
    np.testing.assert_allclose(found.params, complete.params)
