"""Counts of successes and failures, their fits and references by importance sampling."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import sgmc
from sgmc.core.designs.design import design

from ..families.tables import FAMILIES, FOLDER, LINKS
from ..families.test_posteriors import newton


def log_prior(theta, X, prior):
    """The default one of binary models, or none; theta (n, d)."""
    if prior == "flat":
        return np.zeros(len(theta))
    slopes = theta[:, 1:] * X[:, 1:].std(axis=0, ddof=1) / 2.5
    return -0.5 * (slopes**2).sum(axis=1) - 0.5 * ((theta @ X.mean(axis=0)) / 2.5) ** 2


LINK = {
    "logit": LINKS.Logit(),
    "probit": LINKS.Probit(),
    "cloglog": LINKS.CLogLog(),
    "loglog": LINKS.LogLog(),
    "cauchit": LINKS.Cauchy(),
}


ETA = {
    "logit": (-8, 8),
    "probit": (-4, 4),
    "cloglog": (-8, 2.5),
    "loglog": (-2.5, 8),
    "cauchit": (-50, 50),
}

# Collett (1991), p. 75, and Bliss (1935): moths and beetles killed by a poison
BUDWORM = pd.DataFrame(
    {
        "ldose": [0.0, 1, 2, 3, 4, 5] * 2,
        "sex": ["M"] * 6 + ["F"] * 6,
        "dead": [1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16],
    }
).assign(alive=lambda t: 20 - t.dead)


BEETLES = (
    pd.DataFrame(
        {
            "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
            "killed": [6, 13, 18, 28, 52, 53, 61, 60],
            "n": [59, 60, 62, 56, 63, 59, 62, 60],
        }
    )
    .assign(spared=lambda t: t.n - t.killed)
    .drop(columns="n")
)


@cache
def data(name):
    """A real table of counts."""
    if name == "womensrole":
        if not FOLDER.is_dir():
            pytest.skip("the R data sets are not here: SGMC_DATA names no folder that has them")
        return pd.read_csv(FOLDER / "HSAUR_womensrole.csv", index_col=0)
    return {
        "star98": lambda: sm.datasets.star98.load_pandas().data,
        "budworm": lambda: BUDWORM,
        "beetles": lambda: BEETLES,
    }[name]()


ROLE, MOTHS = "agree + disagree ~ education * sex", "dead + alive ~ ldose * sex"


STARS = (
    "NABOVE + NBELOW ~ LOWINC + PERASIAN + PERBLACK + PERHISP + PERMINTE + AVYRSEXP + AVSALK + "
    "PERSPENK + PTRATIO + PCTAF + PCTCHRT"
)


CASES = {
    f"{name} {verb}": (name, verb, formula)
    for name, verbs, formula in [
        ("womensrole", LINK, ROLE),
        ("star98", ["logit", "cauchit"], STARS),
        ("budworm", ["logit", "cauchit"], MOTHS),
        ("beetles", LINK, "killed + spared ~ dose"),
    ]
    for verb in verbs
}


def pieces(results, table):
    """(design, successes, trials) of a formula's counts."""
    y = table[results.model.endog_names.split(" + ")].to_numpy(float)
    return results.model.spec.matrix(table), y[:, 0], y.sum(axis=1)


@cache
def fitted(name, prior="default"):
    """Defaults only."""
    table, verb, formula = CASES[name]
    return getattr(sgmc, verb)(
        formula, data(table), seed=1, **({"prior": "flat"} if prior == "flat" else {})
    )


@cache
def reference(name, prior, draws=20_000):
    """Means and sds by importance sampling from a t with 10 degrees of freedom at the mode,
    and the effective size.
    """
    X, y, n = pieces(fitted(name, prior), data(CASES[name][0]))
    link = LINK[CASES[name][1]]

    def log_posterior(theta):
        with np.errstate(divide="ignore"):
            return np.array(
                [stats.binom.logpmf(y, n, link.inverse(X @ t)).sum() for t in theta]
            ) + log_prior(theta, X, prior)

    tried = n > 0
    start = sm.GLM(
        np.column_stack([y, n - y])[tried], X[tried], family=sm.families.Binomial(link)
    ).fit()
    centre, scale = newton(log_posterior, start.params, np.linalg.cholesky(start.cov_params()))
    t = stats.multivariate_t(df=10, shape=np.eye(X.shape[1]), seed=5)
    z = t.rvs(draws).reshape(draws, -1)
    theta = centre + z @ scale.T
    log_weight = log_posterior(theta) - t.logpdf(z)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ theta
    return mean, np.sqrt(weight @ (theta - mean) ** 2), 1 / (weight**2).sum()


def errors(results, name, prior="default"):
    """Largest error of a mean, in posterior sds, and largest relative one of an sd."""
    mean, sd, size = reference(name, prior)
    assert size > 5000  # the reference's own errors: below 0.02 sd and 1.5 %
    return np.abs((results.params - mean) / sd).max(), np.abs(results.bse / sd - 1).max()


def counted(name, seed=0, rows=12):
    """(model of shares weighted by trials, model of the same single outcomes, number of these)."""
    random = np.random.default_rng(seed)
    X, n = np.ascontiguousarray(random.normal(size=(rows, 2))), random.integers(1, 9, rows)
    y = random.binomial(n, 0.4)
    single = np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(y, n - y)])
    kernel = FAMILIES[name].kernel
    return (
        kernel(design(X), y / n, None, n * 1.0),
        kernel(design(np.repeat(X, n, axis=0)), single),
        len(single),
    )


# ---- trials, frequency weights, robust covariance ------------------------------------------------


def at_mode(results):
    """Mode and curvature's covariance in the user's coefficients: no Monte Carlo error."""
    where, d = results._fit.problem.coordinates, len(results.params)
    return where.theta(where.from_white(np.zeros(d))), results._fit.problem.curvature_covariance


def assert_same_posterior(one, other):
    for a, b in zip(at_mode(one), at_mode(other)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
