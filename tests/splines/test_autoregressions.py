"""Autoregressions in time: covariances, density, the posterior against quadrature, and times that
no row has.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc import formula
from sgmc.core.expansion import of_prior
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.fit.settings import check_settings

TIMES = np.array([0.0, 1, 2, 3, 5, 6, 9, 10, 11, 12, 15])  # four of them are without rows
SIGMA = 0.5  # of the errors, known where `se=` is given
EVERY = np.arange(16.0)


@cache
def table():
    """Of a series with rho = 0.8, made once."""
    rng = np.random.default_rng(4)
    t = np.append(TIMES, rng.choice(TIMES, 19))
    f = np.linalg.cholesky(covariance(EVERY, EVERY, 0.8)) @ rng.normal(size=16)
    y = 1.0 + f[t.astype(int)] + SIGMA * rng.normal(size=30)
    count = rng.poisson(np.exp(0.5 + 0.5 * f[t.astype(int)]))
    g = rng.choice(list("ab"), 30)
    return pd.DataFrame(dict(y=y, t=t, count=count, g=g, half=t + 0.5 * (t == 6), zero=0.0))


@pytest.fixture
def frame():
    return table()


def covariance(a, b, rho):
    """Of an autoregression with a standard deviation of one."""
    return float(rho) ** np.abs(np.subtract.outer(a, b))


def crossing_of(text, frame):
    return formula.read(f"y ~ {text}", frame, outcome="numeric").grouping()


# ---- density -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.5, 0.99])
def test_a_given_rho_has_its_covariance(rho, frame):
    Z, t = crossing_of(f"ar1(t, rho={rho})", frame).curves, frame.t.to_numpy()
    np.testing.assert_allclose(Z @ Z.T, covariance(t, t, rho), atol=1e-12)


def by_numpy(theta, problem, scale, ends=1.0, jacobian=1.0):
    """Log density of (beta, b, phi, eta) at the default priors: the series at all times by its
    covariance; the mistakes are of the precision at the ends, and of the prior of rho.
    """
    (phi,), (eta,) = (theta[one] for one in (problem.own.rows.blocks.phi,
                                             problem.own.rows.blocks.eta))  # fmt: skip
    sd, rho, m = scale * np.sinh(phi), np.tanh(eta), len(EVERY)
    # cosines of the discrete transform
    Z = np.cos(np.pi / m * np.outer(EVERY + 0.5, EVERY)) * np.sqrt(np.where(EVERY > 0, 2, 1) / m)
    f = Z @ theta[1 : 1 + m]
    value = stats.norm.logpdf(theta[0], 0, 2.5) + stats.t.logpdf(sd, 3, 0, 2.5)
    value += np.log(scale * np.cosh(phi)) + (1 + jacobian) * np.log(1 - rho**2)  # lkj(2)
    Q = np.linalg.inv(sd**2 * covariance(EVERY, EVERY, rho))
    Q[0, 0] += (1 - ends) / sd**2
    return value + 0.5 * np.linalg.slogdet(Q)[1] - 0.5 * f @ Q @ f


def apart(frame, **how):
    """Largest difference of log densities but for a constant, relative to their size."""
    problem = sgmc.Poisson.from_formula("count ~ ar1(t)", frame).problem(
        None, check_settings(seed=1)
    )
    rng, blocks, found, size = np.random.default_rng(5), problem.own.rows.blocks, [], 1.0
    for eta in (-2.0, -0.7, 0.0, 0.4, 1.0, 2.0):
        theta = rng.normal(size=blocks.size)
        theta[blocks.phi], theta[blocks.eta] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5), eta
        ours = of_prior(problem.prior, theta)[0]
        found.append(ours - by_numpy(theta, problem, blocks.loading.scale[0], **how))
        size = max(size, abs(ours))
    return np.ptp(found) / size


def test_densities_are_those_of_numpy(frame):
    """To rounding."""
    assert apart(frame) < 1e-12


@pytest.mark.parametrize("how", [dict(ends=1.01), dict(jacobian=0.0)])
def test_a_mistake_in_the_density_is_seen(how, frame):
    """An end with another precision; a prior without the Jacobian of rho."""
    assert apart(frame, **how) > 1e-6


def test_gradients_are_those_of_differences(frame):
    """By steps of 1e-6: to some 1e-8 of the largest."""
    model = sgmc.Poisson.from_formula("count ~ ar1(t)", frame)
    problem = model.problem(None, check_settings(seed=1))
    blocks = problem.own.rows.blocks
    for eta in (-1.5, 0.0, 0.3, 1.5):
        theta = np.random.default_rng(6).normal(size=blocks.size)
        theta[blocks.phi], theta[blocks.eta] = 0.8, eta
        gradient = of_prior(problem.prior, theta)[1]
        steps = 1e-6 * np.eye(len(theta))
        ways = [[of_prior(problem.prior, theta + s * one)[0] for one in steps] for s in (1, -1)]
        differences = np.subtract(*ways) / 2e-6
        np.testing.assert_allclose(gradient, differences, atol=1e-7 * np.abs(gradient).max())


# ---- posterior -----------------------------------------------------------------------------------


def quadrature(frame, bent=0.0, ahead=()):
    """Means and sds of (sd, rho, series at all times and later ones) at a known sigma, by a grid;
    `bent` is a mistake, the power of 1 - rho^2 in the prior's density.
    """
    y, t, at = frame.y.to_numpy(), frame.t.to_numpy(), np.append(EVERY, ahead)
    points = np.stack(np.meshgrid(np.linspace(-3, 2.5, 45), np.linspace(-3, 4, 57)), axis=-1)
    weight, moments = [], []
    for log_sd, eta in points.reshape(-1, 2):
        variance, rho = np.exp(2 * log_sd), np.tanh(eta)
        V = variance * covariance(t, t, rho) + 25.0 + SIGMA**2 * np.eye(len(y))
        gain = np.linalg.solve(V, variance * covariance(t, at, rho)).T
        spread = variance - np.sum(gain * variance * covariance(at, t, rho), axis=1)
        root = np.linalg.cholesky(V)
        white = np.linalg.solve(root, y)
        value = -0.5 * white @ white - np.log(np.diag(root)).sum()
        value += stats.halfnorm.logpdf(np.exp(log_sd), scale=2) + log_sd
        weight.append(value + (2 + bent) * np.log1p(-(rho**2)))  # lkj(2)
        mean = gain @ y
        moments.append(np.r_[np.exp(log_sd), rho, mean, variance, rho**2, mean**2 + spread])
    weight = np.exp(np.array(weight) - max(weight))
    found, second = np.split(np.average(moments, axis=0, weights=weight), 2)
    return found, np.sqrt(second - found**2)


PRIOR = {"Intercept": sgmc.normal(0, 5), "sd(ar1(t))": sgmc.half_normal(2)}


@cache
def fit():
    """8,000 draws."""
    given = table().assign(se=SIGMA)
    return sgmc.ols("y ~ ar1(t)", given, se="se", prior=PRIOR, seed=1, draws=2000)


def test_the_posterior_is_that_of_quadrature(frame):
    """8,000 nearly independent draws: means to .012 sd, sds to some 2 % as standard errors; four of
    these, and 5 %, are allowed.
    """
    res, names = fit(), ["sd(ar1(t))", "rho(ar1(t))"]
    curve = res.smooth(at=EVERY)
    found, spread = np.r_[res.params[names], curve["mean"]], np.r_[res.bse[names], curve["sd"]]
    mean, sd = quadrature(frame)
    np.testing.assert_allclose((found - mean) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(spread, sd, rtol=0.05)
    mean, sd = quadrature(frame, bent=1.0)
    assert np.abs((found - mean) / sd).max() > 0.1


# ---- times that no row has, options, files -------------------------------------------------------


def test_other_times_follow_the_law_of_the_series(frame):
    """Means and sds of the series 1, 4 and 20 steps after the last time, and before the first one:
    by quadrature; 8,000 draws with noise, .05 sd and 5 % as above.
    """
    later = np.array([16.0, 19, 35, -2])
    res = fit()
    found = res.smooth(at=later)
    mean, sd = (one[-4:] for one in quadrature(frame, ahead=later))
    np.testing.assert_allclose((found["mean"] - mean) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(found["sd"], sd, rtol=0.05)
    # where a series stays at its last value its means are others
    wrong = res.smooth(at=[15.0])["mean"].iloc[0]
    assert abs(wrong - mean[2]) / sd[2] > 0.1
    # neighbouring times are correlated by rho, and predictions have the same paths
    _, f, _ = res.curve(at=[35.0, 36.0])
    rho = res.flat[:, list(res.params.index).index("rho(ar1(t))")]
    assert np.corrcoef(f)[0, 1] == pytest.approx(rho.mean(), abs=0.1)
    level = res.params["Intercept"]
    new = pd.DataFrame(dict(t=[*later, 3.0], se=SIGMA))
    np.testing.assert_allclose(res.predict(new)[:4] - level, found["mean"], atol=1e-9)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_files_have_the_series_and_later_times(frame, tmp_path):
    res = sgmc.ols("y ~ ar1(t, by=g)", frame, draws=50, seed=1)
    new = pd.DataFrame(dict(t=[3.0, 17.0, 17.0, 18.0], g=list("aabb")))
    res.save(tmp_path / "series.sgmc")
    again = sgmc.load(tmp_path / "series.sgmc")
    np.testing.assert_array_equal(again.predict(new), res.predict(new))
    names = {"sd(ar1(t):g[a])", "rho(ar1(t):g[a])", "sd(ar1(t):g[b])", "rho(ar1(t):g[b])"}
    assert names <= set(res.params.index)
    assert np.abs(res.params["rho(ar1(t):g[a])"]) < 1
    pd.testing.assert_frame_equal(again.smooth("ar1(t):g[b]"), res.smooth("ar1(t):g[b]"))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_effects_of_groups_stand_beside_a_series(frame):
    res = sgmc.poisson("count ~ ar1(t) + (1 | g)", frame, draws=50, seed=1)
    new = pd.DataFrame(dict(t=[15.0, 16.0], g=["a", "b"]))
    assert np.isfinite(res.predict(new)).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_effects_and_grids_have_whole_steps(frame):
    """A slope is the difference of a step, also beyond the last time; typical times are some."""
    pytest.importorskip("matplotlib").use("Agg")
    res = sgmc.ols("y ~ ar1(t)", frame, seed=1, draws=50)
    found = res.avg_slopes()
    assert list(found.term) == ["t"] and list(found.contrast) == ["+1"]
    moved = res.predict(frame.assign(t=frame.t + 1)) - res.predict(frame)
    assert found.estimate[0] == pytest.approx(moved.mean(), rel=1e-10)
    by_row = res.comparisons("t")
    np.testing.assert_allclose(by_row.estimate, moved, rtol=1e-8)
    assert sgmc.datagrid(res).t.isin(TIMES).all()
    line = res.plot_predictions("t").lines[0].get_xdata()
    np.testing.assert_array_equal(line, EVERY)
    assert len(res.predictions(variables={"t": None})) == 5 * len(frame)
    res.plot_comparisons()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_files_have_later_times_beside_groups_too(frame, tmp_path):
    """Whole draws are fewer than all, and their parameters are in the file."""
    data = pd.concat([frame.assign(g=g) for g in "abcdef"], ignore_index=True)
    data["y"] += 0.1 * np.arange(len(data)) % 1
    res = sgmc.ols("y ~ ar1(t) + (1 | g)", data, seed=1, draws=300)
    assert len(res.curve_draws.columns) < len(res.flat)
    res.save(tmp_path / "fit.sgmc")
    later = data.head(3).assign(t=[16.0, 20.0, 4.0])
    np.testing.assert_array_equal(
        sgmc.load(tmp_path / "fit.sgmc").predict(later), res.predict(later)
    )
    kept = res._joint_draws[:, res.names.index("rho(ar1(t))")]
    np.testing.assert_allclose(res.parameter_draws("rho(ar1(t))"), kept)


def test_a_step_is_that_of_the_times(frame):
    """Months that are numbered by threes, and quarters of years."""
    for scale in (3, 0.25, 1 / 12):
        (one,) = crossing_of("ar1(t)", frame.assign(t=1990 + scale * frame.t)).spec.smooths
        assert one.bases[0].step == pytest.approx(scale)
        assert one.sizes == [16]
    (one,) = crossing_of("ar1(t, step=0.5)", frame).spec.smooths
    assert one.sizes == [31]


@pytest.mark.parametrize(
    "text, message",
    [
        ("ar1(t, rho=1)", "rho is a number between -1 and 1"),
        ("ar1(t, rho='a')", "rho is a number between"),
        ("ar1(t, step=0)", "step is the distance of neighbouring times"),
        ("ar1(t, step=2)", "1 is not so many of 2 after 0; number the times"),
        ("ar1(half)", r"number the times 0, 1, 2, \.\.\., or give step="),
        ("ar1(t, k=3)", "there is no option 'k'"),
        ("ar1(zero)", "the rows have 1 different values"),
        ("ar1(t, step=0.01)", "there are 1,501 times from the first to the last one"),
        ("ar1(t) + ar1(t)", "is there twice"),
        ("ar1(g)", "smooths are of numbers"),
    ],
)
def test_what_is_no_series_is_refused(text, message, frame):
    with pytest.raises(FormulaError, match=message):
        crossing_of(text, frame)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_times_between_steps_priors_and_starts(frame):
    res = sgmc.ols("y ~ ar1(t)", frame, draws=50, seed=1, init=[1.0, 1.0, -0.3, 0.5])
    with pytest.raises(DataError, match="a row has 2.5 between two of them; round the times"):
        res.predict(pd.DataFrame(dict(t=[2.5])))
    with pytest.raises(ArgumentError, match="of ar1 between -1 and 1"):
        sgmc.ols("y ~ ar1(t)", frame, draws=50, seed=1, init=[1.0, 1.0, 1.3, 0.5])
    with pytest.raises(ArgumentError, match=r"use e.g. sgmc.uniform\(-1, 1\) or lkj\(2\)"):
        sgmc.ols("y ~ ar1(t)", frame, draws=50, prior={"rho(ar1(t))": sgmc.normal(0, 1)})


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
@pytest.mark.parametrize("given, power", [(sgmc.uniform(-1, 1), 0), (None, 1)])
def test_draws_of_the_prior_alone(given, power, frame):
    """Quartiles of rho, whose law is that of 2 B - 1 with B ~ Beta(1 + power, 1 + power): 4,000
    nearly independent draws have them to .02, and three times that are allowed.
    """
    prior = {"rho(ar1(t))": given} if given else {}
    res = sgmc.ols("y ~ ar1(t)", frame, prior=prior, draws=1000, seed=1, prior_only=True)
    rho = res.flat[:, list(res.params.index).index("rho(ar1(t))")]
    law = stats.beta(1 + power, 1 + power, -1, 2)
    np.testing.assert_allclose(np.quantile(rho, [0.25, 0.5, 0.75]), law.ppf([0.25, 0.5, 0.75]),
                               atol=0.06)  # fmt: skip
