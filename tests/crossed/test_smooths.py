"""Posteriors of smooths against quadrature that shares nothing with the package: curves by the
reproducing kernel of natural splines, coefficients in closed form, sds on a grid.
"""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc

KNOTS, ROWS = 6, 120
MEAN, SD = 0.1, 0.05  # of 12,000 draws: six and three Monte Carlo errors of the least efficient


@lru_cache
def frame():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, size=ROWS)
    return pd.DataFrame(dict(x=x, y=0.8 * np.sin(5 * x) + 0.5 * rng.normal(size=ROWS)))


def kernel(a, b):
    """Covariance of curves whose second derivatives are white noise, straight at 0."""
    s, t = np.meshgrid(a, b, indexing="ij")
    low = np.minimum(s, t)
    return s * t * low - 0.5 * (s + t) * low**2 + low**3 / 3


def penalised_covariance(x):
    """Of the rows' curve beyond the line nearest to it, with a mean variance of one."""
    u = (x - x.min()) / np.ptp(x)
    knots = np.quantile(np.unique(u), np.linspace(0, 1, KNOTS))
    lines = np.column_stack([np.ones(KNOTS), knots])
    free = np.linalg.svd(lines.T)[2][2:].T  # of coefficients of natural splines
    R = kernel(u, knots) @ free
    found = R @ np.linalg.solve(free.T @ kernel(knots, knots) @ free, R.T)
    Q = np.eye(len(u)) - (T := np.column_stack([np.ones(len(u)), u])) @ np.linalg.pinv(T)
    found = Q @ found @ Q
    return found / np.trace(found) * len(u)


def quadrature(scale=1.0, penalty=1.0):
    """Means and sds of (sd of the smooth, sigma, slope) and of the curve at the rows; the prior of
    the sd is as wide as `scale` says, its curve has `penalty` times the variance.
    """
    data = frame()
    x, y = data.x.to_numpy(), data.y.to_numpy()
    C = penalty * penalised_covariance(x)
    unit = y.std(ddof=1)
    X = np.column_stack([np.ones(ROWS), x - x.mean()])
    V = X @ np.diag([(2.5 * unit) ** 2, (2.5 * unit / x.std(ddof=1)) ** 2]) @ X.T
    sds = np.linspace(0.02, 12, 220) ** 1.5 * unit / 3
    sigmas = np.linspace(0.36, 0.72, 40)
    width = np.gradient(sds)
    log, mean, second = [], [], []
    for k, sd in enumerate(sds):
        prior = stats.t.logpdf(sd / (2.5 * unit * scale), 3) + np.log(width[k])
        covariance = V + sd**2 * C
        values, vectors = np.linalg.eigh(covariance)
        left = vectors.T @ (y - y.mean())
        for sigma in sigmas:
            total = values + sigma**2
            log.append(prior - 0.5 * (np.log(total) + left**2 / total).sum() - sigma / unit)
            gain = vectors @ (left / total)
            slope = (V[:, 0] - V[:, 1]) @ gain / (x[0] - x[1])
            curve = sd**2 * C @ gain
            mean.append(np.r_[sd, sigma, slope, curve])
            at = np.array([10, 60])
            part = sd**2 * C[at] @ vectors
            spread = sd**2 * C[at, at] - (part**2 / total).sum(axis=1)
            direction = (V[0] - V[1]) / (x[0] - x[1]) @ vectors
            own = (2.5 * unit / x.std(ddof=1)) ** 2 - (direction**2 / total).sum()
            second.append(np.r_[0, 0, own, spread])
    w = np.exp(np.array(log) - np.max(log))
    w /= w.sum()
    mean, second = np.array(mean), np.array(second)
    centre = w @ mean
    some = np.r_[0:3, 3 + at]
    total = w @ (second + (mean[:, some] - centre[some]) ** 2)
    return centre[some], np.sqrt(total)


@lru_cache
def fitted():
    """Three fits at defaults."""
    return [sgmc.ols(f"y ~ s(x, k={KNOTS})", frame(), seed=seed) for seed in range(3)]


def apart(**how):
    """Largest error of a mean, in sds, and of an sd, relative."""
    draws = []
    for one in fitted():
        _, f, _ = one.curve("s(x)", frame().x.to_numpy()[[10, 60]])
        flat = one.flat
        names = list(one.names)
        shift = (
            flat[:, names.index("x")] * (frame().x.to_numpy()[[10, 60]] - frame().x.mean())[:, None]
        )
        draws.append(
            np.column_stack(
                [flat[:, [names.index(n) for n in ("sd(s(x))", "sigma", "x")]], (f - shift).T]
            )
        )
    draws = np.concatenate(draws)
    mean, sd = quadrature(**how)
    return (
        np.abs((draws.mean(axis=0) - mean) / sd).max(),
        np.abs(draws.std(axis=0) / sd - 1).max(),
    )


def test_posteriors_are_those_of_quadrature():
    mean, sd = apart()
    assert mean < MEAN
    assert sd < SD


@pytest.mark.mistake("smooths: {mistake}")
@pytest.mark.parametrize("name", ["ols"])
@pytest.mark.parametrize(
    "mistake, how",
    [
        ("prior four times as narrow", dict(scale=0.25)),
        ("penalty half as large", dict(penalty=2.0)),
    ],
)
def test_a_mistake_is_seen(name, mistake, how):
    mean, sd = apart(**how)
    assert mean > 2 * MEAN or sd > 2 * SD


def test_verdicts_are_to_be_trusted():
    """Posteriors that the test above finds right."""
    assert sum(one.verdict.trustworthy for one in fitted()) >= 2
