"""Posteriors of smooths against quadrature that shares nothing with the package: curves by the
reproducing kernel of natural splines, coefficients in closed form, sds on a grid.
"""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError

from ..splines.kernel import penalised_covariance

KNOTS, ROWS = 6, 120
MEAN, SD = 0.1, 0.05  # of 12,000 draws: six and three Monte Carlo errors of the least efficient


@lru_cache
def frame():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, size=ROWS)
    return pd.DataFrame(dict(x=x, y=0.8 * np.sin(5 * x) + 0.5 * rng.normal(size=ROWS)))


def quadrature(scale=1.0, penalty=1.0):
    """Means and sds of (sd of the smooth, sigma, slope) and of the curve at the rows; the prior of
    the sd is as wide as `scale` says, its curve has `penalty` times the variance.
    """
    data = frame()
    x, y = data.x.to_numpy(), data.y.to_numpy()
    C = penalty * penalised_covariance(x, KNOTS)
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
    """Three fits of 1,000 draws a chain."""
    formula = f"y ~ s(x, k={KNOTS})"
    return [sgmc.ols(formula, frame(), seed=seed, draws=1000) for seed in range(3)]


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


@pytest.mark.extended
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


def test_it_is_trusted_with_the_draws_that_the_verdict_asks_for():
    """An sd with so few directions behind it has long tails: of 1,000 draws the verdict says how
    many tell its own sd.  By default they are taken.
    """
    seed, one = next((k, r) for k, r in enumerate(fitted()) if not r.verdict.trustworthy)
    assert "Take draws" in str(one.verdict)
    assert one.resume(draws=3000).verdict.trustworthy
    open_ = sgmc.ols(f"y ~ s(x, k={KNOTS})", frame(), seed=seed)
    assert open_.verdict.trustworthy
    more = open_.draws.shape[1] - 1000
    np.testing.assert_array_equal(open_.draws, one.resume(draws=more).draws)


def test_what_belongs_to_group_terms_is_refused_without_them():
    one = fitted()[0]
    for ask in (one.ranef, one.ranef_draws, lambda: one.cov_re, lambda: one.random_effects):
        with pytest.raises(ArgumentError, match="no group terms"):
            ask()


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # of few draws
@pytest.mark.filterwarnings("ignore::sgmc.errors.TailWarning")  # likewise
def test_effects_of_levels_beside_a_smooth_have_their_covariance():
    data = frame().assign(g=np.arange(ROWS) % 8)
    data["y"] += 2.0 * np.random.default_rng(0).normal(size=8)[data["g"]]
    one = sgmc.ols("y ~ s(x, k=6) + (1 | g)", data, seed=1, draws=100)
    assert one.cov_re.shape == (1, 1)
    variance = (one.flat[:, list(one.names).index("sd(1|g)")] ** 2).mean()
    assert one.cov_re.iloc[0, 0] == pytest.approx(variance)
