"""Samplers that are planned, rows, settings and digests of draws."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pandas as pd

from sgmc.fit import plan as planning
from sgmc.fit.tolerance import Noise
from sgmc.registry import room

STOCHASTIC = [
    cls()
    for _, cls in sorted(room("samplers").items())
    if cls().minibatches and not cls.continuous and not cls.probabilities
]


WHITENED = SimpleNamespace(max_precision=1.0, min_precision=1.0, whitened=True, scaled=True)


def frame(n=400, seed=0, shift=0.0):
    """Rows with outcome y and predictors a, b."""
    rng = np.random.default_rng([seed, n])
    df = pd.DataFrame(rng.normal(shift, 1, (n, 2)), columns=["a", "b"])
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - df.a + 0.5 * df.b))).astype(int))


def draws_of(results):
    """A digest of every bit of the draws."""
    return hashlib.sha256(np.ascontiguousarray(results.draws).tobytes()).hexdigest()


def settings(**given):
    """What `plan` reads of a fit's settings."""
    return SimpleNamespace(
        **{
            **dict(
                batch_size=None,
                adaptive=False,
                step_size=None,
                thin=None,
                warmup=None,
                sampler=None,
                subsample="block",
            ),
            **given,
        }
    )


def planned(spec, one_row, n=100_000, d=3, **given):
    """The plan of that sampler for gradient noise V1 = one_row."""
    return planning.plan(
        spec,
        "cv",
        "",
        settings(sampler=spec, **given),
        Noise(one_row, 0),
        (n, d),
        WHITENED,
    )
