"""Tables with a smooth, whose standard deviation is known on a grid: outcomes are normal with a
known sigma.  One has a curve, the other a line, whose smooth may have an sd of zero.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from sgmc.api import verbs

from ..splines.kernel import penalised_covariance
from .known import Known

SIGMA, KNOTS = 1.0, 8
CURVED = {"a curve": 1.5, "a line": 0.0}  # how far the curve goes to either side of a line
WAYS = (
    {},
    {"draws": 4000},
    {"sampler": "hmc"},
    {"sampler": "mala"},
    {"sampler": "rwm"},
    {"draws": 60},
    {"sampler": "mala", "step_size": 0.01, "draws": 300},
)


@cache
def frame_of(name):
    """A table, made once."""
    rng = np.random.default_rng(4)
    x = rng.uniform(size=200)
    y = x + CURVED[name] * np.sin(6 * x) + SIGMA * rng.normal(size=200)
    return pd.DataFrame({"x": x, "y": y})


def fit(name, sigma=SIGMA, **how):
    """The results."""
    return verbs.ols(f"y ~ s(x, k={KNOTS})", frame_of(name), sigma=sigma, **how)


@cache
def known(name):
    """Of the standard deviation: coefficients and the curve are integrated out in closed form,
    under the default priors.
    """
    x, y = frame_of(name)["x"].to_numpy(), frame_of(name)["y"].to_numpy()
    unit = y.std(ddof=1)
    X = np.column_stack([np.ones(len(x)), x - x.mean()]) * [1, 1 / x.std(ddof=1)]
    V, C = (2.5 * unit) ** 2 * X @ X.T, penalised_covariance(x, KNOTS)
    grid = np.linspace(1e-3, 40**0.5, 1500) ** 2
    value = np.empty(len(grid))
    for k, sd in enumerate(grid):
        values, vectors = np.linalg.eigh(V + sd**2 * C + SIGMA**2 * np.eye(len(x)))
        value[k] = -0.5 * (np.log(values) + (vectors.T @ (y - y.mean())) ** 2 / values).sum()
    value += stats.t.logpdf(grid / (2.5 * unit), 3)
    return Known.of_grid({"sd(s(x))": grid}, value, index=1 / (KNOTS - 2 + 3))
