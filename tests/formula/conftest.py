"""Small tables: one with columns of each kind, one with groups."""

import numpy as np
import pandas as pd
import pytest

from .designs import N


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, N),
            "x1": rng.normal(size=N),
            "x2": rng.uniform(1, 2, N),
            "g": rng.choice(["a", "b", "c"], N),
            "flag": rng.random(N) > 0.5,
            "my var": rng.normal(size=N),
        }
    )


@pytest.fixture
def grouped(rng):
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, N),
            "x": rng.normal(size=N),
            "z": rng.choice(["u", "v", "w"], N),
            "g": rng.choice(list("dcab"), N),
            "h": rng.integers(0, 3, N),
            "my g": rng.integers(0, 5, N),
        }
    )
