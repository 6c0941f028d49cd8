"""What is known of tails beside learned scales where outcomes are not normal."""

import numpy as np
import pandas as pd
import pytest

import sgmc

NAMES = [f"v{k}" for k in range(6)]
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def frame(n=120, separated=False):
    """Outcomes 0 and 1 and counts by two of the predictors."""
    rng = np.random.default_rng(21)
    made = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    eta = 2 * made.v0 - made.v1
    made["b"] = (eta > 0 if separated else rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return made.assign(n=rng.poisson(np.exp(eta / 2)))


def shape(verb, formula, prior, data):
    """The `Shape` of a fit, which a few draws show."""
    how = dict(prior=prior, seed=1, draws=20, warmup=20, chains=2)
    return getattr(sgmc, verb)(f"{formula} ~ {' + '.join(NAMES)}", data, **how)._fit.problem.shape


@pytest.mark.parametrize("verb, outcome", [("logit", "b"), ("probit", "b"), ("poisson", "n")])
def test_rows_that_bound_coefficients_give_them_light_tails(verb, outcome):
    """A concave log likelihood without a direction of recession falls at least in proportion to
    the coefficients, whatever their priors: a heavy tail index of their spikes was noise, for
    which fits were not trusted.  tau2 of r2d2 keeps its own: 1 / (1 + D min(a, 1/2)), D a = 1.
    """
    found = shape(verb, outcome, sgmc.r2d2(), frame())
    asked = ["Intercept", *NAMES, "tau2(r2d2)"]
    np.testing.assert_allclose(found.tail_bounds(asked), [0.0] * 7 + [0.5])
    assert found.settled == ("tau2(r2d2)",)


def test_the_share_of_a_local_scale_near_the_estimate_is_that_power_of_tau2():
    """p(b | tau2) under variances tau2 Gamma(a, 1) falls as tau2^-a for a below 1/2: its slope in
    logs at 1e10 to 1e12, by quadrature, within 1 %: the next term is tau2^(a - 1/2) smaller.
    """
    a, logs = 1 / 6, np.linspace(-60, 6, 200_001)
    local = np.exp(a * logs - np.exp(logs))  # density of log lambda, times a constant

    def density(tau2):
        spread = tau2 * np.exp(logs)
        return (local * np.exp(-0.5 / spread) / np.sqrt(spread)).sum()

    slope = np.log(density(1e12) / density(1e10)) / np.log(1e2)
    assert slope == pytest.approx(-a, rel=0.01)


@pytest.mark.parametrize("verb, data", [("logit", frame(separated=True)), ("cauchit", frame())])
def test_where_rows_do_not_bound_them_nothing_is_claimed(verb, data):
    """Separated outcomes leave a direction to the prior, and a Cauchy link falls as a power."""
    found = shape(verb, "b", sgmc.r2d2(), data)
    assert np.isnan(found.tail_bounds([*NAMES, "tau2(r2d2)"])).all() and not found.settled
