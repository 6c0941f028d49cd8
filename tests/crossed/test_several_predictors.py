"""Group terms and smooths in several linear predictors of a family: log densities against plain
numpy, posteriors against those of models of each predictor alone, and what results make of effects.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.core import engine

from ..reference import families

# of few draws, and of sds that may be zero
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
LEVELS, ROWS = 12, 600
HOW = dict(seed=1, chains=2, draws=200)
WITH_GROUPS = "y ~ x + (1 | g) | z + (1 + z | g) + (1 | h)"
WITH_SMOOTHS = "y ~ s(x) + (1 | g) | x + s(z)"


def table(seed=2):
    """Counts of which zeros have levels and a slope of z of their own."""
    rng = np.random.default_rng(seed)
    g, h = rng.integers(0, LEVELS, ROWS), rng.integers(0, 5, ROWS)
    x, z = rng.normal(size=(2, ROWS))
    b, c, v, u = rng.normal(size=(4, LEVELS)) * [[0.5], [0.8], [0.6], [0.7]]
    eta = 0.9 + 0.4 * x + b[g]
    zeta = -0.6 + 0.5 * z + c[g] + v[g] * z + u[h]
    none = rng.random(ROWS) < special.expit(zeta)
    y = np.where(none, 0, rng.poisson(np.exp(eta)))
    return pd.DataFrame(dict(y=y, x=x, z=z, g=g, h=h))


TABLE = table()


@pytest.fixture(scope="module")
def fitted():
    """A zero-inflated fit with effects in both predictors."""
    return sgmc.zeroinflated(WITH_GROUPS, TABLE, **HOW)


def by_numpy(results, theta, moved=0):
    """Log density of (beta, b, phi) of `WITH_GROUPS`, but for a constant; effects of the zeros are
    added to predictor `moved` + 1.
    """
    own = results._fit.problem.own
    blocks, order = own.rows.blocks, own.rows.fixed.order
    x, z, y = (TABLE[name].to_numpy()[order] for name in "xzy")
    phi, loading = theta[blocks.phi], blocks.loading
    eta = np.array([theta[0] + theta[1] * (x - x.mean()), theta[2] + theta[3] * (z - z.mean())])
    g, h = TABLE.g.to_numpy()[order], TABLE.h.to_numpy()[order]
    count, zeros, items = (theta[blocks.of_term(t)] for t in range(3))
    eta[0] += count[g, 0]
    eta[(1 + moved) % 2] += zeros[g, 0] + zeros[g, 1] * z + items[h, 0]
    value = families.inflated(y, eta.T, None).sum()
    value += stats.norm.logpdf(theta[[0, 2]], 0, 2.5).sum()
    value += stats.norm.logpdf(theta[1], 0, 2.5 / x.std(ddof=1))
    value += stats.norm.logpdf(theta[3], 0, 2.5 / z.std(ddof=1))
    root = loading.root(phi)
    for start, b in zip((0, 1, 3), (count, zeros, items)):
        own = root[start : start + b.shape[1], start : start + b.shape[1]]
        value += stats.multivariate_normal.logpdf(b, None, own @ own.T).sum()
    return value + own_prior(results, phi, z)


def own_prior(results, phi, z):
    """Of sds and the correlation in their coordinates: half_t(3, 2.5 / sd of the covariate) and
    lkj(1), of one correlation uniform.
    """
    scale = np.asarray(results._fit.problem.own.rows.blocks.loading.scale)
    sds, unit = scale * np.sinh(phi[:4]), np.array([1, 1, z.std(ddof=1), 1])
    value = (stats.t.logpdf(sds * unit, 3, 0, 2.5) + np.log(scale * np.cosh(phi[:4]))).sum()
    return value + np.log1p(-(np.tanh(phi[4]) ** 2))


def apart(results, **how):
    """Largest difference of log densities but for a constant."""
    problem = results._fit.problem
    gradient, map = problem.all_rows(), problem.coordinates.map
    blocks, found = problem.own.rows.blocks, []
    levels = np.repeat(blocks.levels, blocks.width)
    for one in np.random.default_rng(5).normal(size=(5, problem.dim)):
        root, narrow, _ = blocks.loads(map.inner(one))
        jacobian = (np.log(np.abs(np.diag(root))) * levels).sum() + np.log(narrow).sum()
        found.append(engine.density(gradient, one) - by_numpy(results, map(one), **how) - jacobian)
    return np.ptp(found)


def test_densities_are_those_of_numpy(fitted):
    """To rounding, of values of a few hundred."""
    assert apart(fitted) < 1e-8


def test_effects_of_another_predictor_are_seen(fitted):
    assert apart(fitted, moved=1) > 1


def test_names_say_the_predictor(fitted):
    assert fitted.names[4:] == [
        "sd(1|g)",
        "sd(zero:1|g)",
        "sd(zero:z|g)",
        "sd(zero:1|h)",
        "cor(zero:1,zero:z|g)",
    ]
    assert list(fitted.ranef("g").loc[0].index) == ["1", "zero:1", "zero:z"]


def test_zeros_of_a_hurdle_are_a_logit():
    """The two parts of a hurdle's density share no parameter: means of 8 x 1,000 draws, each within
    .02 sd, differ by no more than a tenth of an sd, sds by 5 %.
    """
    how = dict(seed=1, draws=2000)
    zeros = TABLE.assign(none=(TABLE.y == 0).astype(int))
    both = sgmc.hurdle("y ~ x | z + (1 | g)", TABLE, **how)
    alone = sgmc.logit("none ~ z + (1 | g)", zeros, **how)
    names = ["zero:Intercept", "zero:z", "sd(zero:1|g)"]
    of_one = ["Intercept", "z", "sd(1|g)"]
    apart = both.params[names].to_numpy() - alone.params[of_one].to_numpy()
    assert np.abs(apart / alone.bse[of_one].to_numpy()).max() < 0.1
    assert np.abs(both.bse[names].to_numpy() / alone.bse[of_one].to_numpy() - 1).max() < 0.05


def test_predictions_have_effects_of_both_predictors(fitted):
    """Of new rows and of those of the fit, and by hand from draws of the effects."""
    new = TABLE.iloc[:7].drop(columns="y")
    draws = fitted.ranef_draws("g"), fitted.ranef_draws("h")
    beta = fitted._fit.problem.coordinates.as_given(fitted.whole("test")[:, :4])
    g, h, z = (new[name].to_numpy() for name in "ghz")
    count = beta[:, [0]] + beta[:, [1]] * new.x.to_numpy() + draws[0][:, g, 0]
    zeros = beta[:, [2]] + beta[:, [3]] * z + draws[0][:, g, 1] + draws[0][:, g, 2] * z
    zeros += draws[1][:, h, 0]
    mean = (special.expit(-zeros) * np.exp(count)).mean(axis=0)
    np.testing.assert_allclose(fitted.predict(new), mean, rtol=1e-6)
    np.testing.assert_allclose(fitted.predict()[:7], mean, rtol=1e-6)


def test_leaving_rows_out_is_that_of_log_densities(fitted):
    """Sums of log densities given effects, by importance sampling."""
    found = fitted.loo()
    density = fitted.log_lik()
    assert density.shape[1] == ROWS
    raw = -special.logsumexp(-density, axis=0) + np.log(len(density))
    # weights are smoothed; half a unit in 600 rows
    assert abs(found.elpd - raw.sum()) < 0.5


def test_new_levels_and_files(fitted, tmp_path):
    new = TABLE.iloc[:3].assign(g=[0, 99, 1]).drop(columns="y")
    seen = fitted.predict(new, new_levels="sample")
    assert np.isfinite(seen).all()
    fitted.save(tmp_path / "a.sgmc")
    loaded = sgmc.load(tmp_path / "a.sgmc")
    np.testing.assert_allclose(loaded.predict(new, new_levels="sample"), seen, rtol=1e-12)


def test_smooths_stand_in_either_part(tmp_path):
    res = sgmc.zeroinflated(WITH_SMOOTHS, TABLE, **HOW)
    assert res.names[-3:] == ["sd(1|g)", "sd(s(x))", "sd(zero:s(z))"]
    assert list(res.smooths.index) == ["s(x)", "zero:s(z)"]
    curve = res.smooth("zero:s(z)", at=TABLE.z.to_numpy()[:5])
    new = TABLE.iloc[:5].drop(columns="y")
    np.testing.assert_allclose(res.predict(new), res.predict()[:5], rtol=1e-6)
    assert "Smooths" in str(res.summary()) and np.isfinite(curve["mean"]).all()
    res.save(tmp_path / "a.sgmc")
    loaded = sgmc.load(tmp_path / "a.sgmc")
    np.testing.assert_allclose(loaded.predict(new), res.predict(new), rtol=1e-12)


def kinds_table(seed=4):
    """Outcomes of three kinds with levels of their own."""
    rng = np.random.default_rng(seed)
    g, x = rng.integers(0, LEVELS, ROWS), rng.normal(size=ROWS)
    b = 0.8 * rng.normal(size=(2, LEVELS))
    eta = np.array([np.zeros(ROWS), 0.4 + 0.6 * x + b[0, g], -0.3 + 0.2 * x + b[1, g]])
    shares = special.softmax(eta, axis=0)
    kind = (rng.random(ROWS) > np.cumsum(shares, axis=0)[:-1]).sum(axis=0)
    return pd.DataFrame(dict(y=np.array(list("abc"))[kind], x=x, g=g, kind=kind))


KINDS = kinds_table()


@pytest.fixture(scope="module")
def kinds():
    return sgmc.mnlogit("y ~ s(x) + (1 | g)", KINDS, **HOW)


def test_equations_have_effects_of_their_own(kinds):
    """Log densities are those of numpy to rounding."""
    problem = kinds._fit.problem
    own, blocks = problem.own, problem.own.rows.blocks
    table = KINDS.iloc[own.rows.fixed.order]
    x, g, y = (table[name].to_numpy() for name in ("x", "g", "kind"))
    scale, curves = np.asarray(blocks.loading.scale), own.rows.curves
    gradient, map = problem.all_rows(), problem.coordinates.map
    levels, found = np.repeat(blocks.levels, blocks.width), []
    for one in np.random.default_rng(5).normal(size=(5, problem.dim)):
        theta = map(one)
        beta, phi = theta[:4].reshape(2, 2), theta[blocks.phi]
        effects = [theta[blocks.of_term(t)][:, 0] for t in range(4)]
        width = curves.shape[1] // 2
        eta = beta[:, [0]] + beta[:, [1]] * (x - x.mean())
        for k in range(2):
            eta[k] += effects[k][g] + curves[:, k * width : (k + 1) * width] @ effects[2 + k]
        every = np.append(np.zeros((1, ROWS)), eta, axis=0)
        value = (every[y, np.arange(ROWS)] - special.logsumexp(every, axis=0)).sum()
        value += stats.norm.logpdf(beta[:, 0], 0, 2.5).sum()
        value += stats.norm.logpdf(beta[:, 1], 0, 2.5 / x.std(ddof=1)).sum()
        sds = scale * np.sinh(phi)
        value += (stats.t.logpdf(sds, 3, 0, 2.5) + np.log(scale * np.cosh(phi))).sum()
        value += sum(stats.norm.logpdf(b, 0, abs(sd)).sum() for b, sd in zip(effects, sds))
        root, narrow, _ = blocks.loads(map.inner(one))
        jacobian = (np.log(np.abs(np.diag(root))) * levels).sum() + np.log(narrow).sum()
        found.append(engine.density(gradient, one) - value - jacobian)
    assert np.ptp(found) < 1e-8


def test_results_of_kinds(kinds, tmp_path):
    assert kinds.names[4:] == ["sd(b:1|g)", "sd(c:1|g)", "sd(b:s(x))", "sd(c:s(x))"]
    new, every = KINDS.iloc[:5].drop(columns="y"), np.asarray(kinds.predict())
    np.testing.assert_allclose(np.asarray(kinds.predict(new)), every[:5], rtol=1e-6)
    np.testing.assert_allclose(every.sum(axis=1), 1.0, rtol=1e-12)
    raw = -special.logsumexp(-kinds.log_lik(), axis=0) + np.log(len(kinds.log_lik()))
    assert abs(kinds.loo().elpd - raw.sum()) < 0.5
    kinds.save(tmp_path / "a.sgmc")
    loaded = np.asarray(sgmc.load(tmp_path / "a.sgmc").predict(new))
    np.testing.assert_allclose(loaded, every[:5], rtol=1e-6)


def scales_table(seed=6):
    """Normal outcomes of which levels have a mean and an sd of their own."""
    rng = np.random.default_rng(seed)
    g, x, z = rng.integers(0, LEVELS, ROWS), *rng.normal(size=(2, ROWS))
    b, c = rng.normal(size=(2, LEVELS)) * [[8.0], [0.5]]
    y = 20 + 5 * x + b[g] + 10 * np.exp(0.4 * z + c[g]) * rng.normal(size=ROWS)
    return pd.DataFrame(dict(y=y, x=x, z=z, g=g, level=c[g]))


SCALES = scales_table()


@pytest.fixture(scope="module")
def scaled():
    return sgmc.ols("y ~ x + (1 | g)", SCALES, sigma="~ z + (1 | g)", **HOW)


def test_scales_have_effects_of_levels(scaled):
    """Log densities are numpy's to rounding; sds of effects of log sigma have no unit, those of
    effects of the mean have that of the outcome.
    """
    problem = scaled._fit.problem
    own, blocks = problem.own, problem.own.rows.blocks
    table = SCALES.iloc[own.rows.fixed.order]
    x, z, g, y = (table[name].to_numpy() for name in "xzgy")
    unit, scale = y.std(), np.asarray(blocks.loading.scale)
    gradient, map = problem.all_rows(), problem.coordinates.map
    levels, found, off = np.repeat(blocks.levels, blocks.width), [], []
    for one in np.random.default_rng(5).normal(size=(5, problem.dim)):
        theta = map(one)
        phi, effects = theta[blocks.phi], [theta[blocks.of_term(t)][:, 0] for t in range(2)]
        mean = theta[0] + theta[1] * (x - x.mean()) + effects[0][g]
        log_sigma = theta[2] + theta[3] * (z - z.mean()) + effects[1][g]
        value = stats.norm.logpdf(y, mean, np.exp(log_sigma)).sum()
        value += stats.norm.logpdf(theta[0], y.mean(), 2.5 * unit)
        value += stats.norm.logpdf(theta[1], 0, 2.5 * unit / x.std(ddof=1))
        value += stats.norm.logpdf(theta[2], np.log(unit), 2.5)
        value += stats.norm.logpdf(theta[3], 0, 2.5 / z.std(ddof=1))
        sds = scale * np.sinh(phi)
        value += (stats.t.logpdf(sds, 3, 0, [2.5 * unit, 2.5]) + np.log(scale * np.cosh(phi))).sum()
        value += sum(stats.norm.logpdf(b, 0, abs(sd)).sum() for b, sd in zip(effects, sds))
        root, narrow, _ = blocks.loads(map.inner(one))
        jacobian = (np.log(np.abs(np.diag(root))) * levels).sum() + np.log(narrow).sum()
        found.append(engine.density(gradient, one) - value - jacobian)
        other = stats.t.logpdf(sds[1], 3, 0, 2.5 * unit) - stats.t.logpdf(sds[1], 3, 0, 2.5)
        off.append(found[-1] - other)
    assert np.ptp(found) < 1e-8 < 1e-4 < np.ptp(off)


def test_predictions_of_scales(scaled, tmp_path):
    new = SCALES.iloc[:6].drop(columns="y")
    of_fit = scaled.predict(which="sigma")
    np.testing.assert_allclose(scaled.predict(new, which="sigma"), of_fit[:6], rtol=1e-6)
    truth = 10 * np.exp(0.4 * SCALES.z + SCALES.level)
    assert np.corrcoef(np.log(of_fit), np.log(truth))[0, 1] > 0.95
    scaled.save(tmp_path / "a.sgmc")
    loaded = sgmc.load(tmp_path / "a.sgmc")
    np.testing.assert_allclose(loaded.predict(new, which="sigma"), of_fit[:6], rtol=1e-6)
    slopes = scaled.avg_slopes("z", of="sigma")
    assert slopes["conf_low"][0] < 0.4 * truth.mean() < slopes["conf_high"][0] * 1.2
    assert scaled.avg_slopes("z")["estimate"][0] == pytest.approx(0.0, abs=1e-8)


def test_every_family_of_scales_takes_terms():
    """Means of fits with a second predictor of a constant are those of one number for all rows,
    within a fifth of an sd with some 500 effective draws.
    """
    positive = SCALES.assign(y=np.exp(SCALES.y / 30))
    one = sgmc.gamma("y ~ x + (1 | g)", positive, seed=1, draws=500)
    both = sgmc.gamma("y ~ x + (1 | g)", positive, dispersion="~ 1", seed=1, draws=500)
    for name in ("Intercept", "x", "sd(1|g)"):
        assert abs(both.params[name] - one.params[name]) < 0.2 * one.bse[name]
    share = SCALES.assign(y=special.expit((SCALES.y - 20) / 20))
    fit = sgmc.beta("y ~ x + (1 | g)", share, phi="~ z", **HOW)
    assert fit.names[-1] == "sd(1|g)" and "phi:z" in fit.names


def test_searches_begin_anew_where_effects_are_far_off():
    """A curve and a spread that jump, as of the motorcycle series: from the effects at one pair of
    length scales Newton's method does not find those at another, as densities of scales have no
    concave logs.
    """
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 50, 150))
    curve = np.where(t > 15, np.sin(t / 4) * 60 * np.exp(-((t - 25) ** 2) / 200), 0.0)
    y = curve + rng.normal(size=150) * np.where(t > 15, 20.0, 2.0)
    fit = sgmc.ols(
        "y ~ gp(t)", pd.DataFrame(dict(t=t, y=y)), sigma="~ gp(t)", seed=1, draws=20, chains=2
    )
    sigma = fit.predict(which="sigma")
    # the spread is found: ten times as wide behind the jump
    assert np.median(sigma[t > 20]) > 4 * np.median(sigma[t < 12])
