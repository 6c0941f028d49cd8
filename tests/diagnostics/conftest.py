"""Draws, scores and weights of a Gaussian."""

import numpy as np
import pytest


@pytest.fixture
def sample():
    """Points off their target, more than one tile of 128,
    with unequal weights of which some are zero.
    """
    rng = np.random.default_rng(1)
    x, w = rng.normal(0.2, 1.2, (300, 3)), rng.gamma(1.0, size=300)
    w[::17] = 0
    return x, rng.normal(size=(300, 3)) - x, w
