"""Multinomial logit: densities, posteriors on real data, what is special about outcomes of several kinds."""
from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special, stats

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.mnlogit import MnlogitFamily

FORMULA = "PID ~ logpopul + selfLR + age + educ + income"
PRIORS = ["default", "flat"]


@cache
def anes96():
    """The American National Election Study of 1996, shipped with statsmodels: seven kinds, 944 rows."""
    data = sm.datasets.anes96.load_pandas().data
    return data.assign(PID=data.PID.astype(int))


@cache
def fitted(prior):
    """Defaults only."""
    return sgmc.mnlogit(FORMULA, anes96(), seed=1, **({"prior": "flat"} if prior == "flat" else {}))


def log_posterior(B, X, y, prior):
    """Of coefficients (draw, equation, column)."""
    eta = np.concatenate([np.zeros((len(B), 1, len(y))), B @ X.T], axis=1)
    value = (eta[:, y, np.arange(len(y))] - special.logsumexp(eta, axis=1)).sum(axis=1)
    if prior == "flat":
        return value
    slopes = B[:, :, 1:] * X[:, 1:].std(axis=0, ddof=1) / 2.5
    return value - 0.5 * (slopes ** 2).sum(axis=(1, 2)) - 0.5 * ((B @ X.mean(axis=0) / 2.5) ** 2).sum(axis=1)


@cache
def reference(prior, draws=20_000):
    """Means and sds by importance sampling from a t with 30 degrees of freedom at statsmodels' estimate; the effective size."""
    data = anes96()
    X, y = fitted(prior).model.spec.matrix(data), data.PID.to_numpy()
    estimate = sm.MNLogit(y, X).fit(disp=0)
    size = estimate.params.size
    centre, root = np.asarray(estimate.params).T.ravel(), np.linalg.cholesky(np.asarray(estimate.cov_params()))
    law = stats.multivariate_t(shape=np.eye(size), df=30, seed=5)
    for _ in range(3):                                         # centre and spread of the draws themselves, twice
        z = law.rvs(draws)
        theta = centre + z @ root.T
        at = np.concatenate([log_posterior(part.reshape(len(part), -1, X.shape[1]), X, y, prior) for part in np.array_split(theta, 40)])
        w = special.softmax(at - law.logpdf(z))
        mean = w @ theta
        centre, root = mean, np.linalg.cholesky((theta - mean).T @ (w[:, None] * (theta - mean)))
    return mean, np.sqrt(w @ (theta - mean) ** 2), 1 / (w ** 2).sum()


def test_the_density_is_that_of_a_softmax():
    eta = np.random.default_rng(0).normal(size=(3, 8, 2)) * 5
    y = np.arange(8)[:, None] % 4
    all_of_them = np.concatenate([np.zeros((1, 8, 2)), eta])
    expected = np.take_along_axis(special.log_softmax(all_of_them, axis=0), np.broadcast_to(y, (8, 2))[None], axis=0)[0]
    np.testing.assert_allclose(MnlogitFamily.log_density(y, eta), expected, rtol=1e-10)
    np.testing.assert_allclose(MnlogitFamily.mean(eta), special.softmax(all_of_them, axis=0), rtol=1e-10)
    extreme = np.array([[[-800.0]], [[800.0]]])
    assert np.isfinite(MnlogitFamily.log_density(np.array([[0]]), extreme)).all() and np.isfinite(MnlogitFamily.mean(extreme)).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_posteriors_on_real_data_are_right_at_default_settings(prior):
    """0.1 sd for means, 5 % for sds: what is promised; the reference's own errors are below 0.02 sd and 1.5 %."""
    mean, sd, size = reference(prior)
    results = fitted(prior)
    assert size > 4000
    assert np.abs((results.params - mean) / sd).max() < 0.1
    assert np.abs(results.bse / sd - 1).max() < 0.05


def test_the_prior_is_in_that_reference():
    """Planted: the reference of the default prior, the fit without one."""
    mean, sd, _ = reference("default")
    assert np.abs((fitted("flat").params - mean) / sd).max() > 0.15


def test_names_and_degrees_of_freedom_are_statsmodels():
    results, theirs = fitted("flat"), sm.MNLogit.from_formula(FORMULA, anes96()).fit(disp=0)
    assert results.names[:7] == ["1:Intercept", "1:logpopul", "1:selfLR", "1:age", "1:educ", "1:income", "2:Intercept"]
    assert (results.df_model, results.df_resid, results.nobs) == (theirs.df_model, theirs.df_resid, theirs.nobs)
    assert results.null_deviance == pytest.approx(-2 * theirs.llnull, rel=1e-8)
    assert abs(results.llf - theirs.llf) < 0.5                  # at the posterior mean, a hundredth of an sd away from the maximum
    assert results.deviance == pytest.approx(-2 * results.llf, rel=1e-12)


def test_probabilities_of_new_rows():
    results, new = fitted("default"), anes96().iloc[[5, 3]]
    p = results.predict(new)
    assert list(p.columns) == [0, 1, 2, 3, 4, 5, 6] and list(p.index) == [5, 3]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p.loc[3], results.fittedvalues[3])
    B = results.flat.reshape(len(results.flat), 6, 6)
    eta = np.concatenate([np.zeros((len(B), 1, 2)), B @ results.model.spec.matrix(new).T], axis=1)
    np.testing.assert_allclose(p.to_numpy(), special.softmax(eta, axis=1).mean(axis=0).T, rtol=1e-10)
    frame = results.get_prediction(new).summary_frame()
    assert frame.index.names == ["row", "PID"] and (frame.mean_ci_lower < frame["mean"]).all()
    np.testing.assert_allclose(frame["mean"].to_numpy().reshape(2, 7), p.to_numpy())
    simulated = results.posterior_predict(new, seed=3)
    assert simulated.shape == (4000, 2) and set(np.unique(simulated)) <= set(range(7))
    share = (simulated == 6).mean(axis=0)
    assert (np.abs(share - p[6]) < 4 * np.sqrt(p[6] / 4000)).all()


def test_checks_and_information_criteria():
    results = fitted("default")
    table = results.pp_check(seed=1)
    assert list(table.index) == [f"share of {k}" for k in range(7)] and table.p.between(0.05, 0.95).all()
    np.testing.assert_allclose(table.observed, np.bincount(anes96().PID) / 944)
    loo = results.loo()
    assert 30 < loo.p < 42                                      # 36 coefficients
    assert np.isclose(results.log_lik(draws=100).sum(axis=1).mean(), results.llf - 18, atol=4)


def test_saved_results_predict_the_same(tmp_path):
    results, new = fitted("default"), anes96().iloc[:4]
    results.save(tmp_path / "r")
    pd.testing.assert_frame_equal(sgmc.load(tmp_path / "r").predict(new), results.predict(new))


def test_labels_of_any_kind_from_formulas_and_arrays():
    frame = pd.DataFrame({"x": np.random.default_rng(1).normal(size=300)})
    frame["kind"] = np.array(["red", "blue", "green"])[np.random.default_rng(2).integers(0, 3, 300)]
    one = sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500)
    two = sgmc.MNLogit(frame.kind, sm.add_constant(frame[["x"]])).fit(seed=1, draws=500)
    assert one.names == ["green:Intercept", "green:x", "red:Intercept", "red:x"]
    assert "Each equation compares a level of kind with 'blue'" in str(one.summary())
    np.testing.assert_array_equal(one.draws, two.draws)
    other = pd.Categorical(frame.kind, categories=["red", "green", "blue"])
    turned = sgmc.mnlogit("kind ~ x", frame.assign(kind=other), seed=1, prior="flat")
    assert turned.names[0] == "green:Intercept" and turned.params["blue:x"] == pytest.approx(
        -sgmc.mnlogit("kind ~ x", frame, seed=1, prior="flat").params["red:x"], abs=0.02)
    assert one.hypothesis("`green:x` > `red:x`").prob == pytest.approx((one.flat[:, 1] > one.flat[:, 3]).mean())


def test_priors_by_column_and_by_equation():
    prior = {"age": sgmc.normal(0, 1), "2:age": sgmc.normal(0, 3), "Intercept": sgmc.normal(0, 9)}
    used = sgmc.mnlogit(FORMULA, anes96(), seed=1, prior=prior).prior_summary().used
    assert (used["1:age"], used["2:age"], used["6:age"], used["3:Intercept"]) == ("normal(0, 1)", "normal(0, 3)", "normal(0, 1)",
                                                                                "normal(0, 9)")


@pytest.mark.parametrize("how, error, message", [
    (dict(offset="age"), ArgumentError, "offset does not apply to mnlogit"),
    (dict(exposure="age"), ArgumentError, "exposure does not apply to mnlogit"),
    (dict(subset="PID < 2"), DataError, "the outcome 'PID' has 2 kinds in the rows used; mnlogit is for three or more, use logit"),
])
def test_what_does_not_apply_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        sgmc.mnlogit(FORMULA, anes96(), **how)


@pytest.mark.parametrize("name", ["resid_response", "resid_pearson", "resid_deviance"])
def test_kinds_have_no_residuals(name):
    with pytest.raises(NotSupported, match=f"{name}: outcomes of mnlogit are kinds"):
        getattr(fitted("default"), name)


def test_missing_labels_of_arrays_are_refused():
    with pytest.raises(DataError, match="endog has missing values"):
        sgmc.MNLogit(["a", None, "b", "c"], np.ones((4, 1)))
