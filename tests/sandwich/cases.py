"""Counts and outcomes that a model is wrong about, and their sandwich in plain numpy and
statsmodels.
"""

from functools import cache

import numpy as np
import statsmodels.api as sm
from scipy import linalg, special

import sgmc
from sgmc.coordinates.approximations.mode import Mode

TOLERANCE = 0.05


DRAWS = 4000


@cache
def overdispersed(n=4000, seed=1):
    """Counts with four predictors whose variance is mean + 1.4 mean^2: (y, X)."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
    return rng.poisson(np.exp(X @ [0.5, 0.3, -0.2, 0.1, 0.25]) * rng.gamma(0.7, 1 / 0.7, n)).astype(
        float
    ), X


def hc0(y, X, family=None):
    """statsmodels' fits, robust and not."""
    model = sm.GLM(y, X, family=family or sm.families.Poisson())
    return model.fit(cov_type="HC0"), model.fit()


def error(found, expected):
    """Relative difference in Frobenius norm."""
    return np.linalg.norm(np.asarray(found) - np.asarray(expected)) / np.linalg.norm(
        np.asarray(expected)
    )


def counts_fit(**arguments):
    """A robust fit of the overdispersed counts."""
    y, X = overdispersed()
    return sgmc.Poisson(y, X).fit(**{"cov_type": "robust", "seed": 1, "draws": DRAWS, **arguments})


def misspecified_logit(n=3000, seed=5):
    """A binary outcome that is a coin's where predictors are large, though they matter where they
    are small: (y, X).
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [np.ones(n), rng.normal(size=(n, 2)), rng.normal(size=n) * (rng.random(n) < 0.3)]
    )
    p = np.where(
        np.abs(X[:, 1:3]).max(axis=1) < 1.6, special.expit(X @ [-0.3, 2.5, 1.5, -1.0]), 0.5
    )
    return (rng.random(n) < p).astype(float), X


def by_hand(y, X, weights=None):
    """The sandwich of a logit at its mle, in numpy."""
    w, theta = np.ones(len(y)) if weights is None else weights, np.zeros(X.shape[1])
    for _ in range(50):
        p = special.expit(X @ theta)
        J = (X.T * (w * p * (1 - p))) @ X
        theta = theta + np.linalg.solve(J, X.T @ (w * (y - p)))
    V = (X.T * (w * (y - p) ** 2)) @ X
    return np.linalg.solve(J, np.linalg.solve(J, V).T)


def random_mode(d=4, seed=0):
    """A mode with any curvatures, and any V."""
    rng = np.random.default_rng(seed)
    J, P, V = (A @ A.T + 0.3 * np.eye(d) for A in rng.normal(size=(3, d, d)))
    return Mode(rng.normal(size=d), J, P / 10), V


def stationary(A, H, C):
    """Covariance that the step theta + A (-H theta + noise of covariance C) keeps;
    None where it diverges.
    """
    drift = np.eye(len(H)) - A @ H
    return (
        linalg.solve_discrete_lyapunov(drift, A @ C @ A.T)
        if np.abs(np.linalg.eigvals(drift)).max() < 1
        else None
    )
