"""Random walks: their covariance, the posterior against quadrature, and times that no row has."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc import formula
from sgmc.errors import ExtrapolationWarning, FormulaError

TIMES = np.array([0.0, 1, 2, 4, 7, 8, 9, 13])


def walk_covariance(order, times=TIMES):
    """Of walks that begin at zero (those of order two with slope zero), by simulating each of their
    increments: nothing is shared with the package.
    """
    gaps, paths = np.diff(times), []
    for k in range(len(gaps) - order + 1):
        path, slope = [0.0], 0.0
        for i, gap in enumerate(gaps):
            if order == 1:
                path.append(path[-1] + (i == k) * np.sqrt(gap))
            else:
                if i:
                    slope += (i - 1 == k) * np.sqrt(0.5 * (gaps[i - 1] + gap))
                path.append(path[-1] + slope * gap)
        paths.append(path)
    found = np.transpose(paths)
    return found @ found.T


def of_rows(order, t):
    """The same of rows, beyond what is not penalised, with a mean variance of one."""
    at = np.searchsorted(TIMES, t)
    whole = walk_covariance(order)[np.ix_(at, at)]
    T = np.column_stack([t**p for p in range(order)])
    Q = np.eye(len(t)) - T @ np.linalg.pinv(T)
    found = Q @ whole @ Q
    return found / np.trace(found) * len(t)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    t = np.append(TIMES, rng.choice(TIMES, 32))
    y = 1.0 + np.cos(t / 2) + 0.5 * rng.normal(size=40)
    return pd.DataFrame(dict(y=y, t=t, g=rng.choice(list("ab"), 40), zero=0.0))


@pytest.mark.parametrize("order", [1, 2])
def test_columns_have_the_covariance_of_a_walk(order, frame):
    Z = formula.read(f"y ~ rw{order}(t)", frame, outcome="numeric").grouping().curves
    np.testing.assert_allclose(Z @ Z.T, of_rows(order, frame.t.to_numpy()), atol=1e-10)


def test_coefficients_are_what_is_not_penalised(frame):
    def names(text):
        return formula.read(text, frame, outcome="numeric").spec.exog_names

    assert names("y ~ rw1(t)") == ["Intercept"]
    assert names("y ~ rw2(t)") == ["Intercept", "t"]
    assert names("y ~ rw1(t, by=g)") == ["Intercept", "g[T.b]"]


def by_quadrature(frame, prior):
    """Means and sds of (sd, sigma, walk at TIMES): normal outcomes, exactly given sds on a grid of
    their logs.  All covariances have the eigenvectors of that of the rows' walk, as it has a mean
    of zero and the intercept's prior is that of the mean.
    """
    t, y = frame.t.to_numpy(), frame.y.to_numpy()
    K = of_rows(1, t)
    values, vectors = np.linalg.eigh(K + np.ones_like(K))  # the constant has eigenvalue n
    constant = np.argmax(np.abs(vectors.sum(axis=0)))
    walk = np.where(np.arange(len(y)) == constant, 0.0, values)
    level = np.where(np.arange(len(y)) == constant, 25.0 * len(y), 0.0)  # normal(0, 5)
    z = vectors.T @ y
    first = [int(np.flatnonzero(t == one)[0]) for one in TIMES]
    weight, moments = [], []
    for a in np.linspace(-5, 3.5, 90):
        for b in np.linspace(-1.5, 0.5, 70):
            sd, sigma = np.exp(a), np.exp(b)
            variance = sd**2 * walk + level + sigma**2
            log = -0.5 * (np.log(variance) + z**2 / variance).sum() + a + b
            weight.append(log + prior.logpdf(sd) - sigma)  # exponential(1) of sigma
            share = sd**2 * walk / variance
            mean = vectors[first] @ (share * z)
            left = vectors[first] ** 2 @ (sd**2 * walk * (1 - share))
            moments.append(np.r_[sd, sigma, mean, sd**2, sigma**2, mean**2 + left])
    weight = np.exp(np.array(weight) - max(weight))
    found, second = np.split(np.average(moments, axis=0, weights=weight), 2)
    return found, np.sqrt(second - found**2)


def test_the_posterior_is_that_of_quadrature(frame):
    """8,000 nearly independent draws: means to .012 sd, sds to .8 % or, of the skewed sd, some 2 %
    as standard errors; four of these are allowed.  A walk whose unit is off by sqrt 2 moves sd's
    mean by half of its sd.
    """
    prior = {
        "Intercept": sgmc.normal(0, 5), "sd": sgmc.half_normal(2), "sigma": sgmc.exponential(1)
    }  # fmt: skip
    res = sgmc.ols("y ~ rw1(t)", frame, prior=prior, draws=2000, seed=1)
    mean, sd = by_quadrature(frame, stats.halfnorm(scale=2))
    table = res.smooth(at=TIMES)
    found = np.r_[res.params[["sd(rw1(t))", "sigma"]], table["mean"]]
    spread = np.r_[res.bse[["sd(rw1(t))", "sigma"]], table["sd"]]
    np.testing.assert_allclose((found - mean) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(spread, sd, rtol=0.08)


def test_times_that_no_row_has(frame):
    """A walk of order one stays where it ended; with later times among its own, the variance of
    what comes then grows by one increment's for each unit of time.
    """
    later = pd.DataFrame(dict(t=[13.0, 14.0, 17.0]))
    res = sgmc.ols("y ~ rw1(t)", frame, draws=500, seed=1)
    with pytest.warns(ExtrapolationWarning, match="stays where it ended"):
        found = res.predict(later)
    assert np.ptp(found) < 1e-9
    res = sgmc.ols("y ~ rw1(t, knots=[14, 17])", frame, draws=500, seed=1)
    x, f, _ = res.curve(at=later.t)
    steps = np.diff(f, axis=0)
    sd = res.draws[..., list(res.params.index).index("sd(rw1(t))")].ravel()
    (one,) = res.model.groups.smooths
    unit = np.linalg.norm(np.diff(one.matrix(x, np.ones((3, 1))), axis=0), axis=1)
    assert unit[1] == pytest.approx(np.sqrt(3) * unit[0])
    np.testing.assert_allclose(steps.std(axis=1), unit * np.sqrt((sd**2).mean()), rtol=0.1)
    np.testing.assert_allclose(res.smooth()["t"], [*TIMES, 14, 17])


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # of few draws
def test_a_file_has_the_walk(frame, tmp_path):
    res = sgmc.ols("y ~ rw2(t, by=g)", frame, draws=50, seed=1)
    res.save(tmp_path / "walk.sgmc")
    again = sgmc.load(tmp_path / "walk.sgmc")
    np.testing.assert_array_equal(again.predict(frame), res.predict(frame))


@pytest.mark.parametrize(
    "text, message",
    [
        ("y ~ rw1(t, k=4)", "there is no option 'k'"),
        ("y ~ rw1(t, knots='a')", r"knots are more times, such as knots=\[2025, 2026\]"),
        ("y ~ rw1(t, knots=[1e999])", "knots are more times"),
        ("y ~ rw1(t, t)", "a smooth of one covariate, rw1"),
        ("y ~ rw1(t) + rw1(t)", "is there twice"),
        ("y ~ rw1(zero)", "the rows have 1 different values"),
        ("y ~ rw1(g)", "smooths are of numbers"),
    ],
)
def test_what_is_refused(text, message, frame):
    with pytest.raises(FormulaError, match=message):
        sgmc.ols(text, frame)


def test_too_many_times_are_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(dict(y=rng.normal(size=1100), t=rng.normal(size=1100)))
    with pytest.raises(FormulaError, match="1,100 different values, at most 1,000; round the"):
        sgmc.ols("y ~ rw1(t)", frame)
