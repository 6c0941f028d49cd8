"""Tables whose posteriors are known from long exact runs."""

from functools import cache

import numpy as np
import pandas as pd

import sgmc
from sgmc.api import verbs

# ---- data ----------------------------------------------------------------------------------------


def predictors(n, d, seed, law="normal"):
    """A frame of d columns x0, x1, ... and a stream."""
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "t": lambda: rng.standard_t(3, size=(n, d)),
        "rare": lambda: (rng.random((n, d)) < 0.01).astype(float),
        "correlated": lambda: (
            rng.normal(size=(n, d))
            @ np.linalg.cholesky(0.9 ** np.abs(np.subtract.outer(range(d), range(d)))).T
        ),
    }[law]()
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), rng


def binary(n, d, seed, law="normal", scale=1.0, constant=0.0):
    """Outcomes of a logit."""
    frame, rng = predictors(n, d, seed, law)
    eta = constant + frame.to_numpy() @ (scale * rng.normal(size=d) / np.sqrt(d))
    return frame.assign(y=(rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int))


def separated():
    """A predictor that is positive in successes alone."""
    frame = binary(200, 3, 5)
    return frame.assign(x0=np.where(frame.y == 1, np.abs(frame.x0), 0.0))


def outcome(frame_and_stream, draw):
    """Outcomes by a function of frame and stream."""
    frame, rng = frame_and_stream
    return frame.assign(y=draw(frame, rng))


def times(n, seed, scale):
    """Times of a Weibull law, censored on the right at exponential times with that mean."""
    frame, rng = predictors(n, 2, seed)
    time, end = np.exp(0.5 * frame.x0) * rng.weibull(1.5, n), scale * rng.exponential(size=n)
    return frame.assign(y=sgmc.Surv(np.minimum(time, end), time <= end))


# name: verb, table, prior
DATA = {
    "large": ("logit", lambda: binary(50_000, 8, 0), None),
    "correlated": ("logit", lambda: binary(5000, 20, 3, "correlated"), None),
    "rare": ("logit", lambda: binary(3000, 4, 6, "rare", constant=-4.0), None),
    "small": ("logit", lambda: binary(60, 3, 1, scale=2.0), None),
    "tiny": ("logit", lambda: binary(12, 2, 4), None),
    "tiny, flat": ("logit", lambda: binary(12, 2, 4), sgmc.normal(0, 100)),
    "separated": ("logit", separated, None),
    "heavy": ("logit", lambda: binary(300, 4, 7, "t", scale=3.0), sgmc.laplace(0.3)),
    "counts": (
        "poisson",
        lambda: outcome(
            predictors(80, 3, 8), lambda f, rng: rng.poisson(np.exp(-1.5 + 0.5 * f.x0))
        ),
        None,
    ),
    "errors": (
        "ols",
        lambda: outcome(predictors(15, 3, 9), lambda f, rng: f.x0 + rng.normal(size=15)),
        None,
    ),
    "dispersed": (
        "negativebinomial",
        lambda: outcome(predictors(60, 3, 10), lambda f, rng: rng.negative_binomial(1, 0.5, 60)),
        None,
    ),
    "outliers": (
        "rlm",
        lambda: outcome(predictors(40, 2, 12), lambda f, rng: 3 * f.x0 + rng.standard_t(1.5, 40)),
        None,
    ),
    "three kinds": (
        "mnlogit",
        lambda: outcome(
            predictors(400, 3, 13), lambda f, rng: rng.integers(0, 3, 400) + (f.x0 > 1)
        ),
        None,
    ),
    "shares": (
        "beta",
        lambda: outcome(
            predictors(50, 2, 14),
            lambda f, rng: rng.beta(*(1.5 / (1 + np.exp(s * (0.5 + f.x0))) for s in (1, -1))),
        ),
        None,
    ),
    "censored": ("survreg", lambda: times(45, 15, 2.0), None),
    "few events": ("survreg", lambda: times(60, 16, 0.4), None),
    "horseshoe": ("logit", lambda: binary(300, 4, 7, "t", scale=3.0), sgmc.horseshoe(0.5)),
    "cloglog": ("cloglog", lambda: binary(400, 4, 6, constant=-2.0), None),
}


@cache
def table(data):
    """A table, made once."""
    return DATA[data][1]()


@cache
def reference(data):
    """A long exact run; longer where a coefficient may be zero or far from it."""
    verb, _, prior = DATA[data]
    how = dict(sampler="hmc", draws=5000, thin=10 if data == "horseshoe" else 1, seed=11)
    return getattr(verbs, verb)("y ~ .", table(data), prior=prior, **how)
