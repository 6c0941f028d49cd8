"""Draws of two numbers by a table of their log density."""

import numpy as np
import pytest
from scipy import stats

from sgmc.coordinates import plane
from sgmc.coordinates.plane import plane_of


def bent(pairs):
    """The first number is the log of a gamma above zero, the second normal around a line of it."""
    a, b = pairs.T
    width = 0.2 + 0.05 * np.tanh(a)
    return stats.loggamma(3.0, loc=1).logpdf(a) + stats.norm.logpdf(b, 0.4 * a, width)


def at_zero(pairs):
    """A normal number above zero, with much of its mass there, and an exponential tail beside."""
    a, b = pairs.T
    return -0.5 * (a - 0.5) ** 2 + stats.moyal(2, 0.3).logpdf(b)


def uniform(pairs, name):
    """Distribution functions at pairs: two columns that are uniform."""
    a, b = pairs.T
    if name == "bent":
        law = stats.loggamma(3.0, loc=1)
        first = (law.cdf(a) - law.cdf(0)) / law.sf(0)
        return first, stats.norm.cdf(b, 0.4 * a, 0.2 + 0.05 * np.tanh(a))
    return stats.truncnorm(-0.5, np.inf, 0.5, 1).cdf(a), stats.moyal(2, 0.3).cdf(b)


CASES = {
    "bent": (bent, [2.0, 0.8], [[0.4, 0.1], [0.1, 0.08]]),
    "at zero": (at_zero, [0.5, 2.0], [[1.0, 0.0], [0.0, 0.3]]),
}


@pytest.mark.parametrize("scale", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_density(name, scale):
    """Also where its scale is known badly: a Kolmogorov-Smirnov test of 40,000 pairs, and no
    correlation of what is left.
    """
    density, centre, covariance = CASES[name]
    found = plane_of(density, np.array(centre), scale * np.array(covariance))
    pairs = found(np.random.default_rng(1).normal(size=(40_000, 2)))
    first, second = uniform(pairs, name)
    assert stats.kstest(first, "uniform").pvalue > 1e-3
    assert stats.kstest(second, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(40_000)


def test_tables_are_made_finer_where_they_are_not_right():
    """Waves that are short beside the first nodes, and long beside the last."""

    def waves(pairs):
        a, b = pairs.T
        return -0.5 * ((a - 3) ** 2 + b**2) + 0.3 * np.sin(6 * a)

    found = plane_of(waves, np.array([3.0, 0.0]), np.eye(2))
    assert len(found.table) > plane.FIRST_NODES
    pairs = found(np.random.default_rng(1).normal(size=(1000, 2)))
    assert (
        np.ptp(waves(pairs) - found.log_density(pairs)) < 4 * plane.NATS_OFF
    )  # farther out than those looked at


def test_what_has_no_table():
    """Tails that do not end, and a density that is nowhere finite."""
    how = np.array([1.0, 0.0]), np.eye(2)
    assert plane_of(lambda pairs: -1e-9 * np.abs(pairs[:, 1]), *how) is None
    assert plane_of(lambda pairs: np.full(len(pairs), np.nan), *how) is None
    comb = lambda pairs: -0.5 * (pairs**2).sum(axis=1) + 3 * np.sin(200 * pairs[:, 1])
    assert plane_of(comb, *how) is None
