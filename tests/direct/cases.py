"""Posteriors of linear regressions by quadrature in numpy: sigma on a grid, coefficients exactly
normal given it.
"""

import numpy as np
import pandas as pd

import sgmc

SCALE = 0.7  # mean of sigma's exponential prior
PRIOR = {
    "*": sgmc.normal(0.5, 2, autoscale=False),
    "Intercept": sgmc.normal(0, 5, autoscale=False),
    "sigma": sgmc.exponential(scale=SCALE, autoscale=False),
}
LOGS = np.linspace(-13, 8, 2001)  # of sigma


def table(n, d, seed=3, noise=1.0):
    """Rows of d correlated predictors of different scales, weights and offsets."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.arange(1, d + 1)
    X[:, 0] += X[:, -1] * (d > 1)
    y = 1 + X @ np.linspace(-1, 1, d) + noise * random.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=y, w=random.integers(1, 40, n) / 10, o=random.normal(size=n))


def formula(d):
    """Of all predictors."""
    return "y ~ " + " + ".join(f"x{j}" for j in range(d))


def quadrature(frame, d, weights=None, offset=None, precision=None, centre=None, rate=1 / SCALE):
    """Means and sds of the coefficients and sigma.

    `precision` (d + 1,) and `centre` are those of normal priors, by default of PRIOR.
    """
    X = np.column_stack([np.ones(len(frame)), frame[[f"x{j}" for j in range(d)]]])
    y = frame.y - (0 if offset is None else frame[offset])
    w = np.ones(len(frame)) if weights is None else frame[weights].to_numpy()
    gram, product = X.T @ (X * np.c_[w]), X.T @ (w * y)
    P = np.diag(np.r_[1 / 25, np.full(d, 1 / 4)] if precision is None else precision)
    m0 = np.r_[0, np.full(d, 0.5)] if centre is None else centre
    t = np.exp(-2 * LOGS)[:, None]
    H = t[..., None] * gram + P
    mean = np.linalg.solve(H, (t * product + P @ m0)[..., None])[..., 0]
    # in residuals, so that nothing cancels
    e, apart = y.to_numpy() - mean @ X.T, mean - m0
    loss = t[:, 0] * (e**2 @ w) + ((apart @ P) * apart).sum(axis=1)
    value = -w.sum() * LOGS - loss / 2 - np.linalg.slogdet(H)[1] / 2
    value += LOGS - rate * np.exp(LOGS)
    p, sigma = np.exp(value - value.max()), np.exp(LOGS)
    p /= p.sum()
    found = p @ mean
    inner = np.diagonal(np.linalg.inv(H), axis1=1, axis2=2)
    variance = p @ (inner + (mean - found) ** 2)
    level = p @ sigma
    return np.append(found, level), np.sqrt(np.append(variance, p @ (sigma - level) ** 2))


def departures(results, expected):
    """Errors of means and of sds of independent draws, in their Monte Carlo errors (those of sds as
    of a distribution with a kurtosis of 6), two arrays.
    """
    mean, sd = expected
    draws = results.draws.reshape(-1, len(mean))
    n = len(draws)
    return (
        (draws.mean(axis=0) - mean) / sd * np.sqrt(n),
        (draws.std(axis=0) / sd - 1) * np.sqrt(4 * n / 5),
    )
