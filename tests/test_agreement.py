"""Exact samplers agree with importance sampling, done here with numpy and scipy alone, on two
logistic posteriors.

z is a difference of means or of sds in Monte Carlo standard errors of both.  A sampler has 2 d of
them a posterior, 150 in all; if they were normal the largest would exceed 5 once in 10,000 runs of
this file.  Effective sizes are estimated, and seeds fixed.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import optimize, special, stats

import sgmc
from sgmc.diagnostics import mcse

SAMPLERS = ("rwm", "mala", "barker", "hmc", "mmala")
FAR, DRAWS, SIZE, DF = 5.0, 1000, 20_000, 30


def standard(X):
    """A column of ones, and the predictors standardised."""
    return np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])


def heavy():
    """600 rows of Cauchy predictors cut at 30, one outcome in seven."""
    rng = np.random.default_rng(3)
    X = standard(np.clip(rng.standard_cauchy((600, 5)), -30, 30))
    theta = np.array([-2.5, 1.0, -1.0, 0.5, 0.0, 0.0])
    return (
        X,
        (rng.random(600) < special.expit(X @ theta)).astype(float),
        stats.t(4),
        sgmc.student_t(4, 0, 1),
    )


def fair():
    """The survey that comes with statsmodels; a prior that is felt beside its 6,366 rows."""
    frame = sgmc.datasets.load("fair")
    X = standard(frame.drop(columns="affairs").to_numpy(float))
    return X, (frame["affairs"] > 0).to_numpy(float), stats.norm(0, 0.1), sgmc.normal(0, 0.1)


CASES = {"heavy-tailed": heavy, "fair": fair}


@cache
def case(name):
    """Design, outcomes, prior as scipy's law, prior as sgmc's."""
    return CASES[name]()


@cache
def reference(name):
    """Means and sds (2, d) by importance sampling from a t at the mode, their standard errors,
    and the largest weight.
    """
    X, y, law, _ = case(name)

    def log_posterior(theta):
        eta = theta @ X.T
        return eta @ y - np.logaddexp(0, eta).sum(axis=-1) + law.logpdf(theta).sum(axis=-1)

    mode = optimize.minimize(lambda t: -log_posterior(t), np.zeros(X.shape[1]), method="BFGS").x
    p = special.expit(X @ mode)
    step = 1e-3
    prior = -(law.logpdf(mode + step) - 2 * law.logpdf(mode) + law.logpdf(mode - step)) / step**2
    root = np.linalg.cholesky(
        np.linalg.inv((X.T * (p * (1 - p))) @ X + np.diag(np.maximum(prior, 0)))
    )
    rng = np.random.default_rng(1)
    z = rng.standard_normal((SIZE, len(mode))) / np.sqrt(rng.chisquare(DF, (SIZE, 1)) / DF)
    theta = mode + z @ root.T
    proposal = -(DF + len(mode)) / 2 * np.log1p((z**2).sum(axis=1) / DF)
    weight = special.softmax(
        np.concatenate([log_posterior(part) for part in np.split(theta, 40)]) - proposal
    )
    mean = weight @ theta
    squares = (theta - mean) ** 2
    sd = np.sqrt(weight @ squares)
    errors = np.sqrt(weight**2 @ squares), np.sqrt(weight**2 @ (squares - sd**2) ** 2) / (2 * sd)
    return np.array([mean, sd]), np.array(errors), weight.max()


def draws(name, sampler, prior=None):
    """Draws of ours."""
    X, y, _, own = case(name)
    names = [f"b{j}" for j in range(X.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        return (
            sgmc.Logit(y, X, names=names)
            .fit(
                sampler=sampler,
                prior=dict.fromkeys(names, prior or own),
                draws=DRAWS,
                seed=7,
                thin=10 if sampler == "rwm" else 1,
            )
            .draws
        )


def largest_z(kept, name):
    """Largest |z| of the means and of the sds."""
    (truth, error, _), figures = (
        reference(name),
        np.array([kept.mean(axis=(0, 1)), kept.std(axis=(0, 1))]),
    )
    return np.abs(
        (figures - truth) / np.hypot(np.array([mcse(kept), mcse(kept, "sd")]), error)
    ).max(axis=1)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", CASES)
def test_the_reference_covers_the_posterior(name):
    """No weight counts much, so that its errors are what they are said to be."""
    assert reference(name)[2] < 20 / SIZE


@pytest.mark.cover(1)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", CASES)
def test_exact_samplers_agree_with_importance_sampling(name, sampler):
    assert largest_z(draws(name, sampler), name).max() < FAR


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", CASES)
def test_planted_mistakes_are_far_outside(name):
    """A posterior without its prior moves the means; at temperature 1.3,
    which widens the draws, the sds.
    """
    assert largest_z(draws(name, "mala", prior="flat"), name)[0] > 2 * FAR
    kept = draws(name, "mala")
    mean = kept.mean(axis=(0, 1))
    hot = largest_z(mean + np.sqrt(1.3) * (kept - mean), name)
    assert hot[1] > 1.5 * FAR and hot[0] < FAR
