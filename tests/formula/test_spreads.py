"""What autoscaled priors are divided by: the sd of a column, and one of columns of 0 and 1."""

import numpy as np
import pytest
from scipy import sparse

from sgmc.formula.designs.spreads import of_array

X = np.array(
    [
        [0.0, 0.0, 2.0, 5.0],
        [1.0, 1.0, -1.0, 5.0],
        [1.0, 2.0, 0.5, 5.0],
        [0.0, 1.0, 0.0, 5.0],
        [7.0, 1.0, 1.0, 5.0],
    ]
)
SD = X.std(axis=0, ddof=1)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_numbers_are_divided_by_their_sd(form):
    """Also where some are 0 or 1; constants by one."""
    np.testing.assert_allclose(of_array(form(X))(SD), [SD[0], SD[1], SD[2], 1.0])
    np.testing.assert_allclose(of_array(form(X[:4]))(SD), [1.0, SD[1], SD[2], 1.0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_are_no_rows(form):
    """Without the last row the first column has nothing but 0 and 1."""
    weight = np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(of_array(form(X), weight)(SD), [1.0, SD[1], SD[2], 1.0])
    weight[-1] = 0.5
    np.testing.assert_allclose(of_array(form(X), weight)(SD), [SD[0], SD[1], SD[2], 1.0])
