"""The search for modes accepts steps that lead up, ends near the mode, and reports its status."""

from typing import NamedTuple

import numpy as np
import pytest

from sgmc.coordinates.approximations.newton import (
    LONGEST_CHANGE,
    MarginalTarget,
    Target,
    find_marginal_mode,
    find_mode,
    limit_step,
)
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import DataError


class Place(NamedTuple):
    """What the densities of this file tell of a place."""

    value: float
    slope: np.ndarray
    precision: np.ndarray


class Cosh(Target):
    """-sum log cosh(theta - 3): concave, and so flat far off that Newton's steps overshoot."""

    tolerance = 1e-8

    def __init__(self):
        self.places = []

    def evaluate(self, theta, distance):
        """See `Target`."""
        self.places.append(theta.copy())
        z = theta - 3
        log = np.logaddexp(z, -z)
        return Place(-log.sum(), -np.tanh(z), np.diag(1 / np.cosh(z) ** 2))

    def step(self, theta, here):
        """See `Target`."""
        step = np.linalg.solve(here.precision, here.slope)
        return step, float(np.sqrt(here.slope @ step))


def test_steps_that_overshoot_are_halved_until_they_lead_up():
    target = Cosh()
    found = find_mode(target, np.array([0.5, 5.0]))
    assert found.status == "found" and found.distance < target.tolerance
    np.testing.assert_allclose(found.theta, 3, atol=1e-8)
    np.testing.assert_allclose(found.ahead, found.theta, atol=1e-8)
    first, full, half = target.places[:3]  # cosh^2 sinh-like first steps go far beyond the mode
    np.testing.assert_allclose(half - first, (full - first) / 2)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_is_a_number_of_evaluations(limit):
    target = Cosh()
    found = find_mode(target, np.array([2.8, 3.2]), limit)
    assert found.status == "limit" and len(target.places) == limit
    # a step is left, which has not been looked at
    np.testing.assert_array_equal(found.theta, target.places[-1])
    assert np.abs(found.ahead - 3).max() < np.abs(found.theta - 3).max()


class Wall(Cosh):
    """The same, of which nothing is known below 2 and above 2.5."""

    def evaluate(self, theta, distance):
        """See `Target`."""
        here = super().evaluate(theta, distance)
        return here if ((theta > 2) & (theta < 2.5)).all() else here._replace(value=np.nan)


def test_it_ends_where_no_fraction_of_a_step_leads_up():
    """At a cliff: the last place before it, which is not called the mode."""
    found = find_mode(Wall(), np.array([2.4]), 10_000)
    assert found.status == "stuck" and 2.4 <= found.theta[0] < 2.5
    np.testing.assert_array_equal(found.ahead, found.theta)
    assert found.distance > 0.1


def test_it_begins_elsewhere_or_says_why_not():
    with pytest.raises(DataError, match="not finite where the search for the mode begins"):
        find_mode(Wall(), np.array([0.0]))

    class Again(Wall):
        """With another place to begin."""

        to = 2.2

        def restart(self, theta):
            """See `Target`."""
            return np.array([self.to])

    assert find_mode(Again(), np.array([0.0])).theta[0] >= 2.2
    target = Again()
    target.to = 1.0  # no better
    with pytest.raises(DataError, match="not finite where the search for the mode begins"):
        find_mode(target, np.array([0.0]))


def test_time_that_is_up_leaves_what_was_reached():
    class Slow(Cosh):
        """Of three evaluations."""

        def evaluate(self, theta, distance):
            """See `Target`."""
            if len(self.places) == 3:
                raise OutOfTime
            return super().evaluate(theta, distance)

    with pytest.raises(OutOfTime) as up:
        find_mode(Slow(), np.array([2.8]))
    assert up.value.reached.distance < 0.01 and up.value.reached.status == "limit"
    at_once = Slow()
    at_once.places = [None] * 3
    with pytest.raises(OutOfTime) as up:
        find_mode(at_once, np.array([2.8]))
    assert up.value.reached is None


class Rounded(Cosh):
    """Values that are rounded as sums in float32 are."""

    def evaluate(self, theta, distance):
        """See `Target`."""
        here = super().evaluate(theta, distance)
        noise = 1e-6 * np.sin(1e9 * theta[0])
        return here._replace(value=here.value + noise)


def test_short_steps_are_not_judged_by_values_that_rounding_decides():
    for start in np.linspace(2.9, 3.1, 40):
        found = find_mode(Rounded(), np.array([start]))
        assert found.status == "found" and abs(found.theta[0] - 3) < 1e-7


class Sigma(MarginalTarget):
    """u = log sigma of n normal outcomes with d coefficients, integrated out: e^2u = SSR / (n - d).

    At the joint mode it is SSR / n.
    """

    tolerance = 1e-9

    def __init__(self, X, y):
        self.X, self.y, self.settled = X, y, 0

    def settle(self, psi, last):
        """See `MarginalTarget`."""
        self.settled += 1
        return np.linalg.lstsq(self.X, self.y, rcond=None)[0]

    def move(self, psi, beta):
        """See `MarginalTarget`."""
        n, d = self.X.shape
        square = np.sum((self.y - self.X @ beta) ** 2) * np.exp(-2 * psi[0])
        slope, curvature = square - n + d, 2 * square
        step = np.array([slope / curvature])
        return psi + limit_step(step), abs(slope) / np.sqrt(curvature)


def test_the_marginal_mode_counts_the_coefficients():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    target = Sigma(X, y)
    found = find_marginal_mode(target, np.array([3.0]))
    square = np.sum((y - X @ found.given) ** 2)
    np.testing.assert_allclose(np.exp(2 * found.psi[0]), square / 28, rtol=1e-9)
    assert found.distance < target.tolerance
    target = Sigma(X, y)
    short = find_marginal_mode(target, np.array([3.0]), limit=2)
    assert target.settled == 2 and short.distance > 0.1
    assert abs(short.ahead - short.psi) <= LONGEST_CHANGE


def test_no_number_of_psi_moves_far_in_a_step():
    np.testing.assert_array_equal(limit_step(np.array([0.5, -1.0])), [0.5, -1.0])
    np.testing.assert_allclose(limit_step(np.array([2.0, -4.0])), [0.5, -1.0])
