"""Student errors of learned degrees of freedom: outliers make a mode of narrow errors with few
degrees of freedom beside one of wide errors, and the usual start leads to the wide one.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
NARROW = 0.5  # sigma between the two modes


def outcomes(seed, outliers=6, n=20):
    """Normal outcomes of sd 0.1, some of them 5 away."""
    y = 0.1 * np.random.default_rng(seed).normal(size=n)
    y[:outliers] += 5
    return pd.DataFrame({"y": y})


def share_of_narrow_errors(y):
    """P(sigma < NARROW | y) of ``y ~ 1`` under the default priors, by a sum over a grid of the
    intercept, log sigma and log df.
    """
    unit = y.std()  # the prior's, with n in the denominator
    mu = np.concatenate([np.linspace(-0.6, 0.6, 61), np.linspace(0.7, 5, 44)])
    width = np.gradient(mu)
    sigma, df = np.exp(np.linspace(-5, 2.5, 76)), np.exp(np.linspace(-3, 5, 61))
    m, s, v = (one[..., None] for one in np.meshgrid(mu, sigma, df, indexing="ij"))
    log = stats.t.logpdf((y - m) / s, v).sum(axis=-1) - len(y) * np.log(s[..., 0])
    m, s, v = m[..., 0], s[..., 0], v[..., 0]
    log += stats.norm.logpdf(m, y.mean(), 2.5 * unit) - s / unit
    log += np.log(v) - v / 10 + np.log(s) + np.log(v)  # gamma(2, scale=10), and both Jacobians
    mass = np.exp(log - special.logsumexp(log)) * width[:, None, None]
    return mass[s < NARROW].sum() / mass.sum()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_mode_that_holds_most_is_found_by_itself(seed):
    """Fits were trusted, with all draws at a mode that held less than a tenth: their sigma was 15
    times too large.  A trusted fit has the share within 0.05.
    """
    df = outcomes(seed)
    right = share_of_narrow_errors(df.y.to_numpy())
    assert right > 0.8  # the question is a real one
    res = sgmc.rlm("y ~ 1", df, df=None, seed=1)
    sigma = res.flat[:, list(res.names).index("sigma")]
    assert (sigma < NARROW).any()
    if res.verdict.trustworthy:
        assert (sigma < NARROW).mean() == pytest.approx(right, abs=0.05)


def test_without_outliers_there_is_one_mode():
    res = sgmc.rlm("y ~ 1", outcomes(1, outliers=0, n=60), df=None, seed=1)
    assert res.verdict.trustworthy
    assert "1 mode found from 7 starts" in str(res.verdict)


def test_with_groups_the_mode_of_narrow_errors_is_found():
    """Nine of 30 outcomes are 5 away: without them sigma is 0.1, and with ``(1 | g)`` the usual
    start led to 2.3, trusted.
    """
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"g": np.arange(30) % 3, "y": 0.1 * rng.normal(size=30)})
    df.loc[rng.choice(30, 9, replace=False), "y"] += 5
    res = sgmc.rlm("y ~ 1 + (1 | g)", df, df=None, seed=1, draws=500)
    assert (res.flat[:, list(res.names).index("sigma")] < NARROW).any()


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ 1", "y ~ x + (1 | g)"])
def test_rounded_outcomes_are_no_mode_without_noise(formula):
    """Outcomes that are equal fit exactly with sigma zero and no degrees of freedom, where the
    density is infinite; what is asked for is the mode of all rows.
    """
    rng = np.random.default_rng(7)
    df = pd.DataFrame({"x": rng.normal(size=200), "g": np.arange(200) % 5})
    df["y"] = np.round(3 + 0.5 * df.x + rng.standard_t(4, size=200))
    res = sgmc.rlm(formula, df, df=None, seed=1)
    assert res.verdict.trustworthy
    assert 0.8 < res.params["sigma"] < 1.6  # the scale of the errors is 1
