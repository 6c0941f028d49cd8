"""Multivariate normal priors against the closed form of linear regression."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .test_ends import off, table

V = np.array([[0.04, -0.018], [-0.018, 0.01]])
M = np.array([0.5, 0.2])


def conjugate(df, mean, covariance):
    """Means and sds of (Intercept, x, z) with sigma 1, a flat intercept and this prior."""
    X = np.column_stack([np.ones(len(df)), df.x, df.z])
    P = np.zeros((3, 3))
    P[1:, 1:] = np.linalg.inv(covariance)
    A = np.linalg.inv(X.T @ X + P)
    return A @ (X.T @ df.y + P @ np.append(0, mean)), np.sqrt(np.diag(A))


@pytest.mark.extended("zigzag")
@pytest.mark.parametrize("sampler", ["auto", "mala", "zigzag"])
def test_the_posterior_is_the_closed_form(sampler):
    """Means within 0.08 sd, sds within 6 %: Monte Carlo errors of 4,000 draws."""
    df = table(60)
    prior = {("x", "z"): sgmc.mvnormal(M, V), "Intercept": "flat"}
    results = sgmc.ols("y ~ x + z", df, prior=prior, sigma=1.0, sampler=sampler, seed=2)
    apart = off(results, *conjugate(df, M, V))
    assert apart[0] < 0.08 and apart[1] < 0.06
    text = str(results.summary())
    assert "mvnormal(mean 0.5, sd 0.2)" in text


MISTAKES = {
    "margins alone": {
        "x": sgmc.normal(M[0], V[0, 0] ** 0.5),
        "z": sgmc.normal(M[1], V[1, 1] ** 0.5),
    },
    "places exchanged": {("z", "x"): sgmc.mvnormal(M, V)},
    "no centre": {("x", "z"): sgmc.mvnormal(0 * M, V)},
    "sds times root 2": {("x", "z"): sgmc.mvnormal(M, 2 * V)},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_seen(mistake):
    df = table(60)
    prior = {"Intercept": "flat", **MISTAKES[mistake]}
    results = sgmc.ols("y ~ x + z", df, prior=prior, sigma=1.0, seed=2)
    apart = off(results, *conjugate(df, M, V))
    assert apart[0] > 0.08 or apart[1] > 0.06


def test_alone_for_all_slopes_by_term_and_beside_ends():
    df = table(60).assign(g=lambda d: pd.Categorical(np.tile(list("abc"), 20)))
    one = sgmc.ols("y ~ x + z", df, prior=sgmc.mvnormal(M, V), sigma=1.0, seed=2)
    two = sgmc.ols("y ~ x + z", df, prior={("x", "z"): sgmc.mvnormal(M, V)}, sigma=1.0, seed=2)
    assert np.array_equal(one.flat, two.flat)
    sgmc.ols("y ~ g", df, prior={"g": sgmc.mvnormal([0, 0], 25 * V)}, seed=1)
    given = {("x", "z"): sgmc.mvnormal(M, V), "Intercept": "flat"}
    same = [
        sgmc.ols("y ~ x + z", df, prior={**given, "sigma": sigma}, seed=2)
        for sigma in ("flat", sgmc.uniform(1e-3, 9))  # the end is out of reach
    ]
    assert (abs(same[0].params - same[1].params) < 0.12 * same[0].bse).all()


@pytest.mark.extended
def test_a_vector_of_a_model_of_ones_own():
    class Plane(sgmc.Model):
        parameters = {"b": 2, "s": ()}
        constraints = {"s": "positive"}

        def __init__(self, X, y):
            self.X, self.y, self.n = X, y, len(y)

        def log_lik(self, theta, rows):
            e = self.y[rows] - self.X[rows] @ theta["b"]
            return -0.5 * (e @ e) - 0.5 * theta["s"] ** 2 * 0

    df = table(60)
    X = df[["x", "z"]].to_numpy()
    prior = {"b": sgmc.mvnormal(M, V), "s": sgmc.half_normal(1)}
    results = Plane(X, df.y.to_numpy()).fit(prior=prior, seed=1)
    P = np.linalg.inv(V)
    A = np.linalg.inv(X.T @ X + P)
    mean, sd = A @ (X.T @ df.y.to_numpy() + P @ M), np.sqrt(np.diag(A))
    assert np.abs((results.params.to_numpy()[:2] - mean) / sd).max() < 0.1
    with pytest.raises(ArgumentError, match="constraints"):
        Plane(X, df.y.to_numpy()).fit(prior={"s": sgmc.mvnormal([0], [[1]])})


WRONG = {
    "shape": (lambda: sgmc.mvnormal([0, 0], [[1]]), "shape"),
    "asymmetric": (lambda: sgmc.mvnormal([0, 0], [[1, 0.5], [0, 1]]), "symmetric"),
    "singular": (lambda: sgmc.mvnormal([0, 0], [[1, 1], [1, 1]]), "positive definite"),
    "negative": (lambda: sgmc.mvnormal([0], [[-1]]), "positive definite"),
    "text": (lambda: sgmc.mvnormal(["a"], [[1]]), "numbers"),
    "infinite": (lambda: sgmc.mvnormal([np.nan], [[1]]), "finite"),
}


@pytest.mark.parametrize("case", WRONG)
def test_covariances_that_are_none_are_refused(case):
    make, words = WRONG[case]
    with pytest.raises(ArgumentError, match=words):
        make()


def test_places_that_do_not_suit_are_named():
    df, one = table(60), sgmc.mvnormal(M, V)
    for prior, words in (
        ({"x": one}, "given to 1: x"),
        ({("x", "z"): one, "x": sgmc.normal(0, 1)}, "only one of them"),
        ({("x", "w"): one}, "'w' is neither"),
        ({("x", "sigma"): one}, "'sigma' is none"),
        ({("x", "x"): one}, "only one of them"),
    ):
        with pytest.raises(ArgumentError, match=words):
            sgmc.ols("y ~ x + z", df, prior=prior)
    with pytest.raises(NotSupported, match="together"):
        sgmc.ols("y ~ x + z", df, prior=one, sampler="sticky-zigzag", sigma=1.0)


def test_sensitivity_and_bayes_factors_know_the_matrix():
    """The Savage-Dickey ratio of x = 0 against the densities of the closed form, to 10 %."""
    from scipy import stats

    df = table(60)
    prior = {("x", "z"): sgmc.mvnormal(M, V), "Intercept": "flat"}
    results = sgmc.ols("y ~ x + z", df, prior=prior, sigma=1.0, seed=2)
    mean, sd = conjugate(df, M, V)
    exact = stats.norm.pdf(0, mean[1], sd[1]) / stats.norm.pdf(0, M[0], np.sqrt(V[0, 0]))
    found = results.bayes_factor("x = 0")
    assert found["BF01"] == pytest.approx(exact, rel=0.1 + 3 * found["mcse"])
    with pytest.raises(NotSupported, match="independent"):
        results.bayes_factor("x = z")
    assert results.sensitivity().loc["x", "prior"] > 0.05


def test_beside_learned_scales_it_stays():
    """Draws of the prior alone have its means and covariance: of 20,000 to .02 of an sd or so."""
    prior = {("x", "z"): sgmc.mvnormal(M, V), ("w", "v"): sgmc.ridge()}
    frame = table().assign(w=np.arange(len(table())) % 5, v=np.arange(len(table())) % 7)
    model = sgmc.OLS.from_formula("y ~ x + z + w + v", frame)
    drawn = model.prior_draws(prior=prior, draws=20_000, seed=1)[["x", "z"]].to_numpy()
    assert np.abs(drawn.mean(axis=0) - M).max() < 0.04 * np.sqrt(np.diag(V)).max()
    assert np.abs(np.cov(drawn.T) / V - 1).max() < 0.1
    alone = sgmc.ols("y ~ x + z + w + v", frame, prior={("x", "z"): sgmc.mvnormal(M, V)}, seed=1)
    beside = sgmc.ols("y ~ x + z + w + v", frame, prior=prior, seed=1)
    apart = (beside.params - alone.params)[["x", "z"]] / alone.bse[["x", "z"]]
    assert beside.verdict.trustworthy and np.abs(apart).max() < 0.15
