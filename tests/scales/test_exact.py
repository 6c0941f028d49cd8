"""Posteriors at defaults against quadrature: orthogonal predictors, known sigma."""

import numpy as np
import pytest

import sgmc

from .exact import orthogonal, posterior, quantiles

N, D, SIGMA = 300, 50, 1.3
LEVELS = np.array([0.05, 0.5, 0.95])
PRIORS = {
    "ridge": sgmc.ridge(),
    "horseshoe": sgmc.horseshoe(learned=True),
    "r2d2": sgmc.r2d2(precision=10.0),
}
# 4 x 2,000 draws have effective sizes of 6,000 or more here: of 50 means the worst is off by
# 3.3 / sqrt(6000) = 0.043 sd, of sds of spiked densities (kurtosis 30) by 3.3 sqrt(7 / 6000) = 0.11
DRAWS, MEANS, SDS = 2000, 0.07, 0.12


def data(random):
    X = orthogonal(N, D, random)
    truth = np.zeros(D)
    truth[:6] = [1.0, -0.8, 0.5, -0.35, 0.25, 0.15]
    return X, X @ truth + SIGMA * random.normal(size=N)


def exactly(kind, X, y, factor=1.0):
    """Mean, sd and quantiles of the global parameter; `factor` plants a mistake: of noise sds."""
    y = y - y.mean()
    estimate, h = X.T @ y / (N - 1), (factor * SIGMA) ** 2 / (N - 1)
    if kind == "ridge":
        how = dict(unit=y.std(), slab=np.inf, df=3, scale=2.5)
        g = np.linspace(-6, 2, 801)
    elif kind == "horseshoe":
        how = dict(unit=SIGMA, slab=2.5 * y.std(), df=1, scale=5 / 45 / np.sqrt(N - 1))
        g = np.linspace(-12, 1, 201)
    else:
        how = dict(unit=SIGMA, slab=np.inf, df=5.0, scale=1, a=5.0 / D)
        g = np.linspace(-5, 9, 201)
    mean, sd, weight = posterior(kind, estimate, h, g, **how)
    return mean, sd, quantiles(g, weight, LEVELS)


@pytest.mark.parametrize("kind", PRIORS)
def test_means_sds_and_global_parameter(kind):
    X, y = data(np.random.default_rng(5))
    res = sgmc.OLS(y, np.column_stack([np.ones(N), X]), sigma=SIGMA).fit(
        prior={"*": PRIORS[kind]}, draws=DRAWS, seed=3
    )
    mean, sd, scale = exactly(kind, X, y)
    found = res.draws.reshape(-1, res.draws.shape[2])
    b, g = found[:, 1 : D + 1], found[:, D + 1]
    off = np.abs(b.mean(axis=0) - mean) / sd, np.abs(b.std(axis=0) / sd - 1)
    assert off[0].max() < MEANS
    assert off[1].max() < SDS
    # 0.05 of a probability: four standard errors of a share of one half among 1,600 draws
    at = np.array([np.mean(g <= one) for one in scale])
    assert np.abs(at - LEVELS).max() < 0.05
    # a planted mistake: noise too large by sqrt 2
    _, wrong, _ = exactly(kind, X, y, np.sqrt(2))
    assert np.abs(b.std(axis=0) / wrong - 1).max() > SDS
