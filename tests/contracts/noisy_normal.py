"""A standard normal posterior whose gradients have noise of a known variance V, for samplers whose
error is known there.
"""

import math

import numpy as np
from _ext.toy_paths import PathMoments
from _ext.toys import GaussianLocation

from sgmc.core.contract import Prior
from sgmc.core.engine import STATUS_NAMES, Chain
from sgmc.core.schedules import Constant

from .cases import GRADIENTS, SCHEMES, stream
from .montecarlo import BATCHES

N, BATCH = 2000, 40


def posterior(dim, noise):
    """N(0, I) from N rows with precision 1/N each;
    batches of BATCH have noise V, those of all rows none.
    """
    y = np.random.default_rng(0).normal(size=(N, dim))
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    return GaussianLocation(y * math.sqrt(noise * BATCH / (1 - BATCH / N)), 1.0 / N)


def travelled(
    spec,
    dim,
    noise,
    *,
    step=1.0,
    events=100_000,
    warmup=2000,
    transition=None,
    rows=None,
    start=None,
    gradient=GRADIENTS["simple"],
    prior=Prior,
):
    """(chain, times, integrals of x and of x^2 in each of 50 pieces of its path)."""
    model, rng = posterior(dim, noise), stream(5)
    rows = rows or SCHEMES["uniform"](N, BATCH if noise else N)
    made = spec.build(dim, step)
    chain = Chain(
        np.zeros(dim) if start is None else start,
        transition(made) if transition else made,
        gradient(model, prior(dim), rows, rng),
        rng,
        Constant(step),
        velocity=True,
    )
    chain.recorder = PathMoments(dim)
    chain.sampler.warming = True
    chain.run(warmup)
    chain.sampler.warming, chain.recorder = False, PathMoments(dim)
    ends = np.zeros((BATCHES + 1, 1 + 2 * dim))
    for k in range(BATCHES):
        assert chain.run(events // BATCHES) == 0, STATUS_NAMES[chain.status]
        path = chain.recorder
        ends[k + 1] = path.time, *path.first, *np.diag(path.second)
    parts = np.diff(ends, axis=0)
    return chain, parts[:, 0], parts[:, 1 : 1 + dim], parts[:, 1 + dim :]


def inflation(spec, dim, noise, **how):
    """Relative error of the variance, the mean over coordinates, and its Monte Carlo error;
    and the chain.
    """
    chain, times, _, square = travelled(spec, dim, noise, **how)
    found = square.mean(axis=1).sum() / times.sum()
    rest = square.mean(axis=1) - found * times
    return found - 1, math.sqrt(BATCHES / (BATCHES - 1) * (rest**2).sum()) / times.sum(), chain
