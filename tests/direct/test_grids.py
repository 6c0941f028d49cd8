"""Draws of a few numbers by a table of their log density."""

import numpy as np
import pytest
from scipy import stats

from sgmc.coordinates.independent import grid
from sgmc.coordinates.independent.grid import grid_of


def beside(density):
    """A density of points (n, k), of first numbers and several last ones beside each."""

    def found(first, last):
        points = np.concatenate([np.repeat(first, last.shape[1], 0), last.reshape(-1, 1)], axis=1)
        return density(points).reshape(last.shape)

    return found


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
    """Also where its scale is known badly: a Kolmogorov-Smirnov test of 20,000 pairs, and no
    correlation of what is left.
    """
    density, centre, covariance = CASES[name]
    found = grid_of(beside(density), np.array(centre), scale * np.array(covariance))
    pairs = found(np.random.default_rng(1).normal(size=(20_000, 2)))
    first, second = uniform(pairs, name)
    assert stats.kstest(first, "uniform").pvalue > 1e-3
    assert stats.kstest(second, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(20_000)


def test_tables_are_made_finer_where_they_are_not_right():
    """Waves that are short beside the first nodes, and long beside the last."""

    def waves(pairs):
        a, b = pairs.T
        return -0.5 * ((a - 3) ** 2 + b**2) + 0.3 * np.sin(6 * a)

    found = grid_of(beside(waves), np.array([3.0, 0.0]), np.eye(2))
    assert max(found.sizes) > grid.FIRST_NODES[2]
    pairs = found(np.random.default_rng(1).normal(size=(1000, 2)))
    assert (
        np.ptp(waves(pairs) - found.log_density(pairs)) < 4 * grid.NATS_OFF
    )  # farther out than those looked at


def test_what_has_no_table():
    """Tails that do not end, and a density that is nowhere finite."""
    how = np.array([1.0, 0.0]), np.eye(2)
    assert grid_of(beside(lambda pairs: -1e-9 * np.abs(pairs[:, 1])), *how) is None
    assert grid_of(beside(lambda pairs: np.full(len(pairs), np.nan)), *how) is None
    comb = lambda pairs: -0.5 * (pairs**2).sum(axis=1) + 3 * np.sin(200 * pairs[:, 1])
    assert grid_of(beside(comb), *how) is None


# ---- three and four numbers ----------------------------------------------------------------------

LAWS = stats.truncnorm(-0.5, np.inf, 0.5, 1), stats.truncnorm(-2, np.inf, 1, 0.5)


def several(points):
    """Numbers above zero, the last with a mean and a width that depend on them."""
    last = points[:, -1] - 0.3 * points[:, :-1].sum(axis=1) - 0.02 * points[:, 0] ** 2
    width = 0.2 + 0.05 * np.tanh(points[:, 0])
    value = stats.norm.logpdf(last, 0, width)
    for j in range(points.shape[1] - 1):
        value = value + LAWS[j % 2].logpdf(points[:, j])
    return value


@pytest.mark.parametrize("count", [3, 4])
def test_draws_of_more_numbers_have_the_density(count):
    centre = np.append(np.resize([0.5, 1.0], count - 1), 1.0)
    found = grid_of(beside(several), centre, np.diag([0.5] * (count - 1) + [0.1]))
    draws = found(np.random.default_rng(2).normal(size=(20_000, count)))
    shares = [LAWS[j % 2].cdf(draws[:, j]) for j in range(count - 1)]
    last = draws[:, -1] - 0.3 * draws[:, :-1].sum(axis=1) - 0.02 * draws[:, 0] ** 2
    shares.append(stats.norm.cdf(last / (0.2 + 0.05 * np.tanh(draws[:, 0]))))
    assert all(stats.kstest(one, "uniform").pvalue > 1e-3 for one in shares)
    off = np.corrcoef(shares) - np.eye(count)
    assert np.abs(off).max() < 4 / np.sqrt(len(draws))
    # planted: the last number as if the others did not matter
    assert stats.kstest(stats.norm.cdf(draws[:, -1], 1, 0.2), "uniform").pvalue < 1e-3


def test_axes_that_are_rough_are_made_finer():
    waves = lambda x: -0.5 * ((x - 3) ** 2).sum(axis=1) + 0.2 * np.sin(5 * x[:, 1])
    found = grid_of(beside(waves), np.full(3, 3.0), np.eye(3))
    assert found.sizes[1] > found.sizes[0] and found.sizes[1] > found.sizes[2]


def test_a_table_that_would_take_too_many_points_is_none():
    how = np.array([0.5, 1.0, 1.0]), np.diag([0.5, 0.5, 0.1])
    assert grid_of(beside(several), *how, most=100) is None
