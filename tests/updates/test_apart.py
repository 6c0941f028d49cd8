"""Monte Carlo errors of what two answers of an update differ by."""

import numpy as np
import pytest

from sgmc.models.regression.updated.weighed import Weighed


def test_errors_of_independent_draws():
    """Of a mean 1 / sqrt(n) sds, of an sd 1 / sqrt(2 n) of it; the other's add in squares."""
    draws = np.random.default_rng(2).normal(2.0, 3.0, size=(4, 2000, 5))
    zero = np.zeros(5)
    known = Weighed(0.1, np.full(5, 2.0), np.full(5, 3.0), zero, zero)
    apart, errors = known.apart(draws, None)
    n = draws[..., 0].size
    np.testing.assert_allclose(errors[0], 1 / np.sqrt(n), rtol=0.1)
    np.testing.assert_allclose(errors[1], 1 / np.sqrt(2 * n), rtol=0.1)
    assert np.abs(apart / errors).max() < 4
    other = Weighed(0.1, np.full(5, 2.0), np.full(5, 3.0), zero + 0.3, zero + 0.6)
    _, wider = other.apart(draws, None)
    sd = draws.std(axis=(0, 1))
    np.testing.assert_allclose(wider[0] ** 2 - errors[0] ** 2, (0.3 / sd) ** 2, rtol=1e-6)
    np.testing.assert_allclose(wider[1] ** 2 - errors[1] ** 2, (0.6 / sd) ** 2, rtol=1e-6)
    assert known.usable and not Weighed(0.6, zero, zero, zero, zero).usable
    assert pytest.approx(apart[0] * sd) == draws.mean(axis=(0, 1)) - 2.0
