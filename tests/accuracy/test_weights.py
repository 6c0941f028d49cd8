"""Draws that count by weights are at most as many as Kish's number; what is advised is enough."""

import numpy as np
import pytest

from sgmc.fit import stopping

from .cases import autoregressive

LENGTH = 2000


@pytest.fixture
def weights():
    """Of steps that shrink, which are a third as many equal ones."""
    return (1 + np.arange(LENGTH)) ** -0.5 + np.where(np.arange(LENGTH) % 10, 0.0, 0.1)


def bound(independent, parameters):
    """The bound of so many independent draws."""
    time = stopping.largest_time(1.0, independent)
    return stopping.quantile(parameters) * np.sqrt(time / independent)


def test_draws_that_alternate_count_as_no_more_than_their_weights(weights):
    """Their means are better than of independent ones, which the rule does not rely on."""
    draws = autoregressive(1, LENGTH, -0.8)
    kish = len(draws) * weights.sum() ** 2 / (weights**2).sum()
    assert kish < 0.7 * draws.shape[0] * LENGTH
    assert stopping.error_bound(draws) == pytest.approx(bound(4 * LENGTH, 3), rel=1e-12)
    found = stopping.error_bound(draws, weights)
    assert found == pytest.approx(bound(kish, 3), rel=1e-12)
    assert stopping.error_bound(draws, 7 * weights) == pytest.approx(found, rel=1e-12)


def test_the_bound_of_weighted_means_holds(weights):
    """In 95 % of simulated sets of chains, for all means at once, and it is no larger than that:
    their variance is 1 over Kish's number.
    """
    share = weights / weights.sum()
    off, bounds = [], []
    for seed in range(100):
        draws = autoregressive(seed, LENGTH, 0.0, p=1)
        off.append(share @ draws.mean(axis=0)[:, 0])
        bounds.append(stopping.error_bound(draws, weights))
    sd = np.sqrt((share**2).sum() / 4)
    assert np.std(off) == pytest.approx(sd, rel=0.25)
    assert np.mean(bounds) == pytest.approx(1.96 * sd, rel=0.1)
    assert (np.abs(off) <= bounds).sum() >= 88


def test_errors_that_are_four_times_too_large_take_sixteen_times_the_draws():
    (found,) = stopping.Stopping(0.05, 0.2, 500, 3).warnings()
    assert "give draws=8000" in found.advice
    assert not stopping.Stopping(0.05, 0.2 / np.sqrt(16), 8000, 3).warnings()
