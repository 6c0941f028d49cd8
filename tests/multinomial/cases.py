"""The election study and its reference, labels of three kinds, and their fits."""

from functools import cache

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import special, stats

import sgmc
from tests.prior_scales import prior_scales

FORMULA = "PID ~ logpopul + selfLR + age + educ + income"


PRIORS = ["default", "flat"]


@cache
def anes96():
    """The American National Election Study of 1996, shipped with statsmodels:
    seven kinds, 944 rows.
    """
    data = sm.datasets.anes96.load_pandas().data
    return data.assign(PID=data.PID.astype(int))


@cache
def fitted(prior):
    """Defaults only."""
    return sgmc.mnlogit(FORMULA, anes96(), seed=1, **({"prior": "flat"} if prior == "flat" else {}))


def log_posterior(B, X, y, prior):
    """Of coefficients (draw, equation, column)."""
    eta = np.concatenate([np.zeros((len(B), 1, len(y))), B @ X.T], axis=1)
    value = (eta[:, y, np.arange(len(y))] - special.logsumexp(eta, axis=1)).sum(axis=1)
    if prior == "flat":
        return value
    slopes = B[:, :, 1:] * prior_scales(X[:, 1:]) / 2.5
    return (
        value
        - 0.5 * (slopes**2).sum(axis=(1, 2))
        - 0.5 * ((B @ X.mean(axis=0) / 2.5) ** 2).sum(axis=1)
    )


@cache
def reference(prior, draws=20_000):
    """Means and sds by importance sampling from a t with 30 degrees of freedom at statsmodels'
    estimate; the effective size.
    """
    data = anes96()
    X, y = fitted(prior).model.spec.matrix(data), data.PID.to_numpy()
    estimate = sm.MNLogit(y, X).fit(disp=0)
    size = estimate.params.size
    centre = np.asarray(estimate.params).T.ravel()
    root = np.linalg.cholesky(np.asarray(estimate.cov_params()))
    law = stats.multivariate_t(shape=np.eye(size), df=30, seed=5)
    for _ in range(3):  # centre and spread of the draws themselves, twice
        z = law.rvs(draws)
        theta = centre + z @ root.T
        at = np.concatenate(
            [
                log_posterior(part.reshape(len(part), -1, X.shape[1]), X, y, prior)
                for part in np.array_split(theta, 40)
            ]
        )
        w = special.softmax(at - law.logpdf(z))
        mean = w @ theta
        centre, root = mean, np.linalg.cholesky((theta - mean).T @ (w[:, None] * (theta - mean)))
    return mean, np.sqrt(w @ (theta - mean) ** 2), 1 / (w**2).sum()


COUNT = 300


CODES = np.random.default_rng(2).integers(0, 3, COUNT)


WORDS = np.array(["red", "blue", "green"])[CODES]


ORDER = ["red", "green", "blue"]


FRAME = pd.DataFrame(
    {
        "x": np.random.default_rng(1).normal(size=COUNT).round(2),
        "kind": WORDS,
        "code": CODES,
        "w": np.random.default_rng(3).integers(1, 4, COUNT),
        "g": np.arange(COUNT) % 3,
    }
)


def in_equations(results):
    """Draws and names of a fit, equation by equation, without the names of its levels."""
    return results.draws, [name.split(":", 1)[1] for name in results.names]


@cache
def coded(order):
    """A fit of numbers in the place of labels whose levels are in this order of codes."""
    return sgmc.mnlogit("code ~ x", FRAME.assign(code=np.argsort(order)[CODES]), seed=1, draws=500)


@cache
def of_words():
    """A fit of the words."""
    return sgmc.mnlogit("kind ~ x", FRAME, seed=1, draws=500)
