"""A linear regression with a known sigma, whose posterior is normal in closed form."""

from functools import cache

import numpy as np
import pandas as pd

import sgmc

SIGMA, SDS = 0.8, np.array([2.0, 0.5, 0.5])
PRIOR = {
    "Intercept": sgmc.normal(0, SDS[0]),
    "x": sgmc.normal(0, SDS[1]),
    "z": sgmc.normal(0, SDS[2]),
}
FORMULA = "y ~ x + z"


@cache
def frame(n=60, seed=3):
    """Rows, one of them far out."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(1, 1, size=n)})
    df["y"] = 0.4 + 0.9 * df.x + SIGMA * rng.normal(size=n)
    df["g"] = np.repeat(np.arange(n // 5), 5)
    df.loc[7, ["x", "y"]] = 4.5, -1.0
    return df


@cache
def fitted(draws=4000, **how):
    """The fit, by independent draws."""
    return sgmc.ols(
        FORMULA, frame(), sigma=SIGMA, prior=PRIOR, seed=1, sampler="laplace", draws=draws, **how
    )


def design(df=None):
    """Columns of the design."""
    df = frame() if df is None else df
    return np.column_stack([np.ones(len(df)), df.x, df.z])


def posterior(weights=None, prior_power=1.0, power=1.0, sds=SDS):
    """Mean and covariance, with weights of the rows, and powers of prior and likelihood."""
    X, y = design(), frame().y.to_numpy()
    w = np.ones(len(y)) if weights is None else weights
    precision = power * (X.T * w) @ X / SIGMA**2 + prior_power * np.diag(sds**-2.0)
    covariance = np.linalg.inv(precision)
    return covariance @ (power * X.T @ (w * y) / SIGMA**2), covariance


def predictive(rows, weights):
    """Mean and sd of outcomes of some rows, from a posterior with weights."""
    mean, covariance = posterior(weights)
    X = design()[rows]
    return X @ mean, np.sqrt(SIGMA**2 + np.einsum("ij,jk,ik->i", X, covariance, X))
