"""Samplers that are planned, rows, settings and digests of draws."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pandas as pd

from sgmc.fit import plan as planning
from sgmc.fit.parts import Defaults
from sgmc.fit.tolerance import Noise
from sgmc.registry import room
from sgmc.subsampling.block import CircularBlock

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
                scheme=CircularBlock,
            ),
            **given,
        }
    )


def planned(spec, noise, n=100_000, d=3, where=WHITENED, **given):
    """The plan of that sampler for gradient noise, or for V1 of it."""
    usual = Defaults(estimator="cv")
    problem = SimpleNamespace(model=SimpleNamespace(n=n), dim=d, coordinates=where, defaults=usual)
    asked = settings(**{"sampler": spec, **given})
    choice = planning.Choice(problem=problem, settings=asked, gradient="cv", spec=spec)
    return planning.plan_of_steps(choice, Noise(noise, 0) if np.isscalar(noise) else noise)
