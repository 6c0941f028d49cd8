"""Gaussian processes of a given length scale: beside the covariance function itself."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc import formula
from sgmc.errors import ExtrapolationWarning, FormulaError

AT = np.array([0.5, 2.0, 4.0, 7.5])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 8, 40), rng.uniform(-1, 1, 40)
    y = 1.0 + np.sin(x) + 0.5 * rng.normal(size=40)
    return pd.DataFrame(dict(y=y, x=x, z=z, one=1.0, g=rng.choice(list("ab"), 40)))


def kernel(a, b, scale):
    """Of a process with a standard deviation of one."""
    return np.exp(-0.5 * ((np.asarray(a)[:, None] - np.asarray(b)) / scale) ** 2)


def columns(text, frame):
    return formula.read(f"y ~ {text}", frame, outcome="numeric").grouping().curves


@pytest.mark.parametrize("scale", [0.3, 1, 3, 20])
def test_columns_have_the_covariance_of_the_process(scale, frame):
    """To the half per cent that the number of waves is chosen by; 5 % of the scale are seen."""
    Z, x = columns(f"gp(x, scale={scale})", frame), frame.x
    np.testing.assert_allclose(Z @ Z.T, kernel(x, x, scale), atol=0.0055)
    wrong = kernel(x, x, 1.05 * scale)
    assert scale > 5 or np.abs(Z @ Z.T - wrong).max() > 0.02


def test_of_two_covariates_it_is_the_product(frame):
    Z = columns("gp(x, z, scale=(2, 0.8))", frame)
    right = kernel(frame.x, frame.x, 2) * kernel(frame.z, frame.z, 0.8)
    np.testing.assert_allclose(Z @ Z.T, right, atol=0.011)
    same = columns("gp(x, z, scale=2)", frame)
    right = kernel(frame.x, frame.x, 2) * kernel(frame.z, frame.z, 2)
    np.testing.assert_allclose(same @ same.T, right, atol=0.011)


def quadrature(frame, scale):
    """Means and sds of (sd, sigma, process at AT), with the covariance function itself."""
    y, K = frame.y.to_numpy(), kernel(frame.x, frame.x, scale)
    across, own = kernel(AT, frame.x, scale), kernel(AT, AT, scale)
    points = np.stack(np.meshgrid(np.linspace(-3, 2.5, 60), np.linspace(-1.5, 0.3, 40)), axis=-1)
    a, b = points.reshape(-1, 2).T
    sd, sigma = np.exp(a), np.exp(b)
    V = sd[:, None, None] ** 2 * K + 25.0 + sigma[:, None, None] ** 2 * np.eye(len(y))
    C = np.linalg.inv(V)
    log = -0.5 * (np.linalg.slogdet(V)[1] + (y @ C) @ y) + a + b
    log += stats.halfnorm(scale=2).logpdf(sd) - sigma
    gain = sd[:, None, None] ** 2 * across @ C
    spread = sd[:, None] ** 2 * (np.diag(own) - np.einsum("nij,ij->ni", gain, across))
    mean = gain @ y
    moments = np.c_[sd, sigma, mean, sd**2, sigma**2, mean**2 + spread]
    found, second = np.split(np.average(moments, axis=0, weights=np.exp(log - log.max())), 2)
    return found, np.sqrt(second - found**2)


def test_the_posterior_is_that_of_the_process(frame):
    """8,000 independent draws: means to .011 sd, sds to .8 % or, of the skewed sd, some 2 % as
    standard errors; four of these are allowed.
    """
    prior = {
        "Intercept": sgmc.normal(0, 5), "sd": sgmc.half_normal(2), "sigma": sgmc.exponential(1)
    }  # fmt: skip
    res = sgmc.ols("y ~ gp(x, scale=1.5)", frame, prior=prior, draws=2000, seed=1)
    table = res.smooth(at=AT)
    found = np.r_[res.params[["sd(gp(x))", "sigma"]], table["mean"]]
    spread = np.r_[res.bse[["sd(gp(x))", "sigma"]], table["sd"]]
    mean, sd = quadrature(frame, 1.5)
    np.testing.assert_allclose((found - mean) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(spread, sd, rtol=0.08)
    mean, sd = quadrature(frame, 1.2)
    assert np.abs((found - mean) / sd).max() > 0.1


@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")  # of the shortest scale
def test_scales_are_compared_by_rows_left_out():
    """Of 150 rows of a process of scale one."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 12, 150))
    f = np.linalg.cholesky(kernel(x, x, 1) + 1e-8 * np.eye(150)) @ rng.normal(size=150)
    frame = pd.DataFrame(dict(x=x, y=f + 0.3 * rng.normal(size=150)))
    fits = {one: sgmc.ols(f"y ~ gp(x, scale={one})", frame, seed=1) for one in (0.2, 1, 5)}
    assert all(one.verdict.trustworthy for one in fits.values())
    elpd = {one: fit.loo().elpd for one, fit in fits.items()}
    assert max(elpd, key=elpd.get) == 1
    low, high = fits[1].conf_int(alpha=0.01).loc["sd(gp(x))"]
    assert low < 1 < high


def test_new_rows_within_knots_have_the_process(frame):
    """Far from all rows its sd is that of the prior; beyond the ends there is a warning."""
    text = "y ~ gp(x, scale=1, knots=(0, 15))"
    res = sgmc.ols(text, frame, draws=2000, seed=1)
    far = res.smooth(at=[14.0])["sd"].iloc[0]
    assert far == pytest.approx(np.sqrt((res.flat[:, 1] ** 2).mean()), rel=0.05)
    with pytest.warns(ExtrapolationWarning, match="falls to zero, with less uncertainty"):
        res.predict(pd.DataFrame({"x": [17.0]}))


@pytest.mark.parametrize(
    "text, message",
    [
        ("gp(x, scale='a')", "a length scale in units of x, such as scale=2"),
        ("gp(x, scale=-1)", "must be positive"),
        ("gp(x, scale=(1, 2))", "as many as covariates, 1"),
        ("gp(x, z, scale=1, knots=(0, 9))", "knots are those of one covariate"),
        ("gp(x, scale=1, knots=(9, 0))", "ends of the range"),
        ("gp(x, scale=1, k=2.5)", "k must be a whole number"),
        ("gp(x, scale=1, k=5)", r"too few for scale=1, covariances are off by \d+ % .* k=1\d"),
        ("gp(x, scale=0.01)", "functions, at most 400; give a longer scale"),
        ("gp(x, z, scale=0.1)", "functions, at most 400"),
        ("gp(x, scale=100)", "the process is a constant"),
        ("gp(one, scale=1)", "a single value"),
        ("gp(g, scale=1)", "smooths are of numbers"),
        ("gp(x, z, y, scale=1)", "one covariate or two covariates"),
    ],
)
def test_what_is_refused(text, message, frame):
    with pytest.raises(FormulaError, match=message):
        columns(text, frame)
