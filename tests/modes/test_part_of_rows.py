"""Expansions by the first rows stand for all of them: sums times the number of rows over theirs."""

import numpy as np
import pytest

from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, of_rows
from sgmc.models.regression.families.logit import BernoulliLogit

ROWS, SOME = 3000, 700


@pytest.mark.parametrize("expected", [False, True])
def test_sums_of_the_first_rows_times_their_share(expected):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(ROWS, 3)), rng.integers(0, 2, ROWS).astype(float)
    theta, p = np.array([0.2, -0.4, 0.7]), ROWS / SOME
    model = BernoulliLogit(design(X), y)
    value, gradient, hessian = expand(model, theta, SOME, expected=expected)
    wanted = of_rows(model, theta, slice(0, SOME))
    assert value == pytest.approx(p * wanted[0])
    np.testing.assert_allclose(gradient, p * wanted[1])
    mean = 1 / (1 + np.exp(-X[:SOME] @ theta))
    np.testing.assert_allclose(hessian, p * (X[:SOME].T * (mean * (1 - mean))) @ X[:SOME])
    whole = expand(model, theta)
    assert whole[0] == pytest.approx(of_rows(model, theta)[0]) and whole[0] != pytest.approx(value)
