"""Posteriors whose means are known, and how far fits to an accuracy are from them."""

from functools import cache

import numpy as np
import pandas as pd
from scipy import signal, special, stats

import sgmc
from sgmc.fit import stopping

rng = np.random.default_rng(20)
X = rng.normal(size=(400, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    y=X @ [1.0, -0.5, 0.2] + rng.normal(size=400),
    z=(rng.random(400) < special.expit(X @ [1.0, -0.5, 0.2])).astype(int),
)
ACCURACY = 0.075  # 4 chains of 500 independent draws have half of what it takes, 1000 suffice


def fit(family="ols", seed=1, **how):
    """A fit of the frame to an accuracy, with flat priors."""
    outcome = "y" if family == "ols" else "z"
    how = {"accuracy": ACCURACY, "prior": "flat", **how}
    return getattr(sgmc, family)(f"{outcome} ~ a + b + c", FRAME, seed=seed, **how)


@cache
def truth(family):
    """Means and sds: of a linear regression with flat priors in closed form (sigma^2 is inverse
    gamma, the coefficients given it are normal), of a logistic one by a long exact run, whose own
    error is a tenth of ACCURACY.
    """
    if family != "ols":
        long = fit(family, 99, sampler="mala", accuracy=None, draws=40_000)
        return long.draws.mean(axis=(0, 1)), long.draws.std(axis=(0, 1))
    design, y = np.column_stack([np.ones(len(X)), X]), FRAME.y.to_numpy()
    coefficients, (ssr,) = np.linalg.lstsq(design, y, rcond=None)[:2]
    shape = (len(y) - 5) / 2
    variance = stats.invgamma(shape, scale=ssr / 2)
    sigma = np.sqrt(ssr / 2) * np.exp(special.gammaln(shape - 0.5) - special.gammaln(shape))
    sd = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * variance.mean())
    return np.append(coefficients, sigma), np.append(sd, np.sqrt(variance.mean() - sigma**2))


def errors(results, family):
    """Errors of the means in posterior sds."""
    mean, sd = truth(family)
    return (results.draws.mean(axis=(0, 1)) - mean) / sd


def autoregressive(seed, length, correlation, p=3, chains=4):
    """Stationary chains of standard normals, (chain, draw, p)."""
    noise = np.random.default_rng(seed).normal(size=(chains, length, p))
    noise[:, 1:] *= np.sqrt(1 - correlation**2)
    return signal.lfilter([1.0], [1.0, -correlation], noise, axis=1)


def stopped(draws, accuracy):
    """The mean of chains, stopped by the rule of fits at one of its looks."""
    for length in stopping.looks(draws.shape[1]):
        part = draws[:, :length]
        if stopping.error_bound(part) <= accuracy:
            return part.mean(axis=(0, 1)), length
    return part.mean(axis=(0, 1)), length
