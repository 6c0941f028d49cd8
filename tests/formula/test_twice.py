"""A factor's coefficients and effects of its levels are refused by name before a fit."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError

RNG = 5
TWICE = {  # formula: the terms as the message has them
    "y ~ C(a) + (1 | a)": r"C\(a\) and \(1 \| a\)",
    "y ~ x + name + (x | a)": r"name and \(x \| a\)",
    "y ~ 0 + name + (1 | a)": r"name and \(1 \| a\)",
    "y ~ x + name:x + (0 + x | a)": r"name:x and \(0 \+ x \| a\)",
    "y ~ C(a) * C(b) + (1 | a:b)": r"C\(a\):C\(b\) and \(1 \| a:b\)",
    "y ~ C(b) + (1 | a) + (1 | b)": r"C\(b\) and \(1 \| b\)",
    "y ~ C(a) + s(x) + (1 | a)": r"C\(a\) and \(1 \| a\)",
}
APART = ["y ~ half + (1 | a)", "y ~ a + (1 | a)", "y ~ name + (0 + x | a)", "y ~ C(b) + (1 | a/b)"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(RNG)
    a, b = rng.integers(1, 7, 200), rng.integers(1, 4, 200)
    half = np.where(a > 3, "upper", "lower")
    name = np.array([f"level {k}" for k in a])
    x, y = rng.normal(size=(2, 200))
    return pd.DataFrame(dict(a=a, b=b, half=half, name=name, x=x, y=y))


@pytest.mark.parametrize("formula", TWICE)
def test_columns_that_stand_twice_are_refused(formula, frame):
    with pytest.raises(FormulaError, match=f"{TWICE[formula]} are the same columns"):
        sgmc.OLS.from_formula(formula, frame)


@pytest.mark.parametrize("formula", APART)
def test_factors_that_are_not_the_groups_stay(formula, frame):
    assert sgmc.OLS.from_formula(formula, frame).grouping is not None
