"""Spike-and-slab posteriors of a logit by enumeration of all models."""

import itertools
import math

import numpy as np
from scipy.special import expit, logsumexp

WIDER = 1.05  # proposals' sds over those of the Gaussian at the mode


def simulated(n, d, seed=0, active=(1.0, -0.7, 0.45, 0.3)):
    """(X, y): centred columns that are correlated, and a few slopes that are not zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(n, 1))
    X -= X.mean(axis=0)
    slopes = np.zeros(d)
    slopes[: len(active)] = active
    return X, (rng.random(n) < expit(X @ slopes - 0.3)).astype(float)


def log_evidence(X, y, sds, z):
    """Log marginal likelihood of a logit with independent N(0, sds^2) coefficients.

    By importance sampling from the Gaussian at the mode, WIDER, at the normal numbers z (m,
    columns) and -z.
    """
    theta, precision = np.zeros(X.shape[1]), 1 / sds**2
    for _ in range(30):
        p = expit(X @ theta)
        H = X.T @ (X * (p * (1 - p))[:, None]) + np.diag(precision)
        theta += np.linalg.solve(H, X.T @ (y - p) - precision * theta)
    half = WIDER * np.linalg.inv(np.linalg.cholesky(H)).T
    z = np.concatenate([z, -z])
    at = theta + z @ half.T
    eta = at @ X.T
    value = (
        eta @ y
        - np.logaddexp(0, eta).sum(axis=1)
        - 0.5 * (at**2 * precision).sum(axis=1)
        - np.log(sds).sum()
    )
    log_w = value + 0.5 * (z**2).sum(axis=1) + np.linalg.slogdet(half)[1]
    return logsumexp(log_w) - math.log(len(z))


def inclusions(X, y, slab, intercept, probability, draws=100, seed=1):
    """Posterior probabilities that slopes are not zero; their error, from one seed to another, is
    below 0.001 at 100 draws.

    Slopes are N(0, slab^2) with that probability, else zero; the intercept N(0, intercept^2).
    """
    n, d = X.shape
    z = np.random.default_rng(seed).normal(size=(draws, d + 1))
    models = list(itertools.product([False, True], repeat=d))
    found = np.empty(len(models))
    for k, some in enumerate(models):
        columns = np.column_stack([np.ones(n), X[:, list(some)]])
        sds = np.array([intercept] + [slab] * sum(some))
        found[k] = log_evidence(columns, y, sds, z[:, : len(sds)])
        found[k] += sum(some) * math.log(probability) + (d - sum(some)) * math.log(1 - probability)
    return np.exp(found - logsumexp(found)) @ np.array(models)
