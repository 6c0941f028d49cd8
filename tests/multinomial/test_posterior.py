"""Multinomial logit: densities, posteriors on real data,
what is special about outcomes of several kinds.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special

import sgmc
from sgmc.models.regression.families.mnlogit import MnlogitFamily

from .cases import FORMULA, PRIORS, anes96, fitted, reference


def test_the_density_is_that_of_a_softmax():
    eta = np.random.default_rng(0).normal(size=(3, 8, 2)) * 5
    y = np.arange(8)[:, None] % 4
    all_of_them = np.concatenate([np.zeros((1, 8, 2)), eta])
    expected = np.take_along_axis(
        special.log_softmax(all_of_them, axis=0), np.broadcast_to(y, (8, 2))[None], axis=0
    )[0]
    np.testing.assert_allclose(MnlogitFamily.log_density(y, eta), expected, rtol=1e-10)
    np.testing.assert_allclose(
        MnlogitFamily.mean(eta), special.softmax(all_of_them, axis=0), rtol=1e-10
    )
    extreme = np.array([[[-800.0]], [[800.0]]])
    assert np.isfinite(MnlogitFamily.log_density(np.array([[0]]), extreme)).all()
    assert np.isfinite(MnlogitFamily.mean(extreme)).all()


@pytest.mark.extended
@pytest.mark.parametrize("prior", PRIORS)
def test_posteriors_on_real_data_are_right_at_default_settings(prior):
    """0.1 sd for means, 5 % for sds: what is promised;
    the reference's own errors are below 0.02 sd and 1.5 %.
    """
    mean, sd, size = reference(prior)
    results = fitted(prior)
    assert size > 4000
    assert np.abs((results.params - mean) / sd).max() < 0.1
    assert np.abs(results.bse / sd - 1).max() < 0.05


@pytest.mark.extended
def test_the_prior_is_in_that_reference():
    """Planted: the reference of the default prior, the fit without one."""
    mean, sd, _ = reference("default")
    assert np.abs((fitted("flat").params - mean) / sd).max() > 0.15


@pytest.mark.extended
def test_names_and_degrees_of_freedom_are_statsmodels():
    results, theirs = fitted("flat"), sm.MNLogit.from_formula(FORMULA, anes96()).fit(disp=0)
    assert results.names[:7] == [
        "1:Intercept",
        "1:logpopul",
        "1:selfLR",
        "1:age",
        "1:educ",
        "1:income",
        "2:Intercept",
    ]
    assert (results.df_model, results.df_resid, results.nobs) == (
        theirs.df_model,
        theirs.df_resid,
        theirs.nobs,
    )
    assert results.null_deviance == pytest.approx(-2 * theirs.llnull, rel=1e-8)
    # at the posterior mean, a hundredth of an sd away from the maximum
    assert abs(results.llf - theirs.llf) < 0.5
    assert results.deviance == pytest.approx(-2 * results.llf, rel=1e-12)


@pytest.mark.extended
def test_probabilities_of_new_rows():
    results, new = fitted("default"), anes96().iloc[[5, 3]]
    p = results.predict(new)
    assert list(p.columns) == [0, 1, 2, 3, 4, 5, 6] and list(p.index) == [5, 3]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p.loc[3], results.fittedvalues.loc[3])
    B = results.flat.reshape(len(results.flat), 6, 6)
    eta = np.concatenate([np.zeros((len(B), 1, 2)), B @ results.model.spec.matrix(new).T], axis=1)
    np.testing.assert_allclose(
        p.to_numpy(), special.softmax(eta, axis=1).mean(axis=0).T, rtol=1e-10
    )
    frame = results.get_prediction(new).summary_frame()
    assert frame.index.names == ["row", "PID"] and (frame.mean_ci_lower < frame["mean"]).all()
    np.testing.assert_allclose(frame["mean"].to_numpy().reshape(2, 7), p.to_numpy())
    simulated = results.posterior_predict(new, seed=3)
    assert simulated.shape == (4000, 2) and set(np.unique(simulated)) <= set(range(7))
    share = (simulated == 6).mean(axis=0)
    assert (np.abs(share - p[6]) < 4 * np.sqrt(p[6] / 4000)).all()


@pytest.mark.extended
def test_checks_and_information_criteria():
    results = fitted("default")
    table = results.pp_check(seed=1)
    assert list(table.index) == [f"share of {k}" for k in range(7)]
    assert table.p.between(0.05, 0.95).all()
    np.testing.assert_allclose(table.observed, np.bincount(anes96().PID) / 944)
    loo = results.loo()
    assert 30 < loo.p < 42  # 36 coefficients
    assert np.isclose(results.log_lik(draws=100).sum(axis=1).mean(), results.llf - 18, atol=4)


def test_saved_results_predict_the_same(tmp_path):
    results, new = fitted("default"), anes96().iloc[:4]
    results.save(tmp_path / "r")
    pd.testing.assert_frame_equal(sgmc.load(tmp_path / "r").predict(new), results.predict(new))
