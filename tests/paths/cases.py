"""Fits by samplers in continuous time, and their reference."""

import warnings

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import SGMCWarning
from sgmc.registry import room

N = 300


NAMES = [
    name
    for name, cls in sorted(room("samplers").items())
    if cls.continuous and cls.needs_bounds and not cls.sticky
]


rng = np.random.default_rng(12)


FRAME = pd.DataFrame(
    {
        "a": rng.normal(size=N),
        "b": rng.exponential(size=N),
        "w": rng.integers(1, 4, N),
        "off": rng.normal(size=N) / 4,
    }
)


FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(0.5 - FRAME.a + FRAME.off))).astype(int)


FRAME["count"] = rng.poisson(np.exp(0.3 * FRAME.a))


DRAWS = {"zzss": 60, "lipsbps": 60}  # their draws are far apart


def fit(sampler, draws=None, verb=sgmc.logit, formula="y ~ a + b", data=FRAME, **how):
    """A fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return verb(
            formula,
            data,
            **{"sampler": sampler, "draws": draws or DRAWS.get(sampler, 200), "seed": 3, **how},
        )


def reference(**how):
    """Many draws of the same posterior by mala."""
    return fit("mala", 4000, **how)
