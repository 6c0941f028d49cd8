"""A slope between ends beside one with a horseshoe, by sums over a grid."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc

SCALE, SLAB = 0.3, 2.0


def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) + 0.7 * rng.normal(size=(60, 1))
    y = rng.random(60) < special.expit(X @ [0.3, 0.4])
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y.astype(int)})


def by_sums(df):
    """Means and sds of a, which is half normal, and of b, whose horseshoe is exp(z) E1(z), z =
    b^2 / (2 scale^2), times the slab's normal density.
    """
    # no node is at the pole of b, whose mass within a step of it is below .1 %
    a, b = np.linspace(0, 4, 161), np.linspace(-3, 4, 2800)
    z = b**2 / (2 * SCALE**2)
    # for large z, exp(z) E1(z) is 1 / z (1 - 1 / z)
    shrunk = np.where(z > 500, (1 - 1 / z) / z, np.exp(np.minimum(z, 500)) * special.exp1(z))
    prior = stats.halfnorm(scale=1).logpdf(a)[:, None] + np.log(shrunk) - b**2 / (2 * SLAB**2)
    eta = a[:, None, None] * df.a.to_numpy() + b[None, :, None] * df.b.to_numpy()
    value = special.log_expit(np.where(df.y, eta, -eta)).sum(axis=-1) + prior
    weight = np.exp(value - value.max())
    weight[[0, -1]] *= 0.5
    weight /= weight.sum()
    means = np.array([weight.sum(axis=1) @ a, weight.sum(axis=0) @ b])
    squares = np.array([weight.sum(axis=1) @ a**2, weight.sum(axis=0) @ b**2])
    return means, np.sqrt(squares - means**2)


@pytest.fixture(scope="module")
def known():
    return by_sums(table())


def fitted(horseshoe, sampler="mala"):
    prior = {"a": sgmc.half_normal(1), "b": horseshoe}
    how = {"sampler": sampler, "seed": 1, "draws": 4000, "progress": False}
    return sgmc.logit("y ~ 0 + a + b", table(), prior=prior, **how)


def off(results, known):
    means, sds = known
    return max(np.abs((results.params - means) / sds).max(), np.abs(results.bse / sds - 1).max())


def test_posteriors_are_those_of_sums(known):
    res = fitted(sgmc.horseshoe(scale=SCALE, slab=SLAB, autoscale=False))
    assert res.verdict.trustworthy
    # draws are worth 11,000: errors of .01 sd of means and 1 % of sds, the grid's below .3 %
    assert off(res, known) < 0.04


@pytest.mark.mistake("horseshoe beside ends: {mistake}")
@pytest.mark.parametrize(
    "name, mistake, times",
    [("mala", "a scale too large", 4), ("mala", "a scale too small", 0.25)],
)
def test_another_scale_is_seen(known, name, mistake, times):
    other = fitted(sgmc.horseshoe(scale=times * SCALE, slab=SLAB, autoscale=False), name)
    assert off(other, known) > 0.08
