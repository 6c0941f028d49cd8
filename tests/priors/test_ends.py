"""Priors with ends: posteriors against quadrature and truncated normal laws, and refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.coordinates.shapes.cut import Cut
from sgmc.errors import ArgumentError, NotSupported, PriorWarning

SD = 1.0  # of the errors below, known


def table(n=300, seed=1, slopes=(0.03, -0.4)):
    """Two correlated predictors and an outcome."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)) + 0.7 * random.normal(size=(n, 1))
    y = 1 + X @ np.array(slopes) + SD * random.normal(size=n)
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y})


def truncated_normal(df, ends, size=400_000):
    """Means and sds of (Intercept, x, z) of a linear regression with a known sigma, flat priors and
    ends of x and z: draws of the normal law that are inside.
    """
    X = np.column_stack([np.ones(len(df)), df.x, df.z])
    covariance = np.linalg.inv(X.T @ X) * SD**2
    draws = np.random.default_rng(7).multivariate_normal(
        covariance @ X.T @ df.y / SD**2, covariance, size=size
    )
    inside = np.ones(size, dtype=bool)
    for j, (low, high) in ends.items():
        inside &= (draws[:, j] > low) & (draws[:, j] < high)
    assert inside.sum() > 20_000  # a mean is then known to .007 sd
    return draws[inside].mean(axis=0), draws[inside].std(axis=0)


def off(results, mean, sd):
    """Largest difference of a mean, in sds, and of an sd, relative."""
    k = len(mean)
    return (
        np.abs((results.params.to_numpy()[:k] - mean) / sd).max(),
        np.abs(results.bse.to_numpy()[:k] / sd - 1).max(),
    )


CASES = {
    "positive": ({"x": sgmc.truncated(sgmc.flat(), low=0)}, {1: (0, np.inf)}),
    "negative": ({"x": sgmc.truncated(sgmc.flat(), high=0)}, {1: (-np.inf, 0)}),
    "interval": ({"x": sgmc.uniform(0.02, 0.1)}, {1: (0.02, 0.1)}),
    "both": ({"x": sgmc.uniform(0, 1), "z": sgmc.uniform(-2, -0.45)}, {1: (0, 1), 2: (-2, -0.45)}),
    "wide": ({"x": sgmc.uniform(-9, 9)}, {1: (-9, 9)}),
}


@pytest.mark.extended("auto-positive", "auto-wide", "hmc-wide")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sampler", ["auto", "hmc"])
def test_a_linear_regression_has_the_truncated_normal_law(case, sampler):
    """Means within 0.08 sd and sds within 6 %: 3,000 effective draws know them to .02 sd and 2 %,
    minibatches add what their verdict states, at most .05 sd and 4 %.
    """
    df, (prior, ends) = table(), CASES[case]
    results = sgmc.ols("y ~ x + z", df, sigma=SD, prior={"*": "flat", "Intercept": "flat", **prior},
                       sampler=sampler, seed=3)  # fmt: skip
    assert results.ess().min() > 1500
    apart = off(results, *truncated_normal(df, ends))
    assert apart[0] < 0.08 and apart[1] < 0.06
    for j, (low, high) in ends.items():
        assert results.flat[:, j].min() >= low and results.flat[:, j].max() <= high


@pytest.mark.filterwarnings("ignore::sgmc.errors.PriorWarning")
@pytest.mark.parametrize(
    "wrong", [sgmc.flat(), sgmc.truncated(sgmc.flat(), high=0.02), sgmc.uniform(-0.05, 0)], ids=str
)
def test_a_forgotten_end_and_wrong_ones_are_seen(wrong):
    """Fits without the end at 0, with it at .02, and with another one are out of tolerance."""
    df, flats = table(), {"*": "flat", "Intercept": "flat"}
    results = sgmc.ols("y ~ x + z", df, sigma=SD, prior={**flats, "x": wrong}, seed=3)
    apart = off(results, *truncated_normal(df, {1: (-np.inf, 0)}))
    assert apart[0] > 0.08 or apart[1] > 0.06


POSITIVE = {
    "half_normal": (sgmc.half_normal(0.1), stats.halfnorm(scale=0.1)),
    "half_t": (sgmc.half_t(3, 0.1), None),
    "exponential": (sgmc.exponential(scale=0.05), stats.expon(scale=0.05)),
    "gamma": (sgmc.gamma(2, scale=0.05), stats.gamma(2, scale=0.05)),
    "inverse_gamma": (sgmc.inverse_gamma(3, 0.2), stats.invgamma(3, scale=0.2)),
    "lognormal": (sgmc.lognormal(-3, 0.7), stats.lognorm(0.7, scale=math.exp(-3))),
    "truncated": (
        sgmc.truncated(sgmc.normal(0.3, 0.1), low=0.2),
        stats.truncnorm(-1, np.inf, 0.3, 0.1),
    ),
    "laplace": (
        sgmc.truncated(sgmc.laplace(0, 0.05), -0.1, 0.02),
        None,
    ),
}  # fmt: skip


def log_prior(name, b):
    """The log density of a prior above, by scipy."""
    if POSITIVE[name][1] is not None:
        return POSITIVE[name][1].logpdf(b)
    if name == "half_t":
        return np.where(b > 0, stats.t(3, 0, 0.1).logpdf(b), -np.inf)
    return np.where((b > -0.1) & (b < 0.02), stats.laplace(0, 0.05).logpdf(b), -np.inf)


def by_quadrature(df, name):
    """Mean and sd of the slope of a logistic regression without an intercept, by a sum over a fine
    grid.
    """
    b = np.linspace(-1, 3, 400_001)
    x, y = df.x.to_numpy(), df.y.to_numpy()
    coarse = np.linspace(-1, 3, 801)
    eta = coarse[:, None] * x
    log_lik = np.interp(b, coarse, (y * eta - np.logaddexp(0, eta)).sum(axis=1))
    with np.errstate(divide="ignore"):
        log_p = log_lik + log_prior(name, b)
    w = np.where(np.isfinite(log_p), np.exp(log_p - log_p[np.isfinite(log_p)].max()), 0.0)
    mean = (w @ b) / w.sum()
    return np.array([mean]), np.array([np.sqrt(w @ (b - mean) ** 2 / w.sum())])


def outcomes(seed=2, n=60):
    """A predictor and outcomes 0 and 1 that it hardly moves."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return pd.DataFrame({"x": x, "y": (random.random(n) < special.expit(0.1 * x)).astype(float)})


@pytest.mark.parametrize("name", POSITIVE)
def test_a_logistic_regression_agrees_with_quadrature(name):
    """Means within 0.08 sd and sds within 6 %, as above; half a t with 3 degrees of freedom has no
    fourth moment, and its sd 12 %.
    """
    df = outcomes()
    results = sgmc.logit("y ~ x - 1", df, prior={"x": POSITIVE[name][0]}, seed=4, draws=2000)
    apart = off(results, *by_quadrature(df, name))
    assert apart[0] < 0.08 and apart[1] < (0.12 if name == "half_t" else 0.06)


@pytest.mark.parametrize("shape", [1, 3])
def test_a_jacobian_less_or_more_is_seen(shape):
    """A gamma prior of one shape less, or more, is that of 2 over or times the parameter: what a
    Jacobian of its log that is forgotten, or counted twice, would make of it.
    """
    df = outcomes()
    prior = {"x": sgmc.gamma(shape, scale=0.05)}
    results = sgmc.logit("y ~ x - 1", df, prior=prior, seed=4, draws=2000)
    assert off(results, *by_quadrature(df, "gamma"))[0] > 0.3


def test_ends_that_the_data_contradict_are_named():
    """At more than 3 sds beyond an end, of either side; not at fewer."""
    df = table()
    for prior in (sgmc.half_normal(1), sgmc.uniform(0, 1)):
        with pytest.warns(PriorWarning, match="put 'z' .* beyond the end 0"):
            results = sgmc.ols("y ~ x + z", df, prior={"z": prior}, seed=1)
        assert "beyond the end 0" in " ".join(str(results.summary()).split())
    with pytest.warns(PriorWarning, match="put 'z' .* beyond the end -0.9"):
        sgmc.ols("y ~ x + z", df, prior={"z": sgmc.uniform(-2, -0.9)}, seed=1)
    sgmc.ols("y ~ x + z", df, prior={"z": sgmc.uniform(-2, -0.45)}, seed=1)


def test_ends_of_an_auxiliary_parameter_and_of_an_intercept():
    """sigma in (0, .95), where the likelihood alone has 1: by a sum over a grid of the marginal
    density s^-(n - 1) exp(-S / 2 s^2) with a flat prior; and a positive intercept, by its t law.
    """
    df = table(60, seed=5)
    prior = {"*": "flat", "Intercept": "flat", "sigma": sgmc.uniform(0, 0.95)}
    results = sgmc.ols("y ~ x + z", df, prior=prior, seed=1)
    X = np.column_stack([np.ones(60), df.x, df.z])
    rest = df.y - X @ np.linalg.lstsq(X, df.y, rcond=None)[0]
    s = np.linspace(0.5, 0.95, 20_001)
    log_p = -(60 - 3) * np.log(s) - rest @ rest / (2 * s**2)
    w = np.exp(log_p - log_p.max())
    mean = w @ s / w.sum()
    sd = np.sqrt(w @ (s - mean) ** 2 / w.sum())
    assert results.flat[:, -1].max() <= 0.95
    assert abs(results.params["sigma"] - mean) < 0.08 * sd
    assert abs(results.bse["sigma"] / sd - 1) < 0.06

    shifted = df.assign(x=df.x + 40, y=df.y - 1)
    prior = {"*": "flat", "Intercept": sgmc.truncated(sgmc.flat(), low=0)}
    results = sgmc.ols("y ~ x + z", shifted, prior=prior, sigma=SD, seed=1)
    inside = truncated_normal(shifted, {0: (0, np.inf)})
    apart = off(results, *inside)
    assert apart[0] < 0.08 and apart[1] < 0.06


def test_a_model_of_ones_own_takes_half_lines():
    """Standard normal rows with a mean below 2: its law is a truncated normal one."""

    class Mean(sgmc.Model):
        parameters = {"m": ()}
        constraints = {"m": ("interval", -math.inf, 2.0)}

        def __init__(self, y):
            self.y, self.n = y, len(y)

        def log_lik(self, theta, rows):
            e = self.y[rows] - theta["m"]
            return -0.5 * (e @ e)

        def grad(self, theta, rows):
            return {"m": (self.y[rows] - theta["m"]).sum()}

    y = np.random.default_rng(3).normal(2.05, 1, size=50)
    results = Mean(y).fit(seed=1, prior="flat")
    exact = stats.truncnorm(-np.inf, (2 - y.mean()) * np.sqrt(50), y.mean(), 1 / np.sqrt(50))
    assert abs(results.params["m"] - exact.mean()) < 0.1 * exact.std()
    assert abs(results.bse["m"] / exact.std() - 1) < 0.08
    with pytest.raises(ArgumentError, match="interval', 0, 2"):
        Mean(y).fit(prior={"m": sgmc.truncated(sgmc.normal(0, 1), low=0)})


@pytest.mark.parametrize("ends", [(0.0, np.inf), (-np.inf, 1.0), (-1.0, 2.0)])
@pytest.mark.parametrize("place", [-30.0, 0.3, 40.0])
def test_moments_of_a_margin_are_those_of_the_truncated_normal(ends, place):
    """To 1e-5, which is what 6,000 nodes give, wherever the normal law is."""
    cut = Cut(sgmc.flat(), False, *ends)
    variance = 4.0
    mean, found = cut.moments(place, variance)
    a, b = (np.array(ends) - place) / 2.0
    exact = stats.truncnorm(a, b, place, 2.0)
    assert mean == pytest.approx(exact.mean(), rel=1e-5, abs=1e-5)
    assert found == pytest.approx(exact.var(), rel=1e-4)


REFUSED = {
    "robust": (dict(cov_type="robust"), "cov_type='robust'"),
    "lines": (dict(sampler="zigzag"), "straight lines"),
    "modes": (dict(modes="search"), "modes='search'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_do_not_go_with_ends_are_refused(case):
    given, words = REFUSED[case]
    with pytest.raises(NotSupported, match=words):
        sgmc.logit("y ~ x", outcomes(), prior={"x": sgmc.half_normal(1)}, **given)


WRONG = {
    "order": (lambda: sgmc.uniform(1, 0), "less than"),
    "infinite": (lambda: sgmc.uniform(0, math.inf), "uniform: high"),
    "no prior": (lambda: sgmc.truncated("normal", low=0), "truncated: prior"),
    "nothing left": (lambda: sgmc.truncated(sgmc.half_normal(1), high=-1), "nothing|less than"),
    "horseshoe": (lambda: sgmc.truncated(sgmc.horseshoe(), low=0), "cannot be cut off"),
    "text": (lambda: sgmc.truncated(sgmc.normal(0, 1), low="0"), "truncated: low"),
}


@pytest.mark.parametrize("case", WRONG)
def test_ends_that_are_none_are_refused(case):
    make, words = WRONG[case]
    with pytest.raises(ArgumentError, match=words):
        make()


def test_a_flat_prior_between_two_ends_is_uniform():
    """So it makes separated outcomes proper."""
    assert sgmc.truncated(sgmc.flat(), 0, 5) == sgmc.uniform(0, 5)


def test_sds_and_sigmas_take_ends_that_suit_them():
    df = outcomes().assign(g=np.tile(list("abcdef"), 10))
    with pytest.raises(ArgumentError, match="does not suit"):
        sgmc.logit("y ~ x + (1 | g)", df, prior={"sd": sgmc.truncated(sgmc.half_normal(1), 0.1)})
    with pytest.raises(ArgumentError, match="nothing to 'sigma'"):
        sgmc.ols("y ~ x", df, prior={"sigma": sgmc.uniform(-2, -1)})
