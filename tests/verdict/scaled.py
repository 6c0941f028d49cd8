"""Tables for priors whose scale is learned, whose posteriors are known from long exact runs."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

import sgmc
from sgmc.api import verbs

from .known import Known


def logit(eta, rng):
    """Outcomes of 0 and 1."""
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def normal(eta, rng):
    """Normal outcomes."""
    return eta + rng.normal(size=len(eta))


WITHOUT_SD = {"r2d2": "tau2(r2d2)"}
HORSESHOE = sgmc.horseshoe(2, learned=True)
# name: verb, outcomes, prior, rows, columns, how many of which matter, and what they are
SCALED = {
    "ridge, learned": ("ols", normal, sgmc.ridge(), 80, 10, 10, 0.4),
    "ridge, nothing there": ("ols", normal, sgmc.ridge(), 60, 4, 0, 0.0),
    "ridge of few outcomes": ("logit", logit, sgmc.ridge(), 40, 12, 4, 0.8),
    "horseshoe, learned": ("ols", normal, HORSESHOE, 80, 12, 3, 0.8),
    "horseshoe, nothing there": ("logit", logit, HORSESHOE, 100, 8, 0, 0.0),
    "horseshoe of few outcomes": ("logit", logit, HORSESHOE, 60, 10, 2, 1.5),
    "r2d2": ("ols", normal, sgmc.r2d2(), 60, 8, 2, 0.8),
    "r2d2, more columns than rows": ("ols", normal, sgmc.r2d2(precision=8.0), 25, 30, 3, 1.5),
}
WAYS = [
    {},
    {"sampler": "mala"},
    {"sampler": "rwm"},
    {"draws": 60},
    {"sampler": "mala", "step_size": 0.01, "draws": 300},
]


@cache
def frame_of(name):
    """A table, made once."""
    _, outcomes, _, n, d, k, size = SCALED[name]
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=outcomes(X @ (size * (np.arange(d) < k)), rng))


def fit(name, **how):
    """The results."""
    verb, _, prior, *_ = SCALED[name]
    return getattr(verbs, verb)("y ~ .", frame_of(name), prior=prior, **how)


@cache
def reference(name):
    """A long exact run; independent draws where there are some."""
    verb, _, prior, *_ = SCALED[name]
    if verb == "ols" and prior.family == "ridge":
        return fit(name, draws=20_000, seed=11)
    return fit(name, draws=10_000, thin=4, seed=11)


def known(name):
    """Means, sds and quantiles of a long run; tau2 ~ 1 / Gamma(1, 1) under local variances of
    Gamma(a, 1), sum(a) = 1, has the tail index 1 / 2, and no sd.
    """
    found = Known.of_long_run(reference(name))
    return replace(found, sd=found.sd.mask(found.sd.index == WITHOUT_SD.get(name)))
