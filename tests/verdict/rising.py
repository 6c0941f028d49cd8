"""Regressions with monotonic effects, known from long exact runs."""

from functools import cache

import numpy as np
import pandas as pd
from scipy import special

from sgmc.api import verbs

from .known import Known

# name: verb, effects of the levels, rows
RISING = {
    "monotonic, rising": ("ols", (0, 0.1, 0.8, 1.0), 200),
    "monotonic, nothing there": ("ols", (0, 0, 0, 0), 150),
    "monotonic, up and down": ("ols", (0, 0.6, 0, 0.3), 200),
    "monotonic of few outcomes": ("logit", (0, 0.5, 0.6, 1.0), 60),
    "monotonic of outcomes": ("logit", (0, 0.5, 0.6, 1.6), 600),
    "monotonic of counts, falling": ("poisson", (0, 0, -0.2, -0.6), 150),
    "monotonic beside groups": ("logit", (0, 0.1, 0.8, 1.0), 300),
}
RISING_WAYS = [
    {},
    {"sampler": "mala"},
    {"sampler": "hmc"},
    {"sampler": "imh"},
    {"sampler": "laplace"},
    {"sampler": "lmsgld"},
    {"sampler": "sgld", "step_size": 0.3},
    {"sampler": "mala", "draws": 60},
]


@cache
def frame_of(name):
    """A table, made once."""
    verb, effects, n = RISING[name]
    rng = np.random.default_rng([n, 7])
    frame = pd.DataFrame({"x": rng.integers(0, 4, n), "z": rng.normal(size=n)})
    frame["g"] = rng.integers(0, 12, n)
    eta = 0.3 * frame.z + np.array(effects)[frame.x] + 0.5 * rng.normal(size=12)[frame.g] - 0.4
    if verb == "ols":
        return frame.assign(y=eta + rng.normal(size=n))
    if verb == "poisson":
        return frame.assign(y=rng.poisson(np.exp(eta)))
    return frame.assign(y=(rng.random(n) < special.expit(eta)).astype(int))


def fit(name, **how):
    """The results."""
    groups = " + (1 | g)" if name.endswith("groups") else ""
    return getattr(verbs, RISING[name][0])(f"y ~ mo(x) + z{groups}", frame_of(name), **how)


@cache
def known(name):
    """Means, sds and quantiles of a long run."""
    return Known.of_long_run(fit(name, sampler="hmc", draws=10_000, seed=11))
