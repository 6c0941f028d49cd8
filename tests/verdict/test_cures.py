"""The advice of a verdict against a density of one's own, followed word by word until the fit is
trusted: it is right then.
"""

import numpy as np
import pytest

import sgmc
from sgmc.models.bases.problem import tails_within

MOST_STEPS = 3  # pieces of advice
# errors that verdicts promise at the default number of draws, in posterior sds and relative to them
MEAN_RIGHT, SD_RIGHT = 0.1, 0.1
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def followed(build, seed):
    """Results that are trusted, and the changes that led there, in their order.

    Parameters
    ----------
    build : callable
        ``build(standard, light)`` is the model, with standard normal numbers in the place of its
        effects, and with light-tailed priors, or without.
    seed : int
    """
    changes = []
    for _ in range(1 + MOST_STEPS):
        results = build("standard normal" in changes, "lighter tails" in changes).fit(seed=seed)
        if results.verdict.trustworthy:
            return results, changes
        said = [one for one in ("standard normal", "lighter tails") if one in results.verdict.text]
        assert len(said) == 1 and said[0] not in changes, results.verdict.text
        changes += said
    pytest.fail(results.verdict.text)


def agree(draws, mean, sd):
    """Whether draws (chain, draw, ...) have these means and sds."""
    assert np.abs((draws.mean((0, 1)) - mean) / sd).max() < MEAN_RIGHT
    assert np.abs(draws.std((0, 1)) / sd - 1).max() < SD_RIGHT


def schools(standard, light):
    """Eight schools, mu ~ N(0, 5) and tau ~ half-Cauchy(5)."""
    y, se = [28.0, 8, -3, 7, -1, 1, 18, 12], [15.0, 10, 16, 11, 9, 11, 10, 18]

    def centred(t, y, se, j):
        return -0.5 * ((y - t.effect[j]) / se) ** 2

    def of_standard(t, y, se, j):
        return -0.5 * ((y - t.mu - t.tau * t.effect[j]) / se) ** 2

    def log_prior(t):
        total = -0.5 * (t.mu / 5) ** 2 - np.log(1 + (t.tau / 5) ** 2)
        for j in range(8):
            if standard:
                total += -0.5 * t.effect[j] ** 2
            else:
                total += -0.5 * ((t.effect[j] - t.mu) / t.tau) ** 2 - np.log(t.tau)
        return total

    return sgmc.NumbaModel(
        of_standard if standard else centred,
        (np.array(y), np.array(se), np.arange(8)),
        parameters={"mu": (), "tau": (), "effect": 8},
        constraints={"tau": "positive"},
        log_prior=log_prior,
    )


def test_schools():
    pytest.importorskip("numba")
    results, changes = followed(schools, seed=1)
    assert changes == ["standard normal"]
    # by quadrature over mu and tau (`benchmarks/awkward.py`)
    agree(results.draws_of("mu"), 4.397, 3.318)
    agree(results.draws_of("tau"), 3.598, 3.220)


MEANS = np.array([-0.5, 0.3, 4.0, -1.1, 0.2, 0.9, -6.0, 0.4])


def horseshoe(standard, light):
    """Normal means b = tau local z with tau ~ half-normal and half-Cauchy, or half-normal, local
    scales.
    """

    def centred(t, y, j):
        return -0.5 * (y - t.b[j]) ** 2

    def of_standard(t, y, j):
        return -0.5 * (y - t.tau * t.local[j] * t.b[j]) ** 2

    def log_prior(t):
        total = -0.5 * t.tau**2
        for j in range(8):
            if standard:
                total += -0.5 * t.b[j] ** 2
            else:
                scale = t.tau * t.local[j]
                total += -0.5 * (t.b[j] / scale) ** 2 - np.log(scale)
            if light:
                total += -0.5 * t.local[j] ** 2
            else:
                total += -np.log(1 + t.local[j] ** 2)
        return total

    return sgmc.NumbaModel(
        of_standard if standard else centred,
        (MEANS, np.arange(8)),
        parameters={"b": 8, "tau": (), "local": 8},
        constraints={"tau": "positive", "local": "positive"},
        log_prior=log_prior,
    )


def shrunk():
    """Means and sds of b by quadrature over tau and the local scale of each, both half-normal:
    given these b is normal around y s^2 / (1 + s^2), s = tau local.
    """
    tau, local = np.exp(np.linspace(-9, 4, 600)), np.exp(np.linspace(-10, 3, 800))
    square, weight = (tau[:, None] * local) ** 2, tau * np.exp(-0.5 * tau**2)
    share, found = square / (1 + square), []
    for y in MEANS:
        each = np.exp(-0.5 * y**2 / (1 + square) - 0.5 * local**2) / np.sqrt(1 + square) * local
        total = each.sum(axis=1)
        weight = weight * total
        first, second = share * y, share + (share * y) ** 2
        found.append([(each * one).sum(axis=1) / total for one in (first, second)])
    mean, square = np.transpose(found, (1, 0, 2)) @ (weight / weight.sum())
    return mean, np.sqrt(square - mean**2)


def test_a_horseshoe():
    """Of half-Cauchy scales there are no means, and of half-normal ones a funnel is left."""
    pytest.importorskip("numba")
    results, changes = followed(horseshoe, seed=2)
    assert changes == ["lighter tails", "standard normal"]
    scale = results.draws_of("tau")[..., None] * results.draws_of("local")
    agree(scale * results.draws_of("b"), *shrunk())


def test_parameters_between_two_ends_have_moments():
    """Whatever the tails of draws look like; of others nothing is known."""

    class Ends(sgmc.Model):
        n, parameters = 1, {"a": (), "b": (), "c": (), "p": 2}
        constraints = {
            "a": ("interval", 0.5, 0.95),
            "b": "positive",
            "c": ("interval", 0.0, np.inf),
            "p": "simplex",
        }

    layout = Ends().layout()
    found = tails_within(layout, [*layout.names, "b / a"])
    np.testing.assert_array_equal(found, [0.0, np.nan, np.nan, 0.0, 0.0, np.nan])
