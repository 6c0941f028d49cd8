"""Posteriors of monotonic effects against sums over grids."""

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import PriorWarning, SignWarning

from .sums import EFFECTS, RATE, SLOPE, TOTAL, posterior, table

PRIOR = {
    "mo(x)": sgmc.normal(0, TOTAL),
    "z": sgmc.normal(0, SLOPE),
    "sigma": sgmc.exponential(RATE),
}
CASES = {  # effects of the levels beside the lowest, rows, seed
    "rising": ([0.3, 0.5, 1.2], 120, 0),
    "falling": ([0.0, 0.0, -0.6], 400, 2),
    "none": ([0.0, 0.1, 0.1], 120, 1),
    "up and down": ([0.35, 0.35, 0.0], 200, 3),
    "few rows": ([0.6, 0.0, 0.3], 50, 3),
}
NAMES = ["mo(x)[1]", "mo(x)[2]", "mo(x)[3]", "z", "sigma"]
# trusted draws know means and sds to .1 sd at most, here to about half of that; sums to .01 sd
MOST_MEAN, MOST_SD = 0.1, 0.06


@functools.cache
def known(case, **how):
    """Means and sds of a case by sums, and the mass of negative effects."""
    return posterior(table(*CASES[case]), **how)


def fitted(case, formula="y ~ mo(x) + z", **how):
    """A fit of the case."""
    return sgmc.ols(formula, table(*CASES[case]), prior=PRIOR, seed=1, **how)


def off(results, mean, sd):
    """Largest difference of a mean, in sds, and of an sd, relative."""
    means, sds = results.params[NAMES].to_numpy(), results.bse[NAMES].to_numpy()
    return np.abs((means - mean) / sd).max(), np.abs(sds / sd - 1).max()


@pytest.mark.parametrize("case", CASES)
def test_posteriors_are_those_of_sums(case):
    mean, sd, negative = known(case)
    results = fitted(case)
    means, sds = off(results, mean, sd)
    assert results.verdict.trustworthy and means < MOST_MEAN and sds < MOST_SD
    # increments have one sign in each draw, and either as often as they should
    draws = results.flat[:, [results.names.index(one) for one in NAMES[:3]]]
    assert ((draws >= 0).all(axis=1) | (draws <= 0).all(axis=1)).all()
    assert abs((draws[:, 0] < 0).mean() - negative) < 0.05


@pytest.mark.parametrize("sampler", ["nuts", "sgld"])
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_named_samplers_agree(sampler):
    mean, sd, _ = known("rising")
    means, sds = off(fitted("rising", sampler=sampler, draws=3000), mean, sd)
    assert means < MOST_MEAN and sds < MOST_SD


@pytest.mark.mistake("monotonic effects: {mistake}")
@pytest.mark.parametrize(
    "mistake, name, how",
    [
        ("the Jacobian counted twice", "none", {"pole": 2}),
        ("another prior", "none", {"total_sd": 0.3 * TOTAL}),
    ],
)
def test_mistakes_are_seen(mistake, name, how):
    mean, sd, _ = known(name, places=24, sds=15, **how)
    means, sds = off(fitted(name), mean, sd)
    assert means > MOST_MEAN or sds > MOST_SD


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
@pytest.mark.extended("gu")
@pytest.mark.parametrize("effects", ["g", "gu"])
def test_beside_effects_of_groups(effects):
    """Of one factor they are integrated out, of two that cross sampled."""
    df, sd = table(*CASES["rising"]), sgmc.half_normal(EFFECTS)
    terms = "".join(f" + (1 | {one})" for one in effects)
    prior = {**PRIOR, **{f"sd(1|{one})": sd for one in effects}}
    results = sgmc.ols(f"y ~ mo(x) + z{terms}", df, prior=prior, seed=1)
    means, sds = off(results, *posterior(df, tuple(effects), places=16, sds=12)[:2])
    assert results.verdict.trustworthy and means < MOST_MEAN and sds < MOST_SD


def of_few_rows(df, draws=4_000_000):
    """Means and sds of two increments and sigma, and the mass of negative effects, by importance
    sampling from the default priors.
    """
    rng, y = np.random.default_rng(1), df.y.to_numpy()
    level, b = rng.normal(y.mean(), 2.5 * y.std(), draws), rng.normal(0, 2.5 * y.std(), draws)
    share, sigma = rng.uniform(size=draws), rng.exponential(y.std(), draws)
    effect = np.stack([np.zeros(draws), b * share, b])[df.x.to_numpy()]
    residual = (y[:, None] - level - effect + effect.mean(axis=0)) / sigma
    w = special.softmax(-0.5 * (residual**2).sum(axis=0) - len(y) * np.log(sigma))
    kept = np.stack([b * share, b * (1 - share), sigma])
    mean = kept @ w
    return mean, np.sqrt(kept**2 @ w - mean**2), w[b < 0].sum()


@pytest.mark.filterwarnings("ignore::sgmc.errors.PriorWarning")
@pytest.mark.parametrize("seed", [0, 3])
def test_few_rows_leave_the_sign_open(seed):
    """Residuals of four rows have a tail as of few degrees of freedom: where the Gaussian at the
    mode left out one sign, means were off by .2 sd.  Importance sampling has 2e5 effective draws,
    the fit 4,000 and more: .1 sd and 6 % are four of their errors.
    """
    df = pd.DataFrame({"x": [0, 1, 2, 0], "y": np.random.default_rng(seed).normal(size=4)})
    results = sgmc.ols("y ~ mo(x)", df, seed=1)
    mean, sd, negative = of_few_rows(df)
    names = ["mo(x)[1]", "mo(x)[2]", "sigma"]
    assert results.verdict.trustworthy
    assert (np.abs(results.params[names] - mean) < MOST_MEAN * sd).all()
    assert (np.abs(results.bse[names] / sd - 1) < MOST_SD).all()
    assert abs((results.draws[..., 1] < 0).mean() - negative) < 0.05


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_chains_that_stood_still_are_said():
    """Three rows and three coefficients that fit them: without a mode, draws were infinite, and the
    advice was as many draws as there were.
    """
    y = np.random.default_rng(4).normal(size=3)
    results = sgmc.ols("y ~ mo(x)", pd.DataFrame({"x": [0, 1, 2], "y": y}), seed=1)
    assert results.verdict.trustworthy or "Take draws=1000" not in str(results.verdict)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.filterwarnings("ignore::sgmc.errors.ConvergenceWarning")
def test_an_effect_that_is_not_monotonic_is_said():
    df = table([0.5, 0.8, 0.4], 3000, 3)
    with pytest.warns(PriorWarning, match=r"mo\(x\)\[1\]' is not monotonic: .* C\(\)"):
        sgmc.ols("y ~ mo(x) + z", df, seed=1, draws=200)
    df = table([1.0, 0.0, 0.6], 400, 3)
    with pytest.warns(SignWarning, match="all be positive or all negative"):
        results = sgmc.ols("y ~ mo(x) + z", df, seed=1, draws=200)
    assert not results.verdict.trustworthy
