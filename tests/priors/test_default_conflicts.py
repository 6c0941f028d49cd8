"""A default prior that the data contradict is warned of; one that they outweigh is not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import PriorWarning


class Location(sgmc.Model):
    """Rows N(mu, sigma^2)."""

    parameters = {"mu": (), "sigma": ()}
    constraints = {"sigma": "positive"}

    def __init__(self, y):
        self.y, self.n = y, len(y)

    def log_lik(self, theta, rows):
        e = (self.y[rows] - theta["mu"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])


def rows(n, mean, sd):
    return mean + sd * np.random.default_rng(0).normal(size=n)


def contradictions(fit):
    """Warnings of priors that a call issues, and its result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = fit()
    return [str(one.message) for one in caught if one.category is PriorWarning], result


def test_an_own_model_far_from_its_default_prior():
    """Rows at 1,000 under normal(0, 10): mu near 45, and sigma takes the rest."""
    found, result = contradictions(lambda: Location(rows(40, 1000, 5)).fit(seed=1, draws=200))
    assert len(found) == 1 and "the default prior of sigma, mu contradicts" in found[0]
    assert result.params["mu"] < 200
    assert "contradicts the data" in " ".join(str(result.summary()).split())


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "model, how",
    [
        (Location(rows(40, 12, 5)), {}),
        (Location(rows(400, 45, 1)), {}),
        (Location(rows(40, 1000, 5)), {"prior": {"mu": sgmc.normal(0, 10), "*": "flat"}}),
    ],
    ids=["near", "outweighed", "chosen"],
)
def test_there_is_no_warning_elsewhere(model, how):
    """Near the prior; far out in it, but with rows that leave it no weight; one that is chosen."""
    assert contradictions(lambda: model.fit(seed=1, draws=200, **how))[0] == []


def test_regressions():
    """y follows the small difference of two nearly equal columns: slopes of 50 sd(y) / sd(x)."""
    random = np.random.default_rng(1)
    x, e = random.normal(size=(2, 300))
    frame = pd.DataFrame({"x": x, "z": x + 0.02 * e, "y": e + 0.5 * random.normal(size=300)})
    found, result = contradictions(lambda: sgmc.ols("y ~ x + z", frame, seed=1))
    assert len(found) == 1 and "the default prior of z, x contradicts" in found[0]
    wide = {"*": sgmc.normal(0, 1000)}
    assert contradictions(lambda: sgmc.ols("y ~ x + z", frame, prior=wide, seed=1))[0] == []


@pytest.mark.extended
def test_rare_outcomes_are_no_conflict():
    """P(y) = .0005: the intercept is 3 prior sds out, and 10,000 rows leave the prior no say."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"x": random.normal(size=10_000)})
    frame["y"] = np.arange(10_000) % 2000 == 0
    found, result = contradictions(lambda: sgmc.logit("y ~ x", frame, seed=1))
    assert found == [] and result.params["Intercept"] < -7.5
