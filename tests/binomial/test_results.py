"""Results of counts of successes: statsmodels' figures, predictions that know of trials, files and
runs that go on.
"""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.genmod.generalized_linear_model import GLMResults

import sgmc
from sgmc.errors import ArgumentError, DataError
from sgmc.results.outcomes.predicted import residuals

from .counts import BUDWORM, CASES, LINK, MOTHS, data, fitted, pieces


@pytest.mark.parametrize(
    "name",
    ["star98 logit", "womensrole probit", "beetles cloglog", "beetles loglog", "beetles cauchit"],
)
def test_figures_are_statsmodels_at_the_same_parameters(name, monkeypatch):
    results = fitted(name)
    X, y, n = pieces(results, data(CASES[name][0]))
    tried = n > 0
    model = sm.GLM(
        np.column_stack([y, n - y])[tried],
        X[tried],
        family=sm.families.Binomial(LINK[CASES[name][1]]),
    )
    there = GLMResults(model, results.params.to_numpy(), np.eye(X.shape[1]), 1.0)
    assert results.llf == pytest.approx(model.loglike(results.params.to_numpy()), rel=1e-9)
    assert results.deviance == pytest.approx(there.deviance, rel=1e-9)
    assert results.null_deviance == pytest.approx(there.null_deviance, rel=1e-6)
    rows = residuals.fitted_rows
    # one draw: nothing to average
    monkeypatch.setattr(residuals, "fitted_rows", lambda *a: rows(*a).at_mean())
    for what in ("fittedvalues", "resid_response", "resid_pearson", "resid_deviance"):
        np.testing.assert_allclose(
            getattr(results, what)[tried], getattr(there, what), rtol=1e-7, atol=1e-9
        )


def test_predictions_are_probabilities_and_outcomes_counts():
    results, new = fitted("budworm logit"), BUDWORM.iloc[[2, 9]]
    p = results.predict(new)
    draws = results.posterior_predict(new, trials=[20, 1000])
    assert list(p.index) == [2, 9] and ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(draws.mean(axis=0), [20 * p[2], 1000 * p[9]], rtol=0.02)
    spread = results.get_prediction(new).summary_frame()["mean_se"]
    sd = np.sqrt(
        [
            20 * p[2] * (1 - p[2]) + 380 * spread[2] ** 2,
            1000 * p[9] * (1 - p[9]) + 999_000 * spread[9] ** 2,
        ]
    )
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.06)
    frame = results.get_prediction(new, trials=20).summary_frame()
    assert (frame["obs_ci_lower"] < 20 * frame["mean"]).all()
    assert (frame["obs_ci_upper"] > 20 * frame["mean"]).all()
    assert "obs_ci_lower" in results.get_prediction().summary_frame()
    assert "obs_ci_lower" not in results.get_prediction(new).summary_frame()
    assert results.posterior_predict().shape == (4000, 12)
    assert results.posterior_predict().max() <= 20


@pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.InfluenceWarning"
)
def test_log_likelihoods_of_rows():
    results = fitted("budworm logit")
    X, y, n = pieces(results, BUDWORM)
    expected = stats.binom.logpmf(y, n, 1 / (1 + np.exp(-results.flat @ X.T)))
    np.testing.assert_allclose(results.log_lik(), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        results.log_lik(BUDWORM, "dead", trials=n), expected, rtol=1e-8, atol=1e-10
    )
    loo = results.loo()
    assert loo.elpd == pytest.approx(loo.elpd_i.sum()) and loo.n == 12 and 1 < loo.p < 4
    assert list(sgmc.compare(one=loo, other=fitted("budworm cauchit").loo()).columns)[0] == "elpd"
    other = sgmc.logit("dead + alive ~ ldose", BUDWORM.assign(alive=BUDWORM.alive + 1), seed=1)
    with pytest.raises(ArgumentError, match="not of the same outcomes"):
        sgmc.compare(results, other)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda r: r.posterior_predict(BUDWORM),
            ArgumentError,
            "posterior_predict needs trials= for the new rows",
        ),
        (lambda r: r.log_lik(BUDWORM, "dead"), ArgumentError, "log_lik needs trials="),
        (
            lambda r: r.posterior_predict(BUDWORM, trials="n"),
            ArgumentError,
            r"trials='n': give the numbers themselves, e.g. trials=new\['n'\]",
        ),
        (
            lambda r: r.posterior_predict(BUDWORM, trials=[1, 2]),
            DataError,
            r"trials has 2 values, the new data have 12 rows",
        ),
        (
            lambda r: r.posterior_predict(BUDWORM, trials=-1),
            DataError,
            "trials must hold counts, 0, 1, 2, ..; it has -1",
        ),
        (
            lambda r: r.posterior_predict(BUDWORM, trials=BUDWORM.alive[::-1]),
            DataError,
            "different indices",
        ),
        (lambda r: r.posterior_predict(trials=3), ArgumentError, "trials belongs to new rows"),
        (
            lambda r: r.log_lik(BUDWORM, "dead", trials=3),
            DataError,
            "must be counts of successes in the new data, 0, 1, .. trials",
        ),
    ],
    ids=range(8),
)
def test_trials_are_asked_for_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call(fitted("budworm logit"))


def test_trials_do_not_apply_to_other_families():
    results = sgmc.poisson("dead ~ ldose", BUDWORM, seed=1)
    with pytest.raises(ArgumentError, match="trials does not apply to poisson"):
        results.posterior_predict(BUDWORM, trials=3)


def test_checks_of_the_fit_are_of_shares():
    check = fitted("womensrole logit").pp_check(groups=4)
    table = data("womensrole")
    assert check.loc["mean", "observed"] == pytest.approx(
        table.agree.sum() / (table.agree + table.disagree).sum()
    )
    assert (check["p"].iloc[:1] > 0.05).all()
    assert "2871 trials" in str(fitted("womensrole logit").summary())


def test_results_are_saved_and_runs_go_on(tmp_path):
    results = sgmc.logit(MOTHS, BUDWORM, seed=3, draws=500)
    results.save(tmp_path / "one")
    loaded = sgmc.load(tmp_path / "one")
    new = BUDWORM.iloc[:3]
    np.testing.assert_array_equal(
        loaded.posterior_predict(new, trials=9), results.posterior_predict(new, trials=9)
    )
    with pytest.raises(ArgumentError, match="needs trials="):
        loaded.posterior_predict(new)
    long = sgmc.logit(MOTHS, BUDWORM, seed=3, draws=900)
    np.testing.assert_array_equal(loaded.resume(400, data=BUDWORM).draws, long.draws)
    np.testing.assert_array_equal(results.resume(400).draws, long.draws)
    with pytest.raises(ArgumentError, match="other data"):
        loaded.resume(400, data=BUDWORM.assign(alive=BUDWORM.alive + (BUDWORM.index == 0)))


def test_the_mark_of_a_run_has_the_trials():
    """Same successes, other failures, and everything else forced to be the same."""
    from sgmc.fit.checkpoint import checksum

    problem = fitted("budworm logit")._fit.problem
    other = replace(problem, table=replace(problem.table, trials=problem.table.trials + 1))
    assert checksum(problem) != checksum(other)
