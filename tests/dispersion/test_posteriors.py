"""Posteriors of counts whose dispersion has predictors: against importance sampling, the likelihood
of many rows, and the model of one dispersion.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import sgmc

from ..families.tables import needs_data
from ..importance import apart
from .cases import CASES, TRUE, fitted, reference, simulated


def marks(name):
    """Of a case: the default tier has one, and one needs the R data sets."""
    return [pytest.mark.extended] * (name != "tight") + [needs_data] * (name == "quine")


@pytest.mark.parametrize("name", [pytest.param(k, marks=marks(k)) for k in CASES])
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd and 5 % are promised; the reference has more than 5,000 effective draws, so that its
    own errors are below 0.03 sd and 2 %.
    """
    mean, sd, size = reference(name)
    assert size > 5_000
    off, wide = apart(fitted(name), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert fitted(name).verdict.trustworthy


@pytest.mark.cover(0)
@pytest.mark.parametrize("mistake", [{"exchanged": True}, {"sign": -1}, {"prior": False}], ids=str)
def test_mistakes_are_seen(mistake):
    """Planted in the reference; priors of sd 0.3 move means by an sd."""
    mean, sd, size = reference("tight", **mistake)
    assert size > 5_000
    assert apart(fitted("tight"), mean, sd)[0] > 0.5


def most_likely(frame):
    """Maximum-likelihood estimates, their covariance, the inverse of a Hessian by differences, and
    the sandwich of it around the rows' scores; by scipy alone.
    """
    one, v = np.ones(len(frame)), (frame.g == "v").to_numpy(float)
    X, Z = np.column_stack([one, v, frame.x]), np.column_stack([one, v, frame.z])
    y, e = frame.y.to_numpy(), frame.e.to_numpy()

    def rows(t):
        mu, alpha = e * np.exp(X @ t[:3]), np.exp(Z @ t[3:])
        return stats.nbinom.logpmf(y, 1 / alpha, 1 / (1 + alpha * mu))

    def loss(t):
        return -rows(t).sum()

    at = optimize.minimize(loss, list(TRUE.values()), method="BFGS", options={"gtol": 0.5}).x
    h = 3e-3 * np.eye(6)
    H = [
        [loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b) for b in h]
        for a in h
    ]
    scores = np.array([rows(at + a) - rows(at - a) for a in h]).T / (2 * 3e-3)
    bread = np.linalg.inv(np.array(H) / (4 * 3e-3**2))
    return at, bread, bread @ scores.T @ scores @ bread


@pytest.mark.extended
def test_many_rows_have_the_posterior_of_maximum_likelihood():
    """20,000 rows: 4,000 draws have errors of 0.02 sd and 1.2 %; prior and skewness matter less
    than 0.03 sd.
    """
    frame = simulated(20_000)
    results = sgmc.negativebinomial("y ~ g + x | g + z", frame, exposure="e", seed=1)
    estimate, covariance, _ = most_likely(frame)
    off, wide = apart(results, estimate, np.sqrt(np.diag(covariance)))
    assert off < 0.1 and wide < 0.05
    assert np.abs((results.params - list(TRUE.values())) / results.bse).max() < 3.5


@pytest.mark.extended
def test_robust_sds_are_the_sandwichs():
    """Of a table whose second half repeats its first: the sds of the model are too small by the
    root of two, those by groups of equal rows are not.  Errors of the draws: 1.2 %; of the prior
    and the skewness of 1,200 rows: 3 %.
    """
    frame = pd.concat([simulated(1_200)] * 2, ignore_index=True).assign(k=[*range(1_200)] * 2)
    how = dict(exposure="e", seed=1)
    robust = sgmc.negativebinomial("y ~ g + x | g + z", frame, cov_type="robust", **how)
    _, bread, sandwich = most_likely(frame)
    np.testing.assert_allclose(robust.bse, np.sqrt(np.diag(sandwich)), rtol=0.05)
    how |= dict(cov_type="cluster", groups="k")
    clustered = sgmc.negativebinomial("y ~ g + x | g + z", frame, **how)
    right = np.sqrt(2 * np.diag(sandwich))
    np.testing.assert_allclose(clustered.bse, right, rtol=0.05)
    assert np.abs(clustered.bse / np.sqrt(np.diag(bread)) - 1).min() > 0.2


def test_an_intercept_alone_is_one_dispersion():
    """alpha = exp(gamma), the draws weighed by the ratio of the two priors: of alpha exponential(1)
    against log alpha normal(0, 2.5).  Errors of both runs together: 0.03 sd, 2 %.
    """
    frame = simulated(400)
    two = sgmc.negativebinomial("y ~ x | 1", frame, exposure="e", seed=1)
    one = sgmc.negativebinomial("y ~ x", frame, exposure="e", seed=2)
    assert two.names == ["Intercept", "x", "dispersion:Intercept"]
    assert one.names == ["Intercept", "x", "alpha"]
    draws = two.flat.copy()
    u = draws[:, 2]
    log_w = u - np.exp(u) - stats.norm.logpdf(u, 0, 2.5)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    draws[:, 2] = np.exp(u)
    mean = w @ draws
    sd = np.sqrt(w @ (draws - mean) ** 2)
    off, wide = apart(one, mean, sd)
    assert off < 0.1 and wide < 0.06
