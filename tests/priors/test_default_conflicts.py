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
    assert len(found) == 1 and "default priors hide what the data say of z, x" in found[0]
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


def years(n=800):
    """A curve of the year."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"year": rng.integers(2000, 2012, n)})
    df["y"] = ((df.year - 2005) / 4) ** 2 + rng.normal(size=n)
    df["hit"] = (df.y > 1).astype(int)
    df["g"] = np.arange(n) % 10
    return df.assign(c=df.year - 2005)


@pytest.mark.parametrize(
    ("verb", "formula"),
    [
        ("ols", "y ~ year + I(year**2)"),
        ("logit", "hit ~ year + I(year**2)"),
        ("ols", "y ~ year + I(year**2) + (1 | g)"),
    ],
)
@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
def test_priors_that_hide_what_data_say_are_named_with_a_cure(verb, formula):
    """A year and its square have large coefficients that nearly cancel, each beyond its default
    prior; the curve is then lost.  Followed, the advice brings it back.
    """
    df, fit = years(), getattr(sgmc, verb)
    with pytest.warns(PriorWarning, match=r"hide what the data say of .*year.* Centre"):
        lost = fit(formula, df, seed=1)
    assert not any("do not determine" in str(one) for one in lost.warnings)
    for again in ({"formula": formula.replace("year", "c")}, {"formula": formula, "prior": "flat"}):
        found = fit(again.pop("formula"), df, seed=1, **again)
        assert not any(isinstance(one, PriorWarning) for one in found.warnings)
        ends = df.drop_duplicates("year").sort_values("year").iloc[[0, 5]]
        fall = [-np.diff(one.predict(ends))[0] for one in (found, lost)]
        assert fall[0] > fall[1] + (1.0 if verb == "ols" else 0.2)
