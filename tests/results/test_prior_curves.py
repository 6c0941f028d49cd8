"""Densities of priors over the posterior's: `plot_posterior(prior=True)`."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import NotSupported
from sgmc.results.priors.distributions import margin


@pytest.fixture(scope="module")
def table():
    """Predictors far from zero, so that the intercept's prior depends on them."""
    random = np.random.default_rng(3)
    x, z = random.normal(4, 1, 300), random.normal(-2, 3, 300)
    y = (random.random(300) < 1 / (1 + np.exp(2 - 0.5 * x))).astype(int)
    return {"x": x, "z": z, "y": y}


@pytest.fixture(scope="module")
def fitted(table):
    """Normal, flat, and other priors."""
    prior = {"Intercept": sgmc.normal(0, 2), "x": sgmc.normal(1, 0.5), "z": sgmc.student_t(4, 0, 1)}
    return sgmc.logit("y ~ x + z", table, prior=prior, seed=1)


@pytest.fixture
def plt():
    """Matplotlib without a screen."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    yield pyplot
    pyplot.close("all")


def test_curves_are_the_priors_densities(plt, fitted):
    laws = {"x": stats.norm(1, 0.5), "z": stats.t(4), "Intercept": stats.norm(0, 2)}
    for ax, name in zip(fitted.plot_posterior(list(laws), prior=True), laws):
        (line,) = [line for line in ax.lines if line.get_label() == "prior"]
        x, density = line.get_data()
        assert x[0] <= fitted.draws[..., fitted.names.index(name)].min()
        np.testing.assert_allclose(density, laws[name].pdf(x), rtol=1e-12)
    (ax,) = fitted.plot_posterior("x")
    assert "prior" not in [line.get_label() for line in ax.lines]


def test_a_prior_at_centred_predictors_is_that_of_the_intercept(table):
    """The default: a = phi - c'b is normal.  20,000 draws of b: the density is right to 5 % of its
    height.  Planted: means that are left out, which give the density at centred predictors.
    """
    fit = sgmc.logit("y ~ x + z", table, seed=1)
    priors, centre = fit.priors, fit._fit.problem.table.mean
    sds = np.array([spec.scale for spec in priors.used])
    sd = np.sqrt(sds[0] ** 2 + ((centre[1:] * sds[1:]) ** 2).sum())
    x = np.linspace(-2 * sd, 2 * sd, 50)
    wanted = stats.norm(0, sd).pdf(x)
    first = priors.names[0]
    assert np.abs(margin(priors, centre, first)(x) - wanted).max() < 0.05 * wanted.max()
    assert np.abs(margin(priors, 0 * centre, first)(x) - wanted).max() > 0.2 * wanted.max()


def test_flat_priors_have_no_curve(plt, table):
    fit = sgmc.logit("y ~ x + z", table, seed=1, prior={"x": "flat"})
    for ax in fit.plot_posterior(["x", "Intercept"], prior=True):
        assert "prior" not in [line.get_label() for line in ax.lines]


def test_what_has_no_margins_is_refused(plt, table):
    fit = sgmc.logit("y ~ x + z", table, seed=1, cov_type="robust")
    with pytest.raises(NotSupported, match="prior=True"):
        fit.plot_posterior(prior=True)
