"""A Bayes factor does not depend on the units of the combination that is asked for."""

import numpy as np
import pytest
from scipy import stats

from . import conjugate


@pytest.mark.parametrize("factor", [0.2, 5.0, -3.0])
def test_multiples_have_the_same_factor(factor):
    results = conjugate.fitted()
    point = round(conjugate.posterior()[0][1], 2)
    one = results.bayes_factor(f"x = {point}")
    other = results.bayes_factor(f"{factor} * x = {factor * point}")
    assert other["log_BF01"] == pytest.approx(one["log_BF01"], abs=1e-6)
    assert other["log_prior"] == pytest.approx(one["log_prior"] - np.log(abs(factor)), abs=1e-9)


def test_densities_are_those_of_the_conjugate_posterior():
    """Of the prior to rounding, of the posterior within 10 %, its Monte Carlo error."""
    mean, covariance = conjugate.posterior()
    point = round(2 * mean[1], 2)
    found = conjugate.fitted().bayes_factor(f"2 * x = {point}")
    prior = stats.norm.logpdf(point, 0, 2 * conjugate.SDS[1])
    assert found["log_prior"] == pytest.approx(prior, abs=1e-9)
    wanted = stats.norm.logpdf(point, 2 * mean[1], 2 * np.sqrt(covariance[1, 1]))
    assert found["log_posterior"] == pytest.approx(wanted, abs=0.1)
