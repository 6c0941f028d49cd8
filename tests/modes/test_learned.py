"""The curvature that a search has learned from its path, where the time does not allow for more."""

import numpy as np
import pytest

from sgmc.coordinates.laplace import learned

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
