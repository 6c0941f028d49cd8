"""Priors of ordered outcomes in Bayes factors and sensitivities: what is printed are thresholds,
what has priors are an intercept and gaps.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import NotSupported
from sgmc.results.priors.sensitivity import log_prior

GIVEN = {"x": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 2)}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(2, 1, size=200)
    y = pd.cut(x - 2 + rng.logistic(size=200), [-99, -1, 1, 99], labels=list("abc"))
    return pd.DataFrame({"x": x, "y": y})


@pytest.fixture(scope="module")
def results(frame):
    return sgmc.ordinal("y ~ x", frame, prior=GIVEN, seed=1)


def test_log_priors_are_those_of_intercept_and_gaps(results, frame):
    """Up to a constant; with a gap's prior dropped it is not."""
    theta = results._joint_draws[::200]
    slope, first, second = theta.T
    gap = results.priors.used[-1]
    # the prior of a named intercept is that at a predictor of zero, and a|b is minus it
    parts = [
        stats.norm.logpdf(slope, 0, 1),
        stats.norm.logpdf(-first, 0, 2),
        stats.expon.logpdf(second - first, scale=gap.scale),
    ]
    ours = log_prior(results, theta)
    assert np.ptp(ours - sum(parts)) < 1e-9
    assert np.ptp(ours - sum(parts[:2])) > 0.1


def test_bayes_factors_of_slopes_and_of_the_first_threshold(results):
    for statement, law, at in (
        ("x = 0.9", stats.norm(0, 1), 0.9),
        ("`a|b` = 0.9", stats.norm(0, 2), 0.9),
    ):
        found = results.bayes_factor(statement)
        assert found["log_prior"] == pytest.approx(law.logpdf(at), abs=1e-9)
    with pytest.raises(NotSupported, match="combines 'gap.b.' with others"):
        results.bayes_factor("`b|c` = 1")


def test_sensitivities_of_thresholds_are_told(results):
    """Of 200 rows and priors that are wide the data decide."""
    table = results.sensitivity()
    assert list(table.index) == ["x", "a|b", "b|c"]
    assert (table["likelihood"] > table["prior"]).all()


def test_prior_curves_are_those_of_slopes_alone(results):
    results.plot_posterior(["x"], prior=True)
    with pytest.raises(NotSupported, match="'b|c' is not known in closed form"):
        results.plot_posterior(["b|c"], prior=True)
