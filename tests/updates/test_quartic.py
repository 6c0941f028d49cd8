"""What expansions of earlier rows leave out, of densities that are polynomials."""

import numpy as np
import pytest

from sgmc.models.regression.updated import taylor

PLACE, A = np.array([0.5, -1.0]), np.array([[2.0, 0.0], [1.0, 0.5]])
CUBIC, QUARTIC = np.array([0.7, -0.4]), np.array([1.2, 0.3])


def gradient(z):
    """Of the log density sum_j -z_j^2 / 2 + c_j z_j^3 / 6 - f_j z_j^4 / 24."""
    return -z + CUBIC * z**2 / 2 - QUARTIC * z**3 / 6


def precision(z):
    """Minus its second derivatives."""
    return np.diag(1 - CUBIC * z + QUARTIC * z**2 / 2)


@pytest.fixture
def made():
    """The expansion around z = 0."""
    third, fourth = taylor.curves(precision, 2)
    inverse = np.linalg.inv(A)
    return taylor.ExpandedRows(PLACE, np.zeros(2), inverse.T @ inverse, A, third, fourth, 10)


def test_derivatives_by_differences():
    third, fourth = taylor.curves(precision, 2)
    wanted = np.zeros((2, 2, 2))
    wanted[[0, 1], [0, 1], [0, 1]] = CUBIC
    np.testing.assert_allclose(third, wanted, atol=1e-12)
    for j in range(2):
        wanted = np.zeros((2, 2))
        wanted[j, j] = -QUARTIC[j]
        np.testing.assert_allclose(fourth[j], wanted, atol=1e-9)


def test_the_expansion_and_what_it_neglects(made):
    """The cubic terms are in it; of the quartic ones the size is told, CROSSED times."""
    z, inverse = np.array([0.3, -0.8]), np.linalg.inv(A)
    found, curved = made.expansion(PLACE + A @ z)
    off = A.T @ found - gradient(z), A.T @ curved @ A - precision(z)
    np.testing.assert_allclose(off[0], QUARTIC * z**3 / 6, atol=1e-12)
    np.testing.assert_allclose(off[1], -np.diag(QUARTIC * z**2 / 2), atol=1e-12)
    told = made.neglected(PLACE + A @ z)
    np.testing.assert_allclose(A.T @ told[0], -taylor.CROSSED * off[0], atol=1e-9)
    np.testing.assert_allclose(A.T @ told[1] @ A, taylor.CROSSED * off[1], atol=1e-9)
    assert np.abs(inverse).max() < 3


def test_means_over_a_normal_law(made):
    """Of the gradient c var / 2, of the precision f var / 2, with variances in z."""
    variance = np.array([0.5, 0.2])
    covariance = A @ np.diag(variance) @ A.T
    np.testing.assert_allclose(A.T @ made.average(covariance), CUBIC * variance / 2)
    around = A.T @ made.around(covariance) @ A
    np.testing.assert_allclose(around, np.diag(QUARTIC * variance / 2), atol=1e-9)
