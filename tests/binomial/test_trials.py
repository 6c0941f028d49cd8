"""Trials apart from frequency weights and robust covariances."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.coordinates.whitened.sandwich import score_covariance

from .counts import BUDWORM, MOTHS, STARS, assert_same_posterior, data, fitted, pieces

HOW = dict(seed=1, draws=100, prior={"*": sgmc.normal(0, 2), "Intercept": sgmc.normal(0, 5)})


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_frequency_weights_count_rows_and_trials_do_not():
    twice = pd.concat([BUDWORM, BUDWORM.iloc[:4]], ignore_index=True)
    weighted = sgmc.logit(MOTHS, BUDWORM.assign(w=[2.0] * 4 + [1.0] * 8), weights="w", **HOW)
    repeated = sgmc.logit(MOTHS, twice, **HOW)
    assert_same_posterior(weighted, repeated)
    assert weighted.nobs == repeated.nobs == 16 and fitted("budworm logit").nobs == 12
    np.testing.assert_allclose(
        [weighted.llf - weighted.null_deviance], [repeated.llf - repeated.null_deviance], rtol=0.01
    )


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_rows_without_trials_say_nothing():
    empty = pd.DataFrame({"ldose": [9.0, 0], "sex": ["M", "F"], "dead": 0, "alive": 0})
    more = sgmc.logit(MOTHS, pd.concat([BUDWORM, empty], ignore_index=True), **HOW)
    assert_same_posterior(more, sgmc.logit(MOTHS, BUDWORM, **HOW))
    loo = more.loo()
    assert more.nobs == 14 and (loo.elpd_i[-2:] == 0).all() and (loo.elpd_i[:-2] < 0).all()
    assert (more.resid_response[-2:] == 0).all() and (more.resid_deviance[-2:] == 0).all()
    assert np.isnan(more.resid_pearson[-2:]).all() and np.isfinite(more.resid_pearson[:-2]).all()
    assert np.isfinite(more.pp_check(groups=3)["observed"]).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.LeverageWarning")  # one row has .87
@pytest.mark.parametrize("weight", [None, 3.0])
def test_the_robust_covariance_is_of_rows_with_all_their_trials(weight):
    """HC0 of statsmodels, at its estimate; planted:
    trials taken for frequency weights give another matrix.
    """
    table = data("star98")
    results = sgmc.logit(
        STARS,
        table,
        seed=1,
        prior="flat",
        cov_type="robust",
        weights=None if weight is None else np.full(303, weight),
    )
    X, y, n = pieces(results, table)
    mle = sm.GLM(np.column_stack([y, n - y]), X, family=sm.families.Binomial()).fit(cov_type="HC0")
    expected = mle.cov_params() / (weight or 1)
    where = results._fit.problem.coordinates
    assert np.linalg.norm(where.white @ where.white.T - expected) < 0.01 * np.linalg.norm(expected)
    problem = results._fit.problem
    right, wrong = (
        score_covariance(problem.model, np.zeros(len(X.T)), w)
        for w in (problem.table.weight, problem.table.multiplicity)
    )
    assert np.linalg.norm(right - wrong) > 0.9 * np.linalg.norm(right)
