"""Gaussian processes whose length scale is learned: beside the covariance function itself."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc import formula
from sgmc.core import engine
from sgmc.errors import ArgumentError, FormulaError, ResolutionWarning
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.covariance.crossed_effects import effects_of_crossing
from sgmc.models.regression.latent.sampled import problem
from sgmc.models.regression.latent.sampled.centre.search import CentreSearch

from .normality import departure

SIGMA = 0.5  # of the errors, known where `scale=` is given
AT = np.array([0.5, 2.0, 4.0, 7.5])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 8, 40), rng.uniform(-1, 1, 40)
    y = 1.0 + np.sin(x) + SIGMA * rng.normal(size=40)
    count = rng.poisson(np.exp(0.5 + 0.5 * np.sin(x)))
    return pd.DataFrame(dict(y=y, x=x, z=z, count=count, g=rng.choice(list("ab"), 40)))


def kernel(a, b, scale):
    """Of a process with a standard deviation of one."""
    return np.exp(-0.5 * ((np.asarray(a)[:, None] - np.asarray(b)) / scale) ** 2)


def crossing_of(text, frame):
    return formula.read(f"y ~ {text}", frame, outcome="numeric").grouping()


# ---- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.6, 1, 3, 6])
def test_columns_have_the_covariance_of_any_scale(scale, frame):
    """From one and a half times what they resolve to three quarters of the range: to 2 % of sd^2,
    and at the range itself to 5 %; a scale that is off by 5 % is seen.
    """
    crossing, x = crossing_of("gp(x)", frame), frame.x
    f, _ = effects_of_crossing(crossing).spectrum.at([np.log(scale)], crossing.sizes)
    Z = crossing.curves * f
    np.testing.assert_allclose(Z @ Z.T, kernel(x, x, scale), atol=0.02)
    wrong = kernel(x, x, 1.05 * scale)
    assert scale > 5 or np.abs(Z @ Z.T - wrong).max() > 0.02


def test_of_two_covariates_scales_have_their_names(frame):
    crossing = crossing_of("gp(x, z)", frame)
    effects = effects_of_crossing(crossing)
    names = [one.name for one in effects.spectral]
    assert names == ["scale(gp(x, z), x)", "scale(gp(x, z), z)"]
    f, _ = effects.spectrum.at(np.log([3.0, 0.8]), crossing.sizes)
    Z = crossing.curves * f
    right = kernel(frame.x, frame.x, 3) * kernel(frame.z, frame.z, 0.8)
    np.testing.assert_allclose(Z @ Z.T, right, atol=0.04)
    assert np.abs(Z @ Z.T - right.T[::-1]).max() > 0.5


def test_levels_of_a_factor_have_scales_of_their_own(frame):
    names = [one.name for one in effects_of_crossing(crossing_of("gp(x, by=g)", frame)).spectral]
    assert names == ["scale(gp(x):g[a])", "scale(gp(x):g[b])"]


def test_few_values_have_no_shorter_scale_than_their_distance(frame):
    """Ten of them: a ninth of the range, and not a twentieth."""
    smooth = crossing_of("gp(t)", frame.assign(t=np.arange(40) % 10.0)).spec.smooths[0]
    (one,) = smooth.spectral[0].values()
    assert one.ends == pytest.approx((1.0, 9.0), rel=0.05)
    assert 0.95 < one.shortest <= 1.0


# ---- density -------------------------------------------------------------------------------------


def by_numpy(theta, frame, rows, Z, square=1.0, jacobian=1.0):
    """Log density of (beta, b, phi, eta) of counts at the default priors, but for a constant.

    The mistakes are of the spectrum and of the prior's density of the log.
    """
    blocks, order = rows.blocks, rows.fixed.order
    y, x = (frame[name].to_numpy()[order] for name in ("count", "x"))
    b, (phi,), (eta,) = theta[1:-2], theta[blocks.phi], theta[blocks.eta]
    c = blocks.loading.scale[0]
    sd, scale, k = c * np.sinh(phi), np.exp(eta), np.arange(1, Z.shape[1] + 1)
    half = 0.5 * np.ptp(x)
    waves = k * np.pi / (2 * half * (1 + 1.75 * 2))  # frequencies on an interval 4.5 times as wide
    sds = sd * np.sqrt(scale) * np.exp(-0.25 * square * scale**2 * waves**2)
    value = stats.poisson.logpmf(y, np.exp(theta[0] + Z[order] @ b)).sum()
    value += stats.norm.logpdf(theta[0], 0, 2.5)
    value += stats.t.logpdf(sd, 3, 0, 2.5) + np.log(c * np.cosh(phi))
    # 1 % below what 79 waves resolve, a twentieth of the range, and 1 % above that
    low, high = np.log([1.75 * half * 4.5 / Z.shape[1], 2 * half])
    middle, spread = (low + high) / 2, (high - low) / (2 * stats.norm.ppf(0.99))
    value += stats.lognorm.logpdf(scale, spread, scale=np.exp(middle)) + jacobian * eta
    return value + stats.norm.logpdf(b, 0, np.abs(sds)).sum()


def apart(frame, **how):
    """Largest difference of log densities but for a constant."""
    model = sgmc.Poisson.from_formula("count ~ gp(x)", frame)
    made = model.problem(None, check_settings(seed=1))
    Z, rows = model.grouping.curves, made.own.rows
    map, gradient, found = made.coordinates.map, made.all_rows(), []
    loaded, told = map.outer.outer, map.outer.inner
    for x in 0.7 * np.random.default_rng(5).normal(size=(5, made.dim)):
        inner = map.inner(x)
        (root,), ratios, _ = rows.blocks.loads(told(inner))
        jacobian = Z.shape[1] * np.log(abs(root[0])) + np.log(ratios).sum()
        jacobian += np.log(np.linalg.det(told.root(inner)))
        ours = engine.density(gradient, x) - jacobian
        found.append(ours - by_numpy(loaded(told(inner)), frame, rows, Z, **how))
    return np.ptp(found)


def test_densities_are_those_of_numpy(frame):
    """To rounding, of values of a hundred."""
    assert apart(frame) < 1e-9


@pytest.mark.parametrize("how", [dict(square=0.25), dict(jacobian=0.0)])
def test_a_mistake_in_the_density_is_seen(how, frame):
    """A spectrum of half the frequency, a prior without the Jacobian of the log."""
    assert apart(frame, **how) > 0.1


def test_coordinates_are_nearly_standard_normal(frame, monkeypatch):
    """To 0.05 here; with columns that are told one by one the departure is a hundred times as
    large, and chains have a hundredth of the step.
    """
    settings = check_settings(seed=1, sampler="hmc")  # normal outcomes need no chains
    model = sgmc.OLS.from_formula("y ~ gp(x)", frame)
    assert departure(model.problem(None, settings)) < 0.2
    monkeypatch.setattr(problem, "overlapping", lambda *of: [])
    assert departure(model.problem(None, settings)) > 2


def centre_of_wiggles():
    """The length scale at the centre, of eight periods of a sine."""
    rng = np.random.default_rng(11)
    x = rng.uniform(0, 10, 100)
    frame = pd.DataFrame(dict(x=x, y=np.sin(5 * x) + 0.3 * rng.normal(size=100)))
    made = sgmc.OLS.from_formula("y ~ gp(x, k=160)", frame).problem(None, check_settings(seed=1))
    return np.exp(made.coordinates.natural(np.zeros(made.dim))[made.own.rows.blocks.eta][0])


def test_a_short_scale_is_found(monkeypatch):
    """A search that begins at long scales alone takes the curve for noise."""
    assert 0.2 < centre_of_wiggles() < 0.5
    search = CentreSearch.search
    monkeypatch.setattr(CentreSearch, "search", lambda self, places: search(self, places[:1]))
    assert centre_of_wiggles() > 2


# ---- posterior -----------------------------------------------------------------------------------


def quadrature(frame, powers):
    """Means and sds of (sd, scale, process at AT) at a known sigma, by a grid over logs of the
    former, with the covariance function itself, for powers of the scale in the prior's density,
    which are mistakes where they are not one.
    """
    y, x = frame.y.to_numpy(), frame.x.to_numpy()
    points = np.stack(np.meshgrid(np.linspace(-2, 3, 25), np.linspace(-1, 2.5, 25)), axis=-1)
    weight, moments = [], []
    for a, eta in points.reshape(-1, 2):
        variance, scale = np.exp(2 * a), np.exp(eta)
        V = variance * kernel(x, x, scale) + 25.0 + SIGMA**2 * np.eye(len(y))
        gain = np.linalg.solve(V, variance * kernel(x, AT, scale)).T
        spread = variance - np.sum(gain * variance * kernel(AT, x, scale), axis=1)
        value = -0.5 * (y @ np.linalg.solve(V, y) + np.linalg.slogdet(V)[1])
        weight.append(value - np.exp(a) ** 2 / 8 + a)  # half-normal of scale 2
        mean = gain @ y
        moments.append(np.r_[np.exp(a), scale, mean, variance, scale**2, mean**2 + spread])
    eta, out = points[..., 1].ravel(), []
    prior = stats.lognorm.logpdf(np.exp(eta), 0.5, scale=2.0)
    for power in powers:
        value = np.array(weight) + prior + power * eta
        p = np.exp(value - value.max())
        found, second = np.split(np.average(moments, axis=0, weights=p), 2)
        out.append((found, np.sqrt(second - found**2)))
    return out


def test_the_posterior_is_that_of_the_process(frame):
    """4,000 nearly independent draws: means to .016 sd, sds to some 2 % as standard errors; what
    waves have wrong adds as much.  .1 sd and 8 % are allowed.
    """
    prior = {
        "Intercept": sgmc.normal(0, 5),
        "sd(gp(x))": sgmc.half_normal(2),
        "scale(gp(x))": sgmc.lognormal(np.log(2), 0.5),
    }
    res = sgmc.ols("y ~ gp(x)", frame.assign(se=SIGMA), se="se", prior=prior, seed=1)
    table = res.smooth(at=AT)
    found = np.r_[res.params[["sd(gp(x))", "scale(gp(x))"]], table["mean"]]
    spread = np.r_[res.bse[["sd(gp(x))", "scale(gp(x))"]], table["sd"]]
    (mean, sd), (other, wide) = quadrature(frame, [1.0, 0.0])
    np.testing.assert_allclose((found - mean) / sd, 0.0, atol=0.1)
    np.testing.assert_allclose(spread, sd, rtol=0.08)
    assert np.abs((found - other) / wide).max() > 0.15


def motorcycle(n=133):
    """Flat, then a plunge and a swing, the noise changing with them."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(2.4, 57.6, n))
    curve = np.where(t < 14, 0, -110 * np.sin((t - 14) / 9) * np.exp(-(t - 14) / 22))
    sigma = np.where(t < 13, 2, np.where(t < 40, 24, 12))
    return pd.DataFrame(dict(t=t, accel=curve + sigma * rng.normal(size=n))), curve, sigma


def test_mean_and_sigma_have_processes_that_are_trusted_at_defaults():
    frame, curve, sigma = motorcycle()
    res = sgmc.ols("accel ~ gp(t)", frame, sigma="~ gp(t)", seed=1)
    assert res.verdict.trustworthy
    names = {"sd(gp(t))", "scale(gp(t))", "sd(sigma:gp(t))", "scale(sigma:gp(t))"}
    assert names <= set(res.params.index)
    text = str(res.summary())
    assert text.index("Smooths:") < text.index("scale(gp(t))")
    # intervals of 99 % at 12 places, and the fit is no farther off than the noise has it
    at = np.linspace(5, 55, 12)
    table = res.smooth("gp(t)", at=at, alpha=0.01)
    level = res.params["Intercept"]
    truth = np.interp(at, frame.t, curve)
    off = np.abs(table["mean"] + level - truth) / np.interp(at, frame.t, sigma)
    assert off.median() < 0.5


# ---- warnings, priors, starts, files -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_scales_that_waves_do_not_resolve_are_told(frame):
    """Five waves for a sine of more than a period, and the default number is enough."""
    with pytest.warns(ResolutionWarning, match=r"the shortest length scale that 5 basis .* k=\d\d"):
        sgmc.ols("y ~ gp(x, k=5)", frame, draws=200, seed=1)
    plain = sgmc.ols("y ~ gp(x)", frame, draws=200, seed=1)
    assert not any(isinstance(one, ResolutionWarning) for one in plain.warnings)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_priors_are_given_by_name(frame):
    prior = {"scale(gp(x))": sgmc.inverse_gamma(5, 5)}
    res = sgmc.ols("y ~ gp(x)", frame, prior=prior, draws=50, seed=1, prior_only=True)
    assert "scale(gp(x)): inverse_gamma(5, 5)" in " ".join(str(res.summary()).split())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_draws_of_the_prior_alone_have_its_quantiles(frame):
    """4,000 nearly independent draws: deciles to some 3 %, and three times that are allowed."""
    prior = {"scale(gp(x))": sgmc.lognormal(0.5, 0.4)}
    res = sgmc.ols("y ~ gp(x)", frame, prior=prior, draws=1000, seed=1, prior_only=True)
    column = list(res.params.index).index("scale(gp(x))")
    found = np.log(np.quantile(res.flat[:, column], [0.1, 0.5, 0.9]))
    np.testing.assert_allclose(found, stats.norm(0.5, 0.4).ppf([0.1, 0.5, 0.9]), atol=0.09)


@pytest.mark.parametrize(
    "prior, message",
    [
        (sgmc.normal(0, 1), r"does not suit 'scale\(gp\(x\)\)'; use e.g. sgmc.lognormal"),
        (sgmc.flat(), "does not suit"),
        (sgmc.uniform(1, 2), "does not suit"),
        (sgmc.truncated(sgmc.lognormal(0, 1), high=3), "does not suit"),
        (sgmc.exponential(autoscale=True), "does not suit"),
    ],
)
def test_priors_that_do_not_suit_are_refused(prior, message, frame):
    with pytest.raises(ArgumentError, match=message):
        sgmc.ols("y ~ gp(x)", frame, prior={"scale(gp(x))": prior}, draws=10)


def test_too_few_waves_are_refused(frame):
    with pytest.raises(FormulaError, match="k=1 is too few"):
        crossing_of("gp(x, k=1)", frame)
    with pytest.raises(FormulaError, match="441 functions, at most 400; .* a smaller k"):
        crossing_of("gp(x, z, k=21)", frame)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_starts_and_files_have_scales(frame, tmp_path):
    init = [1.0, 1.0, 2.0, 0.5]  # Intercept, sd, scale, sigma
    res = sgmc.ols("y ~ gp(x)", frame, draws=50, seed=1, init=init)
    res.save(tmp_path / "fit.sgmc")
    again = sgmc.load(tmp_path / "fit.sgmc")
    np.testing.assert_array_equal(again.predict(frame), res.predict(frame))
    pd.testing.assert_frame_equal(again.smooth(), res.smooth())
    assert list(again.params.index) == ["Intercept", "sd(gp(x))", "scale(gp(x))", "sigma"]
