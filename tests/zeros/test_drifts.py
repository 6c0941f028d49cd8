"""Chains of mini-batches that drift far out, to numbers that are finite: they have diverged."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import sgmc
from sgmc.errors import ReplacedSamplerWarning
from sgmc.fit.choose import drifted
from sgmc.fit.settings import check_settings
from sgmc.models.regression.problem import regression_problem

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

SCALE = 2.5


def few_positive(seed, positive, n=300):
    """Counts of which a few are positive."""
    rng = np.random.default_rng(seed)
    rng.choice([60, 100, 300])
    y = np.zeros(n, dtype=int)
    y[:positive] = rng.integers(1, 4, positive)
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.permutation(y)})


def grid_moments(frame):
    """Means and sds of the three coefficients of ``y ~ 1 | x`` by a sum over a grid."""
    a, b, c = np.meshgrid(
        np.linspace(-14, 8, 81), np.linspace(-12, 16, 81), np.linspace(-9, 9, 61), indexing="ij"
    )
    centre = frame.x.mean()
    log = -0.5 * (a**2 + b**2 + c**2) / SCALE**2
    for x, y in zip(frame.x, frame.y):
        eta = b + c * (x - centre)
        p = expit(eta)
        log += (
            np.log(p + (1 - p) * np.exp(-np.exp(a)))
            if y == 0
            else y * a - np.exp(a) - np.logaddexp(0, eta)
        )
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    values = (a, b - c * centre, c)
    mean = [(mass * v).sum() for v in values]
    return np.array(mean), [np.sqrt((mass * (v - m) ** 2).sum()) for v, m in zip(values, mean)]


@pytest.mark.parametrize("far, gone", [(8.0, False), (40.0, True), (1e9, True), (np.inf, True)])
def test_draws_far_beyond_the_posterior_are_a_drift(far, gone):
    """Of a Gaussian in three whitened numbers: 40 sds lose 800 of the log density, 110 at most are
    no drift, and 8 sds are not looked at.
    """
    data = few_positive(0, 60).assign(y=lambda t: t.y + 5)
    model = sgmc.Poisson.from_formula("y ~ x + I(x**2)", data)
    problem = regression_problem(model.data, model.family, None, check_settings(seed=1))
    x = np.random.default_rng(0).normal(size=(2, 50, 3))
    x[1, 7, 2] = far
    assert drifted(problem, x) == gone


@pytest.mark.extended
@pytest.mark.parametrize("seed, positive", [(3, 4), pytest.param(2, 3, marks=pytest.mark.extended)])
def test_a_drift_that_stays_finite_is_replaced(seed, positive):
    """Draws of up to 6e10 under normal(0, 2.5) were kept.  Means to four Monte Carlo errors of the
    few effective draws of a posterior with two hills.
    """
    frame = few_positive(seed, positive)
    results = sgmc.zeroinflated("y ~ 1 | x", frame, prior=sgmc.normal(0, SCALE), seed=1)
    assert ReplacedSamplerWarning in {type(one) for one in results.warnings}
    assert np.abs(results.draws).max() < 6 * SCALE
    mean, sd = grid_moments(frame)
    error = np.array(sd) / np.sqrt(np.asarray(results.ess()))
    assert (np.abs(results.draws.mean(axis=(0, 1)) - mean) < 4 * error).all()
