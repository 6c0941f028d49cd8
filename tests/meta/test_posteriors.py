"""Random-effects meta-analysis at defaults against quadrature, and against published estimates."""

from functools import cache

import numpy as np
import pytest

import sgmc

from .studies import SCHOOLS, exact, vaccine

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
SEEDS = range(8)
# 4,000 nearly independent draws tell means to 0.016 sd and the sd of tau, whose law has a long
# tail, to 2 %: six and two and a half of their errors
MEANS, SDS = 0.1, 0.05
TABLES = {"schools": SCHOOLS, "vaccine": vaccine()}


@cache
def fitted(name, seed):
    return sgmc.ols("effect ~ 1 + (1 | study)", TABLES[name], se="se", seed=seed)


def effects(results, frame):
    """Mean and sd of each study's true effect."""
    found = results.get_prediction(frame).summary_frame()
    return found["mean"].to_numpy(), found["mean_se"].to_numpy()


def distances(results, frame, truth):
    """How far means are off, in sds, and sds, relative to them: of mu, tau and the effects."""
    mean, sd = results.params.to_numpy(), results.bse.to_numpy()
    pairs = [((mean[0], sd[0]), truth.mu), ((mean[1], sd[1]), truth.tau)]
    pairs.append((effects(results, frame), truth.effects))
    means = [np.abs((found[0] - right[0]) / right[1]).max() for found, right in pairs]
    sds = [np.abs(found[1] / right[1] - 1).max() for found, right in pairs]
    return max(means), max(sds)


@pytest.mark.cover(0)
@pytest.mark.parametrize("seed", SEEDS)
def test_eight_schools_are_trusted_and_right(seed):
    results = fitted("schools", seed)
    means, sds = distances(results, SCHOOLS, exact(SCHOOLS))
    assert means < MEANS and sds < SDS
    assert results.verdict.trustworthy


@pytest.mark.mistake("meta-analysis: {mistake}")
@pytest.mark.parametrize("name", ["schools"])
@pytest.mark.parametrize("mistake", ["prior dropped", "se x sqrt 2"])
def test_mistakes_move_posteriors(name, mistake):
    wrong = exact(
        TABLES[name], mistake != "prior dropped", 2**0.5 if mistake == "se x sqrt 2" else 1.0
    )
    means, sds = distances(fitted(name, 0), TABLES[name], wrong)
    assert means > MEANS or sds > SDS


def test_the_vaccine_is_that_of_quadrature():
    frame = TABLES["vaccine"]
    results = fitted("vaccine", 1)
    means, sds = distances(results, frame, exact(frame))
    assert means < MEANS and sds < SDS
    assert results.verdict.trustworthy


def test_the_vaccine_is_near_published_estimates():
    """metafor's REML: mean -0.7145, tau^2 0.3132 (its se 0.1664); DerSimonian-Laird 0.3088.  The
    posterior of a variance of 13 trials is skewed, and its mode near both.
    """
    results = fitted("vaccine", 1)
    assert abs(results.params["Intercept"] + 0.7145) < 0.05
    low, high = results.conf_int().loc["sd(1|study)"] ** 2
    assert low < 0.3088 < 0.3132 < high
    assert abs(np.median(results.flat[:, 1]) ** 2 - 0.3132) < 0.1664


def test_a_common_effect_is_the_weighted_mean():
    """Without a group term; metafor's common-effect estimate -0.4303, se 0.0405, Q 152.2330.  The
    prior's share of the information is 1e-3.
    """
    results = sgmc.ols("effect ~ 1", TABLES["vaccine"], se="se", seed=1)
    assert abs(results.params["Intercept"] + 0.4303) < 0.1 * 0.0405
    assert results.bse["Intercept"] == pytest.approx(0.0405, rel=0.05)
    assert results.null_deviance == pytest.approx(152.2330, abs=1e-4)
    assert results.deviance == pytest.approx(152.2330, abs=0.05)
    assert results.verdict.trustworthy


def test_meta_regression_is_the_closed_form():
    """Slopes with known variances have a normal posterior."""
    rng = np.random.default_rng(3)
    frame = TABLES["vaccine"].assign(
        latitude=[44, 55, 42, 52, 13, 44, 19, 13, 27, 42, 18, 33, 33.0]
    )
    frame = frame.iloc[rng.permutation(len(frame))]
    results = sgmc.ols("effect ~ latitude", frame, se="se", prior="flat", seed=1)
    X = np.column_stack([np.ones(len(frame)), frame.latitude])
    w = frame.se.to_numpy() ** -2
    covariance = np.linalg.inv(X.T @ (w[:, None] * X))
    beta, sd = covariance @ X.T @ (w * frame.effect), np.sqrt(np.diag(covariance))
    assert np.abs((results.params - beta) / sd).max() < MEANS
    assert np.abs(results.bse / sd - 1).max() < SDS
    assert results.nobs == len(frame)
