"""Densities and probabilities of times against scipy's laws, the compiled model against both."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.arguments.data.survival import LEFT, RIGHT
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import FullBatch

from .tables import ERRORS, log_density

LAWS = ("weibull", "lognormal", "loglogistic")
TIMES = (0.02, 1.0, 3.5, 60.0)
OUTCOMES = [complex(t, known) for t in TIMES for known in (0.0, RIGHT, LEFT)]
OUTCOMES += [complex(1.0, 1.5), complex(0.02, 60.0), complex(30.0, 60.0), complex(0.02, 0.03)]
ETA = np.linspace(-3, 4, 8)
SIGMAS = (0.3, 1.0, 2.5)


def family(dist="weibull", sigma=None):
    """The family of a model's arguments."""
    return sgmc.Survreg.chosen_family(dist, sigma)


def kernel(dist, y):
    """The compiled model of one row, as a gradient."""
    model = family(dist).kernel(design(np.ones((1, 1))), np.array([y]), None, None)
    return Simple(model, Prior(model.dim), FullBatch(1), Rng(seed_sequence(0, "chain")))


@pytest.mark.parametrize("y", OUTCOMES)
@pytest.mark.parametrize("dist", LAWS)
def test_densities_are_scipys(dist, y):
    """To 1e-10, relative where a log density is beyond one."""
    for sigma in SIGMAS:
        found = family(dist).log_density(np.full(len(ETA), y), ETA, np.array([sigma]))
        expected = log_density(dist, y, ETA, sigma)
        possible = np.isfinite(expected)  # scipy's tails of intervals end before the package's
        assert possible.any() and np.isfinite(found).all()
        np.testing.assert_allclose(found[possible], expected[possible], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("y", OUTCOMES[:3] + OUTCOMES[-2:])
def test_the_exponential_law_is_weibulls_with_a_known_sigma(y):
    expected = log_density("exponential", y, ETA, 1.0)
    found = family("exponential").log_density(np.full(len(ETA), y), ETA)
    possible = np.isfinite(expected)
    np.testing.assert_allclose(found[possible], expected[possible], rtol=1e-10, atol=1e-10)
    t = np.array([0.5, 2.0])
    np.testing.assert_allclose(
        family("exponential").log_density(t.astype(complex), np.zeros(2)), stats.expon.logpdf(t)
    )


@pytest.mark.parametrize("y", OUTCOMES)
@pytest.mark.parametrize("dist", LAWS)
def test_the_kernel_has_that_density_and_its_derivatives(dist, y):
    """The density up to a constant; scores and curvatures by central differences, to 1e-6 of the
    largest of 1, themselves and what is differenced.
    """
    gradient, own = kernel(dist, y), family(dist)
    model = own.kernel(design(np.ones((1, 1))), np.array([y]), None, None)
    constant = 0.0 if y.imag else np.log(y.real)

    def value(point):
        return float(own.log_density(y, point[0], np.exp(point[1:]))) + constant

    from _ext.probes import Probe, block

    probe, h = Probe(model), 1e-5 * np.eye(2)
    for eta in ETA:
        for sigma in SIGMAS:
            at = np.array([eta, np.log(sigma)])
            found, slope = full(gradient, at)
            assert found == pytest.approx(value(at), rel=1e-10, abs=1e-10)
            expected = np.array([(value(at + e) - value(at - e)) / 2e-5 for e in h])
            size = max(1.0, np.abs(expected).max(), abs(found))
            np.testing.assert_allclose(slope, expected, atol=1e-6 * size)
            bends = -np.array(
                [(full(gradient, at + e)[1] - full(gradient, at - e)[1]) / 2e-5 for e in h]
            )
            size = max(1.0, np.abs(bends).max(), np.abs(slope).max())
            found = probe.curvatures(at, block(0, 1))[0]
            np.testing.assert_allclose(found, bends, atol=1e-6 * size)


@pytest.mark.parametrize("eta", [-800.0, 800.0])
@pytest.mark.parametrize("y", OUTCOMES)
@pytest.mark.parametrize("dist", LAWS)
def test_extreme_predictors_have_finite_densities_and_derivatives(dist, y, eta):
    value, slope = full(kernel(dist, y), [eta, np.log(0.3)])
    assert np.isfinite(value) and np.isfinite(slope).all()
    assert np.isfinite(family(dist).log_density(y, eta, np.array([0.3])))


@pytest.mark.parametrize("dist", LAWS)
def test_survival_functions_quantiles_and_simulated_times_are_of_that_law(dist):
    """Times of 20,000 rows by Kolmogorov's test: of 3 p-values one is below 1e-4 in 3,000 seeds."""
    own, sigma = family(dist), np.array([0.7])
    t, p = np.array([0.1, 1.0, 5.0]), np.array([0.01, 0.5, 0.9])
    z = (np.log(t) - 0.4) / 0.7
    np.testing.assert_allclose(own.log_survival(t, 0.4, sigma), ERRORS[dist].logsf(z), rtol=1e-10)
    expected = np.exp(0.4 + 0.7 * ERRORS[dist].ppf(p))
    np.testing.assert_allclose(own.quantile(p, 0.4, sigma), expected, rtol=1e-10)
    np.testing.assert_allclose(own.centre(0.4, sigma), expected[1], rtol=1e-10)
    assert (own.log_survival(np.array([0.0, -1.0]), 0.4, sigma) == 0).all()
    times = own.simulate(np.full((20_000, 1), 0.4), np.random.default_rng(3), sigma)[:, 0]
    law = stats.kstest((np.log(times) - 0.4) / 0.7, ERRORS[dist].cdf)
    assert law.pvalue > 1e-4


@pytest.mark.parametrize("dist", LAWS)
def test_informations_of_observed_times_are_expected_curvatures(dist):
    """20,000 times: each entry within five standard errors of its mean."""
    from _ext.probes import Probe, block

    own, n, at = family(dist), 20_000, np.array([0.4, np.log(0.7)])
    y = own.simulate(np.full((n, 1), 0.4), np.random.default_rng(1), np.array([0.7]))[:, 0]
    probe = Probe(own.kernel(design(np.ones((n, 1))), y.astype(complex), None, None))
    found = probe.curvatures(at, block(0, n))
    expected = probe.curvatures(at, block(0, n), expected=True)[0]
    error = found.std(axis=0) / np.sqrt(n) + 1e-12
    assert (np.abs(found.mean(axis=0) - expected) < 5 * error).all()
    wrong = probe.curvatures(at + 0.1, block(0, n), expected=True)[0]  # planted: another place
    assert (np.abs(found.mean(axis=0) - wrong) > 5 * error).any()
