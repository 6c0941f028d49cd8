"""Outcomes that are far from all others: errors tell of them, not of priors that are proper."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError


def test_a_search_that_does_not_arrive_is_not_an_improper_posterior():
    """Positive outcomes around 1, one of 1e8 and one of 1e-8: steps of the search go to and fro
    between them. The error was that a predictor had a flat prior; it has a normal one.
    """
    rng = np.random.default_rng(11)
    df = pd.DataFrame({"x": rng.normal(size=30)})
    df["y"] = np.exp(df.x + 0.3 * rng.normal(size=30))
    df.loc[[0, 1], "y"] = [1e8, 1e-8]
    with pytest.raises(DataError, match="did not arrive: outcomes far from all others may"):
        sgmc.inversegaussian("y ~ x", df, seed=1)
