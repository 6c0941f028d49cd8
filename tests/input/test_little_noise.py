"""Outcomes with little noise, or none: scales are right down to the rounding errors of float64, and
what has no noise left is not trusted.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ConditionWarning, ExactFitWarning, ModeWarning

# fits by Laplace's approximation of few draws, for a look at means and scales
pytestmark = pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.ShapeWarning"
)

NOISES = [1e-9, 1e-6, 1e-3, 1.0]
N = 200


@pytest.fixture(scope="module")
def draws():
    """Covariates, their labels and standard normal errors."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    g = np.repeat(np.arange(20), N // 20)
    return pd.DataFrame({"x": x, "g": [f"g{k}" for k in g], "e": rng.normal(size=N)})


def fit(verb, formula, frame, **settings):
    """A fit of few draws; nothing may warn of an exact fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExactFitWarning)
        warnings.simplefilter("error", ModeWarning)
        return verb(formula, frame, seed=1, **{"sampler": "laplace", **settings})


def least_squares(x, y):
    """Slope, its standard error and the residual sd, with means taken off first; twice, as that of
    numbers about 1e7 is rounded.
    """
    x, y = x - x.mean(), y - y.mean()
    x, y = x - x.mean(), y - y.mean()
    slope = x @ y / (x @ x)
    s = np.sqrt(((y - slope * x) ** 2).sum() / (len(y) - 2))
    return slope, s / np.sqrt(x @ x), s


@pytest.mark.cover(0)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("far", [False, True])
def test_sds_follow_the_noise(draws, noise, far):
    """Closed form; of 4,000 draws means are right to .02 sd and sds to 1.5 %, and a flat prior of
    sigma widens by 1 / 400.
    """
    x = 1e7 + draws.x.to_numpy() if far else np.arange(float(N))
    centred = x - x.mean()
    y = 1.5 * centred + noise * 1.5 * x.std() * draws.e.to_numpy()
    slope, error, s = least_squares(x, y)
    found = fit(sgmc.ols, "y ~ x", pd.DataFrame({"x": x, "y": y}), prior="flat")
    assert abs(found.params["x"] - slope) < 0.1 * error
    assert found.bse["x"] == pytest.approx(error, rel=0.06)
    assert found.params["sigma"] == pytest.approx(s, rel=0.02)


def test_default_fits_with_little_noise_are_trusted():
    """Noise of a sd of 1e-6 beside a trend, whose sd was 56 times too wide."""
    rng = np.random.default_rng(1)
    t = np.arange(200.0)
    y = 1.00002 * t + 1e-6 * rng.normal(size=200)
    found = fit(sgmc.ols, "y ~ x", pd.DataFrame({"x": t, "y": y}), sampler="auto")
    slope, error, s = least_squares(t, y)
    assert found.verdict.trustworthy
    assert abs(found.params["x"] - slope) < 0.1 * error
    assert found.bse["x"] == pytest.approx(error, rel=0.06)
    assert found.params["sigma"] == pytest.approx(s, rel=0.02)


@pytest.mark.cover(0)
@pytest.mark.parametrize("noise", [1e-9, 1e-6])
def test_other_families_follow_the_noise_too(draws, noise):
    """The residual sd, to 15 %: its standard error is 5 %, and errors of rlm are not t."""
    e, x = noise * draws.e, draws.x
    frame = draws.assign(y=x + e, t=np.exp(x + e), c=np.exp(0.1 * x) + e, w=np.exp(x + e))
    size = noise * draws.e.std()
    for verb, formula, settings in (
        (sgmc.rlm, "y ~ x", {"df": 50.0}),
        (sgmc.survreg, "t ~ x", {"dist": "lognormal"}),
        (sgmc.glm, "c ~ x", {"family": "gaussian", "link": "log"}),
    ):
        found = fit(verb, formula, frame, draws=200, **settings)
        assert found.params["sigma"] == pytest.approx(size, rel=0.15), formula
    found = fit(sgmc.glm, "w ~ x", frame, draws=200, family="gamma", link="log")
    assert found.params["dispersion"] == pytest.approx(size**2, rel=0.3)


@pytest.mark.cover(0)
@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_groups_with_little_noise(draws, noise):
    """The residual sd within groups."""
    effect = draws.groupby("g").e.transform("mean")
    y = draws.x + effect + noise * draws.e
    found = fit(sgmc.ols, "y ~ x + (1|g)", draws.assign(y=y), draws=200)
    within = np.linalg.lstsq(
        np.column_stack([draws.x, pd.get_dummies(draws.g).astype(float)]), y, rcond=None
    )[1][0]
    assert found.params["sigma"] == pytest.approx(np.sqrt(within / (N - 21)), rel=0.05)


EXACT = {
    "ols": lambda d: sgmc.ols("y ~ x", d, seed=1, draws=200),
    "rlm": lambda d: sgmc.rlm("y ~ x", d, seed=1, draws=200),
    "gaussianlog": lambda d: sgmc.glm(
        "w ~ x", d, family="gaussian", link="log", seed=1, sampler="laplace", draws=200
    ),
    "gamma": lambda d: sgmc.glm("w ~ x", d, family="gamma", link="log", seed=1, draws=200),
    "inversegaussian": lambda d: sgmc.glm(
        "w ~ x", d, family="inversegaussian", link="log", seed=1, draws=200
    ),
    "beta": lambda d: sgmc.beta("p ~ x", d, seed=1, sampler="laplace", draws=200),
    "survreg": lambda d: sgmc.survreg("w ~ x", d, seed=1, sampler="laplace", draws=200),
    "groups": lambda d: sgmc.ols("z ~ x + (1|g)", d, seed=1, sampler="laplace", draws=200),
    "float32": lambda d: sgmc.ols("y ~ x", d, seed=1, draws=200, dtype="float32"),
    "far": lambda d: sgmc.ols("far ~ x", d, seed=1, draws=200),
    "smooth": lambda d: sgmc.ols("y ~ s(x)", d, seed=1, draws=50),
    "sigma": lambda d: sgmc.ols("y ~ x", d, sigma="~ e", seed=1, draws=200),
    "phi": lambda d: sgmc.beta("p ~ x", d, phi="~ e", seed=1, sampler="laplace", draws=200),
    "dispersion": lambda d: sgmc.glm(
        "w ~ x", d, family="gamma", dispersion="~ e", seed=1, sampler="laplace", draws=200
    ),
    "sigma of groups": lambda d: sgmc.ols("y ~ x", d, sigma="~ (1|g)", seed=1, draws=50),
}


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", EXACT)
def test_no_noise_is_said_and_not_trusted(draws, kind):
    """Whatever else is warned of; `far` has noise below the rounding errors of its outcomes."""
    x = draws.x
    frame = draws.assign(
        y=1 + 2 * x,
        w=np.exp(0.1 + 0.1 * x),
        p=1 / (1 + np.exp(-x)),
        z=x + draws.groupby("g").e.transform("mean"),
        far=1e12 + x + 1e-6 * draws.e,
    )
    with pytest.warns(ExactFitWarning, match="the predictors fit the outcomes exactly"):
        found = EXACT[kind](frame)
    assert not found.verdict.trustworthy
    assert not any("default prior of" in str(one) for one in found.warnings)  # no cure here
    assert "no noise left" in found.verdict.text or "diverged" in found.verdict.text


def test_exact_fits_are_a_kind_of_condition():
    """Who filters the one has filtered the other so far."""
    assert issubclass(ExactFitWarning, ConditionWarning)


FEW = {
    "ols": ("ols", "y ~ x", {}),
    "offset": ("ols", "y ~ x + offset(x**2)", {}),
    "weights": ("ols", "y ~ x", {"weights": "once"}),
    "half": ("ols", "y ~ x", {"prior": {"x": sgmc.half_normal(1)}}),
    "horseshoe": ("ols", "y ~ x", {"prior": "horseshoe"}),
    "rlm": ("rlm", "y ~ x", {"df": None}),
    "cens": ("ols", "cens(y, none) ~ x", {}),
    "gaussianlog": ("gaussianlog", "w ~ x", {}),
    "survreg": ("survreg", "Surv(w, once) ~ x", {}),
    "gamma": ("gamma", "w ~ x", {}),
    "beta": ("beta", "p ~ x", {}),
}


def few_rows(n):
    """Rows on a line, or on its exp or inverse logit, and one that does not count."""
    frame = pd.DataFrame({"x": np.arange(1.0, n + 2), "once": 1, "none": "none"})
    frame["y"] = 0.5 + 0.3 * frame.x
    frame["w"], frame["p"] = np.exp(frame.y), 1 / (1 + np.exp(-frame.y))
    frame.loc[n, ["once", "y", "w", "p"]] = 0, 0.1, 0.1, 0.1
    return frame


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("kind", FEW)
def test_exact_fits_of_hardly_more_rows_than_coefficients_are_refused(n, kind):
    """log sigma is flat from rounding errors on: draws were infinite, and NUTS was advised."""
    verb, formula, options = FEW[kind]
    frame = few_rows(n) if kind == "weights" else few_rows(n).head(n)
    if kind == "offset":
        frame = frame.assign(y=frame.y + frame.x**2)
    with pytest.raises(sgmc.errors.DataError, match="2 coefficients fit all . outcomes exactly"):
        getattr(sgmc, verb)(formula, frame, seed=1, draws=100, **options)


@pytest.mark.filterwarnings("ignore")
def test_few_rows_that_do_not_fit_exactly_are_fitted():
    """By 1e-9 alone."""
    frame = few_rows(4).head(4)
    frame.loc[2, "y"] += 1e-9
    found = sgmc.ols("y ~ x", frame, seed=1, draws=200)
    assert np.isfinite(found.draws).all() and found.params["sigma"] < 1e-8
