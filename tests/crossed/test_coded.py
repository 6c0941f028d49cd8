"""Crossed effects beside factors of the fixed part that stay codes: the draws of the dense part."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.formula.designs import design


def table():
    """Outcomes of a number, a factor, and two crossed ones."""
    random, n = np.random.default_rng(0), 600
    frame = pd.DataFrame({"x": random.normal(size=n), "f": random.choice(list("abcd"), n)})
    frame["g"], frame["h"] = (random.integers(0, k, n).astype(str) for k in (12, 9))
    eta = -1 + 0.5 * frame.x + frame.f.map({"a": 0, "b": 1, "c": -1, "d": 0.5})
    return frame.assign(y=(random.random(n) < 1 / (1 + np.exp(-eta))).astype(int))


@pytest.mark.cover(0)
@pytest.mark.parametrize("fixed", ["x + f", "0 + x + f", "f + s(x, k=5)"])
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_draws_are_those_of_the_dense_design(fixed, monkeypatch):
    """At the same seed, to rounding: 20 draws in 2 chains, which do not drift apart by then."""
    how = dict(seed=1, draws=20, warmup=20, chains=2)
    found = []
    for columns in (design.CODED_COLUMNS, 1):
        monkeypatch.setattr(design, "CODED_COLUMNS", columns)
        found.append(sgmc.logit(f"y ~ {fixed} + (1 | g) + (1 | h)", table(), **how).draws)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-5)
