"""Each family: its density against scipy's."""

import numpy as np
import pytest
from scipy import stats

from sgmc.core.contract import Prior
from sgmc.core.design import design
from sgmc.core.engine import full
from sgmc.core.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.models.regression.families.rlm import LearnedRlmFamily, RlmFamily
from sgmc.subsampling.uniform import Everything

from .tables import FAMILIES, LINKS


def bernoulli(link):
    """log P(y) by scipy's logpmf; successes by the link's complement where it is the more exact."""
    return lambda y, eta: stats.bernoulli.logpmf(y, link.inverse(eta))


def nbinom(y, eta, alpha):
    """By scipy's number of successes and their probability."""
    return stats.nbinom.logpmf(y, 1 / alpha, 1 / (1 + alpha * np.exp(eta)))


def invgauss(y, eta, phi):
    """By scipy's mu, mean over scale."""
    return stats.invgauss.logpdf(y, phi * np.exp(eta), scale=1 / phi)


COUNTED, POSITIVE, REAL = [0.0, 1.0, 7.0, 300.0], [1e-3, 0.7, 5.0, 300.0], [-40.0, 0.0, 0.3, 3.0]
# name: log density by scipy, outcomes, linear predictors, own parameters
DENSITIES = {
    "logit": (bernoulli(LINKS.Logit()), [0.0, 1.0], np.linspace(-8, 8, 9), [()]),
    "probit": (bernoulli(LINKS.Probit()), [0.0, 1.0], np.linspace(-4, 4, 9), [()]),
    "cloglog": (bernoulli(LINKS.CLogLog()), [0.0, 1.0], np.linspace(-8, 2.5, 9), [()]),
    "loglog": (bernoulli(LINKS.LogLog()), [0.0, 1.0], np.linspace(-2.5, 8, 9), [()]),
    "cauchit": (bernoulli(LINKS.Cauchy()), [0.0, 1.0], np.linspace(-50, 50, 9), [()]),
    "poisson": (
        lambda y, eta: stats.poisson.logpmf(y, np.exp(eta)),
        COUNTED,
        np.linspace(-8, 7, 9),
        [()],
    ),
    "negativebinomial": (nbinom, COUNTED, np.linspace(-4, 6, 9), [(0.03,), (0.7,), (5.0,)]),
    "ols": (
        lambda y, eta, s: stats.norm.logpdf(y, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2,), (3.0,)],
    ),
    "gaussianlog": (
        lambda y, eta, s: stats.norm.logpdf(y, np.exp(eta), s),
        REAL,
        np.linspace(-8, 3, 9),
        [(0.2,), (3.0,)],
    ),
    "gamma": (
        lambda y, eta, phi: stats.gamma.logpdf(y, 1 / phi, scale=phi * np.exp(eta)),
        POSITIVE,
        np.linspace(-4, 6, 9),
        [(0.02,), (0.7,), (9.0,)],
    ),
    "inversegaussian": (invgauss, POSITIVE, np.linspace(-3, 6, 9), [(0.05,), (0.7,), (9.0,)]),
    "rlm": (
        lambda y, eta, s: stats.t.logpdf(y, 4, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2,), (3.0,)],
    ),
    "rlm(df=None)": (
        lambda y, eta, s, df: stats.t.logpdf(y, df, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2, 0.6), (3.0, 4.0), (1.0, 60.0), (1.0, 3000.0)],
    ),
}


def cells(name):
    """(y, own parameters) of all combinations."""
    _, outcomes, _, parameters = DENSITIES[name]
    return [(y, own) for y in outcomes for own in parameters]


def density(name, y, eta, own):
    """The family's log density at one outcome."""
    return FAMILIES[name].log_density(np.full(len(eta), y), eta, np.array(own) if own else None)


def kernel(name, y):
    """Its compiled model of one row, as a gradient."""
    model = FAMILIES[name].kernel(design(np.ones((1, 1))), np.array([y]), None, None)
    return Simple(model, Prior(model.dim), Everything(1), Rng(seed_sequence(0, "chain")))


def test_every_family_has_a_density_here():
    assert set(FAMILIES) == set(DENSITIES)


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_are_scipys(name):
    scipys, _, eta, _ = DENSITIES[name]
    for y, own in cells(name):
        np.testing.assert_allclose(
            density(name, y, eta, own), scipys(y, eta, *own), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("name", DENSITIES)
def test_the_kernel_has_that_density_up_to_a_constant(name):
    """The same constant for all parameters."""
    _, outcomes, eta, parameters = DENSITIES[name]
    for y in outcomes:
        gradient = kernel(name, y)
        found = np.array([full(gradient, [e, *np.log(own)])[0] for own in parameters for e in eta])
        expected = np.concatenate([density(name, y, eta, own) for own in parameters])
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", DENSITIES)
def test_the_kernel_has_the_gradient_of_scipys_density(name):
    """By central differences in the linear predictor and the logs; 1e-6 of the larger of 1, the
    gradient and the density.
    """
    scipys, _, eta, _ = DENSITIES[name]
    for y, own in cells(name):
        gradient = kernel(name, y)
        for e in eta:
            at, found = np.array([e, *np.log(own)]), full(gradient, [e, *np.log(own)])[1]

            def log_density(point):
                return float(scipys(np.array(y), point[0], *np.exp(point[1:])))

            expected = np.array(
                [
                    (log_density(at + step) - log_density(at - step)) / 2e-5
                    for step in 1e-5 * np.eye(len(at))
                ]
            )
            size = max(1.0, np.abs(expected).max(), abs(log_density(at)))
            np.testing.assert_allclose(found, expected, atol=1e-6 * size)


@pytest.mark.parametrize("eta", [-800.0, 800.0])
@pytest.mark.parametrize("name", DENSITIES)
def test_extreme_predictors_have_finite_densities_gradients_and_means(name, eta):
    assert np.isfinite(FAMILIES[name].mean(np.array([eta]))).all()
    for y, own in cells(name):
        assert np.isfinite(density(name, y, np.array([eta]), own)).all()
        value, slope = full(kernel(name, y), [eta, *np.log(own)])
        assert np.isfinite(value) and np.isfinite(slope).all()


@pytest.mark.parametrize(
    "name", [name for name, family in FAMILIES.items() if DENSITIES[name][3] != [()]]
)
def test_variances_are_those_of_simulated_outcomes(name):
    """100,000 outcomes: mean and sd to five standard errors, by the outcomes' fourth moment; t
    errors with 12 degrees of freedom.
    """
    own = np.array({"rlm(df=None)": (0.7, 12.0)}.get(name, (0.3,)))[:, None]
    family = RlmFamily(12.0) if name == "rlm" else FAMILIES[name]
    eta = np.full((100_000, 1), 0.4)
    y = family.simulate(eta, np.random.default_rng(3), own)
    mean = family.mean(eta)[0, 0]
    variance = np.broadcast_to(family.variance(eta, own), eta.shape)[0, 0]
    error = (y - mean) ** 2
    assert abs(y.mean() - mean) < 5 * np.sqrt(variance / len(y))
    assert abs(error.mean() - variance) < 5 * error.std() / np.sqrt(len(y))


def test_student_t_errors_without_a_variance():
    family, extra = LearnedRlmFamily(), np.array([[1.0, 1.0, 2.0], [1.5, 2.0, 4.0]])
    np.testing.assert_array_equal(
        family.variance(np.zeros((2, 3)), extra), [[np.inf, np.inf, 8.0]] * 2
    )
    assert np.isinf(RlmFamily(1.0).variance(np.zeros((2, 3)), extra[:1])).all()
