"""Factors of very many levels: integrated out, with the posterior of the whole design."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.core.system import deadline
from sgmc.fit.settings import check_settings
from sgmc.models.regression import model
from sgmc.models.regression.latent.levels.model import LevelsRegression
from sgmc.models.regression.latent.levels.split import worth_it

LEVELS, ROWS, SIGMA = 300, 3000, 0.7


def table(link):
    """A number x, a factor g of 300 levels, and outcomes y."""
    random = np.random.default_rng(4)
    g, x = random.integers(0, LEVELS, ROWS), random.normal(1, 2, ROWS)
    eta = 0.5 + 0.4 * x + 0.6 * random.normal(size=LEVELS)[g]
    y = link(random, eta)
    return pd.DataFrame({"y": y, "x": x, "g": pd.Categorical([f"l{j:03d}" for j in g])})


def normal(random, eta):
    return eta + SIGMA * random.normal(size=len(eta))


def binary(random, eta):
    return (random.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def closed_form(df, location, scale):
    """Means and sds of (Intercept, g, x): normal outcomes, slopes N(location, scale^2), the
    intercept at centred predictors N(mean of y, (2.5 sd of y)^2); and log p(y_i | y without i), by
    leverages.
    """
    dummies = pd.get_dummies(df.g, drop_first=True, dtype=float).to_numpy()
    X = np.column_stack([np.ones(len(df)), dummies, df.x])
    centre, tau = X.mean(axis=0), 2.5 * df.y.std(ddof=0)
    precision = X.T @ X / SIGMA**2 + np.outer(centre, centre) / tau**2
    precision[1:, 1:] += np.eye(X.shape[1] - 1) / scale**2
    right = X.T @ df.y.to_numpy() / SIGMA**2 + centre * df.y.mean() / tau**2
    right[1:] += location / scale**2
    covariance = np.linalg.inv(precision)
    rest = 1 - np.einsum("ij,jk,ik->i", X, covariance, X) / SIGMA**2
    away = (df.y - X @ covariance @ right) / rest
    alone = stats.norm.logpdf(away, 0, SIGMA / np.sqrt(rest))
    return covariance @ right, np.sqrt(np.diag(covariance)), alone


@pytest.mark.cover(0)
@pytest.mark.parametrize("location, scale", [(0.0, 1.0), (0.5, 5.0)])
def test_normal_outcomes_in_closed_form(few, location, scale):
    """Means to 0.1 sd and sds to 5 %, three Monte Carlo errors of 200 draws of the head and more;
    the mode, which is the mean, to 0.002 sd: without the levels at centred predictors it is off by
    more.
    """
    df = table(normal)
    res = sgmc.ols("y ~ g + x", df, sigma=SIGMA, prior=sgmc.normal(location, scale), seed=1)
    mean, sd, alone = closed_form(df, location, scale)
    found = res.coefficients(draws=200)
    assert res.names == ["Intercept", "x"] and len(found) == LEVELS + 1
    assert (np.abs(found["mean"] - mean) < 0.1 * sd).all()
    np.testing.assert_allclose(found["sd"], sd, rtol=0.05)
    # Monte Carlo errors: of 0.06 in the sum hardly a fifth is that of the row that tells most of
    # the head, a tenth of the 0.2 by which coefficients that have seen a row are too near
    loo = res.loo(rows=400)
    assert np.abs(loo.elpd_i - alone[loo.rows]).max() < 0.02 and loo.pareto_k.max() < 0.3
    assert abs(loo.elpd - alone.sum()) < 4 * np.hypot(loo.subsampling_se, loo.mcse) < 0.3
    # planted: the effect of the row's level plugged in, as draws have it
    plugged = np.log(np.exp(res.log_lik()[:, loo.rows]).mean(axis=0))
    assert np.abs(plugged - alone[loo.rows]).max() > 0.2
    some = res.cov_params(column=["g[T.l001]", "x"])
    np.testing.assert_allclose(np.sqrt(np.diag(some)), sd[[1, -1]], rtol=0.1)
    problem = res._fit.problem
    mode = problem.coordinates.back @ problem.mode.theta
    assert (np.abs(mode - mean[[0, -1]]) < 0.002 * sd[[0, -1]]).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of the whole design
def test_binary_outcomes_as_the_whole_design(few, monkeypatch):
    """As an exact sampler has it: the tolerance is three Monte Carlo errors of both."""
    df, prior = table(binary), sgmc.normal(0, 1)
    res = sgmc.logit("y ~ g + x", df, prior=prior, seed=1)
    found = res.coefficients(draws=200)
    assert res.verdict.trustworthy and not res.warnings
    monkeypatch.setattr(model, "MANY", 512)
    whole = sgmc.logit("y ~ g + x", df, prior=prior, seed=2, sampler="hmc", draws=1000)
    assert list(found.index) == whole.names
    mcse = whole.bse / np.sqrt(np.asarray(whole.ess()))
    apart = np.abs(found["mean"] - whole.params)
    assert (apart < 0.1 * whole.bse + 3 * mcse).all()
    np.testing.assert_allclose(found["sd"] / whole.bse, 1, atol=0.05 + 0.06)
    some = df.iloc[:40]
    np.testing.assert_allclose(res.predict(some), whole.predict(some), atol=0.04)
    np.testing.assert_allclose(res.predict()[:40], res.predict(some), atol=0.04)


@pytest.mark.parametrize(
    "rows, levels, whole",
    [(100_000, 300, True), (10_000, 1000, False), (200_000, 2000, False), (1_000_000, 600, True)],
)
def test_the_cheaper_way_is_taken(rows, levels, whole):
    """As measured: the whole design takes a quarter of the time in the first case, and 50 times as
    long in the second.
    """
    assert worth_it(rows, levels + 1, levels) == (not whole)
    assert worth_it(rows, 3000, levels)  # too many parameters for a matrix


def test_no_normal_prior_is_refused_by_name(few, monkeypatch):
    monkeypatch.setattr("sgmc.models.regression.memory.LONGEST_PULLED", 60)
    monkeypatch.setattr("sgmc.models.regression.memory.available", lambda: 1e6)
    with pytest.raises(sgmc.errors.OutOfMemoryError, match=r"'g' has .* give it a normal prior"):
        sgmc.logit("y ~ g + x", table(binary), prior="laplace", seed=1)


def test_what_would_take_longer_than_there_is_time_stays_whole(monkeypatch):
    """The other parameters are whitened before the search for the mode could say how far it is."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({name: rng.choice([f"l{k}" for k in range(40)], 500) for name in "ab"})
    whole = sgmc.Logit.from_formula("y ~ a * b", df.assign(y=rng.integers(0, 2, 500)))
    checked = check_settings(seed=1)
    assert isinstance(whole.suited(None, checked), LevelsRegression)
    monkeypatch.setattr(deadline, "OPERATIONS", 1e3)  # of a core so slow that it takes 2,000 s
    with deadline.limited(100):
        assert whole.suited(None, checked) is whole
