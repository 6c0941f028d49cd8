"""Numbers that overflow where the search for the mode of a model with groups begins."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError


def test_densities_that_are_not_finite_are_refused_with_a_cure():
    """exp(-800) is zero: no count has a finite log density, wherever the search begins."""
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"x": rng.normal(size=60), "g": np.arange(60) % 6, "y": rng.poisson(3, 60)})
    with pytest.raises(DataError, match="rescale predictors, outcomes and offsets"):
        sgmc.poisson("y ~ x + (1 | g)", d, offset=np.full(60, -800.0), seed=1, draws=50)


def test_so_they_are_beside_smooths_and_crossed_factors():
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"x": rng.normal(size=60), "y": rng.random(60) < 0.5, "z": rng.random(60)})
    with pytest.raises(DataError, match="rescale predictors, outcomes and offsets"):
        sgmc.logit("y ~ s(z) + offset(9**9 * x)", d, seed=1, draws=50)
