"""Scales and rates of priors: the same density by either name; what is ambiguous is warned of."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc import priors
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.core.expansion import of_prior
from sgmc.errors import ArgumentError, PriorWarning

X = np.array([0.2, 1.0, 3.0])


def log_density(prior, x):
    """The compiled log density at a number, up to a constant."""
    kernel = Separable([FAMILIES[prior.family]], [prior.location], [prior.scale], [prior.shape])
    return of_prior(kernel, np.array([x]))[0]


LAWS = {
    "gamma, rate": (sgmc.gamma(2, rate=4), stats.gamma(2, scale=0.25)),
    "gamma, scale": (sgmc.gamma(2, scale=4), stats.gamma(2, scale=4)),
    "gamma": (sgmc.gamma(2), stats.gamma(2)),
    "exponential, rate": (sgmc.exponential(rate=4), stats.expon(scale=0.25)),
    "exponential, scale": (sgmc.exponential(scale=4), stats.expon(scale=4)),
    "lognormal": (sgmc.lognormal(0.5, 0.8), stats.lognorm(0.8, scale=np.exp(0.5))),
    "inverse gamma": (sgmc.inverse_gamma(3, 2), stats.invgamma(3, scale=2)),
}


@pytest.mark.parametrize("name", LAWS)
def test_densities_are_those_of_scipy(name):
    prior, law = LAWS[name]
    found = np.diff([log_density(prior, x) for x in X])
    assert found == pytest.approx(np.diff(law.logpdf(X)), rel=1e-12)


def test_an_inverse_gamma_has_the_rate_of_its_inverse():
    """p(x) = q(1 / x) / x^2 with q of gamma(shape, rate=scale)."""
    inverse, direct = sgmc.inverse_gamma(3, 2), sgmc.gamma(3, rate=2)
    expected = [log_density(direct, 1 / x) - 2 * np.log(x) for x in X]
    assert np.diff([log_density(inverse, x) for x in X]) == pytest.approx(np.diff(expected))


@pytest.mark.parametrize(
    "make, same, words",
    [
        (lambda: sgmc.gamma(2, 10), sgmc.gamma(2, scale=10), "mean is 20; as a rate.*be 0.2"),
        (lambda: sgmc.exponential(4), sgmc.exponential(scale=4), "mean is 4; as a rate.*be 0.25"),
    ],
)
def test_by_position_it_is_a_scale_and_a_warning_says_so(make, same, words):
    with pytest.warns(PriorWarning, match=words) as caught:
        assert make() == same
    assert caught[0].filename == __file__ and "rate=" in caught[0].message.advice


def test_what_is_not_ambiguous_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sgmc.gamma(2, 1) == sgmc.gamma(2) == sgmc.gamma(2, rate=1)
        assert sgmc.exponential(1) == sgmc.exponential() == sgmc.exponential(rate=1)
        sgmc.gamma(shape=2, scale=10), sgmc.inverse_gamma(3, 2)


@pytest.mark.parametrize("make", [lambda **k: sgmc.gamma(2, **k), sgmc.exponential])
class TestRefusals:
    def test_scale_and_rate(self, make):
        with pytest.raises(ArgumentError, match="scale=2 and rate=3 are given; give one of them"):
            make(scale=2, rate=3)

    @pytest.mark.parametrize("rate", [0, -1, "2", np.nan, np.inf])
    def test_rates_that_are_none(self, make, rate):
        with pytest.raises(ArgumentError, match="(gamma|exponential): rate="):
            make(rate=rate)


def test_they_are_printed_with_the_name():
    assert str(sgmc.gamma(2, rate=4)) == "gamma(2, scale=0.25)"
    assert str(sgmc.exponential(rate=4)) == "exponential(scale=0.25)"
    assert str(sgmc.exponential(autoscale=True)) == "exponential(1*)"


PARAMETERS = ["shape", "scale", "autoscale", "rate"]


def test_signatures_and_pickles():
    """Named arguments of the regression come behind, which `sgmc.gamma` is of a formula."""
    assert list(inspect.signature(priors.gamma).parameters) == PARAMETERS
    assert list(inspect.signature(sgmc.gamma).parameters) == [*PARAMETERS, "named"]
    assert pickle.loads(pickle.dumps(sgmc.gamma(2, rate=4))) == sgmc.gamma(2, rate=4)
