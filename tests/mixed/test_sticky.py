"""Probabilities that slopes are zero beside effects of groups, against sums over all parameters."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.models.regression.latent.covariance.group_effects import MixedPriors

PRIOR = {"*": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 1), "sd": sgmc.half_normal(1)}
GROUPS, EACH = 8, 6


@cache
def table():
    """Outcomes of groups, with a slope of x that the data leave in doubt."""
    rng = np.random.default_rng(12)
    g, x = np.repeat(np.arange(GROUPS), EACH), rng.normal(size=GROUPS * EACH)
    x -= x.mean()  # so that the intercept's prior is at zero, too
    eta = 0.3 + 0.7 * rng.normal(size=GROUPS)[g] + 0.5 * x
    return pd.DataFrame(
        {"y": (rng.random(len(x)) < special.expit(eta)).astype(int), "x": x, "g": g}
    )


@cache
def inclusion():
    """P(slope is not 0) of inclusion 1/2, by sums over intercept, slope, sd and effects."""
    d = table()
    level, slope = np.linspace(-3, 3, 61), np.linspace(-3.5, 3.5, 71)
    sds = np.linspace(0.02, 4, 60)
    t, weight = np.polynomial.hermite_e.hermegauss(25)
    log_weight = np.log(weight / weight.sum())

    def log_mass(slopes):
        total = []
        for b in slopes:
            value = -0.5 * level[:, None] ** 2 - 0.5 * sds**2
            for _, own in d.groupby("g"):
                eta = level[:, None, None] + sds[:, None] * t
                sign = 2 * own.y.to_numpy()[:, None, None, None] - 1
                each = special.log_expit(sign * (eta + b * own.x.to_numpy()[:, None, None, None]))
                value = value + special.logsumexp(each.sum(axis=0) + log_weight, axis=-1)
            total.append(special.logsumexp(value))
        return np.array(total)

    law = -0.5 * slope**2 - 0.5 * np.log(2 * np.pi) + np.log(slope[1] - slope[0])
    odds = special.logsumexp(log_mass(slope) + law) - log_mass([0.0])[0]
    return special.expit(odds)


def found(seed=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        results = sgmc.logit(
            "y ~ x + (1 | g)", table(), prior=PRIOR, sampler="stickysgpdmp", seed=seed, draws=400
        )
    assert list(results.inclusion().index) == ["x"]
    return results.inclusion().loc["x"]


def test_inclusion_is_that_of_sums():
    """Within four Monte Carlo errors, of about .01."""
    one, truth = found(), inclusion()
    assert 0.3 < truth < 0.9
    assert abs(one["inclusion"] - truth) < 4 * one["mcse"] < 0.1


def test_an_sd_that_is_kept_at_zero_is_seen(monkeypatch):
    """Planted: places of the slopes as of a model without effects, the sd's among them."""
    base = MixedPriors.__mro__[1].slopes
    monkeypatch.setattr(MixedPriors, "slopes", base)
    with pytest.raises((AssertionError, sgmc.errors.SGMCError)):
        test_inclusion_is_that_of_sums()


def test_crossed_factors_are_refused_by_name():
    d = table().assign(h=np.arange(GROUPS * EACH) % EACH)
    with pytest.raises(sgmc.errors.NotSupported, match="mix them with effects") as error:
        sgmc.logit("y ~ x + (1 | g) + (1 | h)", d, sampler="stickysgpdmp")
    assert error.value.because == "limit"
