"""Gamma terms by a series where residuals are small, and by an exponential elsewhere."""

import numpy as np
import pytest

from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, of_rows
from sgmc.models.regression.families.gamma import GammaLog

# of log y + (-log y), rounded to 1e-16 of numbers up to 1, and of 13 terms and an exponential: each
# is within some units in the last place of a number that is at least the residual's square
TOLERANCE = 3e-14


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.2499, 0.2501, 1.0, 4.0])
@pytest.mark.parametrize("y", [0.7, 1.0, 3.2e4])
def test_terms_of_a_row(size, y):
    """a (d - exp(d) + 1) and its slopes, beside extended precision, on both sides of zero."""
    a = 2.5
    for d in (-size, size):
        model = GammaLog(design(np.ones((1, 1))), np.array([y]), np.array([np.log(y) - d]))
        model.rounding = 0.0
        theta = np.array([0.0, -np.log(a)])
        middle = np.array([d, -np.log(a)])  # where nothing is left of the residual
        value, slope = of_rows(model, theta)
        away = value - of_rows(model, middle)[0]
        exact = np.longdouble(np.log(y) - (np.log(y) - d))  # the residual as it is rounded
        more = np.expm1(exact) - exact
        near = dict(rtol=TOLERANCE, atol=TOLERANCE)
        np.testing.assert_allclose(away, float(-a * more), **near)
        np.testing.assert_allclose(slope[0], float(a * np.expm1(exact)), **near)
        curvature = expand(model, theta)[2]
        np.testing.assert_allclose(curvature[0, 0], float(a * np.exp(exact)), **near)
