"""The curvature that a search has learned from its path, and searches that find no Gaussian."""

import numpy as np
import pytest

from sgmc.coordinates.approximations.laplace import gaussian_at_mode, learned
from sgmc.errors import DataError

A = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])


def path(steps):
    """(place, slope of minus the log density) along steps, of a normal law of precision A."""
    places = np.cumsum(np.concatenate([np.zeros((1, 3)), steps]), axis=0)
    return [(place, A @ place) for place in places]


def test_it_has_the_curvature_along_the_last_step():
    """The secant equation, of which matrices of BFGS are the solution."""
    steps = np.random.default_rng(1).normal(size=(5, 3))
    found = learned(path(steps), 3)
    np.testing.assert_allclose(found @ steps[-1], A @ steps[-1], rtol=1e-9)
    np.testing.assert_allclose(found, found.T, atol=1e-9)
    assert np.linalg.eigvalsh(found)[0] > 0


def test_conjugate_steps_find_the_whole_matrix():
    """Steps along the axes of A: each update is exact, and stays."""
    steps = np.linalg.eigh(A)[1].T
    np.testing.assert_allclose(learned(path(steps), 3), A, atol=1e-9)


@pytest.mark.parametrize("steps", [np.zeros((0, 3)), np.zeros((2, 3))])
def test_no_step_tells_nothing(steps):
    np.testing.assert_array_equal(learned(path(steps), 3), np.eye(3))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_slopes_whose_squares_are_zero_tell_nothing():
    """Where time ended a search far down the flat of a funnel: a ValueError of scipy."""
    there = [(place, 1e-200 * slope) for place, slope in path(np.eye(3))]
    np.testing.assert_array_equal(learned(there, 3), np.eye(3))


def test_errors_of_a_density_are_not_taken_for_a_density_without_a_mode():
    def evaluate(u):
        raise DataError("the data are at fault")

    with pytest.raises(DataError, match="the data are at fault"):
        gaussian_at_mode(evaluate, lambda u: (u @ u, 2 * u), np.ones(2), 1e-3)


def test_a_density_that_is_no_number_at_its_mode_has_no_gaussian():
    def evaluate(u):
        return np.nan, np.full(2, np.nan)

    found, concerns = gaussian_at_mode(evaluate, lambda u: (u @ u, 2 * u), np.ones(2), 1e-3)
    assert found.precision is None and len(concerns) == 1
