"""Small fits whose figures are looked at: coefficients of very different sizes, long names, many
coefficients, groups, a smooth, outcomes of several kinds.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import SGMCWarning

N, LONG = 200, "total_household_income_after_taxes_and_transfers"


def random():
    return np.random.default_rng(5)


def fitted(verb, formula, data, draws=200, **how):
    """A fit that is too short to be trusted, which figures do not mind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return getattr(sgmc, verb)(formula, data, seed=1, draws=draws, progress=False, **how)


@pytest.fixture(autouse=True)
def agg(plt):
    """All figures without a display, closed afterwards."""
    return plt


@pytest.fixture(scope="session")
def people():
    """Rows with numbers of very different sizes."""
    rng = random()
    df = pd.DataFrame(
        {
            "age": rng.normal(50, 10, N),
            "income": rng.normal(5e4, 9e3, N),
            "smoker": rng.integers(0, 2, N),
            "site": rng.integers(0, 8, N),
            LONG: rng.normal(3e4, 1e4, N),
            "region": rng.choice(["north", "south", "the capital and its suburbs"], N),
        }
    )
    p = 1 / (1 + np.exp(-(df.age - 50) / 10 - 0.6 * df.smoker))
    df["churn"] = np.where(rng.random(N) < p, "Yes", "No")
    df["visits"] = rng.poisson(np.exp(0.02 * df.age - 0.2 * df.smoker))
    df["weight"] = 20 + 0.3 * df.age + rng.normal(size=N)
    df["vote"] = rng.choice(["left", "middle", "right"], N)
    return df


@pytest.fixture(scope="session")
def churn(people):
    return fitted("logit", "churn ~ age + income + smoker", people)


@pytest.fixture(scope="session")
def visits(people):
    return fitted("poisson", f"visits ~ smoker + {LONG} + region", people)


@pytest.fixture(scope="session")
def weight(people):
    return fitted("ols", "weight ~ age + smoker", people)
