"""Centre and size of tables, by parts of it."""

import numpy as np
import pytest

from sgmc.models.bases import scaling


@pytest.mark.parametrize("numbers", [7, 10**6])
def test_moments_are_those_of_the_whole_table(numbers, monkeypatch):
    monkeypatch.setattr(scaling, "SCALED_NUMBERS", numbers)
    X = np.random.default_rng(2).gamma(2.0, size=(23, 3)) * [1.0, 5.0, 0.1] + [0.0, 9.0, 1.0]
    centre, unit = scaling.centre_and_unit(X, "columns")
    np.testing.assert_allclose(centre, X.mean(axis=0))
    np.testing.assert_allclose(unit, 1 / X.std(axis=0))
    centre, unit = scaling.centre_and_unit(X, "table")
    np.testing.assert_allclose(centre, X.mean())
    np.testing.assert_allclose(unit, 1 / X.std())
    np.testing.assert_array_equal(scaling.centre_and_unit(X, None), [np.zeros(3), np.ones(3)])
    X[:, 1] = 4.0
    assert scaling.centre_and_unit(X, "columns")[1][1] == 1
