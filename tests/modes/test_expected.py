"""Expectations over normal linear predictors, by which the nearest Gaussian is found, in closed
form: E exp(eta + sd z) = exp(eta + sd^2 / 2).
"""

import numpy as np
import pytest

from sgmc.core.designs.design import design
from sgmc.models.regression.families.poisson import PoissonLog

ROWS = 2500  # more than are computed together


@pytest.mark.parametrize("weighted", [False, True])
def test_expected_gradient_and_information_of_counts(weighted):
    rng = np.random.default_rng(1)
    X, theta = rng.normal(size=(ROWS, 3)) / 3, np.array([0.3, -0.5, 0.2])
    y, offset = rng.poisson(1.0, ROWS).astype(float), rng.normal(size=ROWS) / 4
    weight = rng.integers(0, 4, ROWS).astype(float) if weighted else None
    sds = np.linspace(0.0, 1.0, ROWS)
    nodes, shares = np.polynomial.hermite_e.hermegauss(20)
    model = PoissonLog(design(X), y, offset, weight)
    gradient, information = model.expected(theta, sds, nodes, shares / shares.sum())
    w = np.ones(ROWS) if weight is None else weight
    mean = np.exp(X @ theta + offset + sds**2 / 2)
    np.testing.assert_allclose(gradient, X.T @ (w * (y - mean)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(information, (X.T * (w * mean)) @ X, rtol=1e-9)
