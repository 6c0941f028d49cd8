"""Chains of the package's kernels on densities whose moments are known:
what the toy studies have in common.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from _ext.toy_densities import Noisy
from scipy.integrate import quad

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import FullBatch

BLOCKS = 50  # of a chain, for standard errors; each much longer than its correlation time
PIECE = 2**22  # numbers kept at once


def block_means(spec, model, step, steps, observe, *, tau=None, seed=1):
    """Means of observables over the coordinates and the blocks of one chain.

    Parameters
    ----------
    spec : SamplerSpec
    model : Density
        Its coordinates are independent copies.
    step : float
        In the sampler's own scale; the chain starts at independent standard normals and forgets
        them for 20 / h steps.
    steps : int
    observe : callable
        From positions (n, dim) to a list of arrays, one an observable.
    tau : array (dim,), optional
        Sd of the noise added to the gradient.

    Returns
    -------
    array (BLOCKS, observables)
    """
    dim, rng = model.dim, Rng(seed_sequence(seed, "chain"))
    rest = (model, Prior(dim), FullBatch(1), rng)
    gradient = Simple(*rest) if tau is None else Noisy(tau, *rest)
    start = np.random.default_rng(seed).normal(size=dim)
    chain = Chain(start, spec.build(dim, step), gradient, rng, Constant(step))
    h = max(spec.langevin_time(step), step * step)  # e^2 where no momentum outlives a step
    chain.run(int(20 / h), False)
    thin = max(1, int(0.2 / h))
    draws = max(1, steps // (BLOCKS * thin))
    found = []
    for _ in range(BLOCKS):
        sums, left = 0.0, draws
        while left:
            part = min(left, max(1, PIECE // dim))
            chain.recorder = FullRecorder(part, dim, thin)
            if chain.run(part * thin) == 1:
                return np.full((BLOCKS, len(observe(np.zeros((1, dim))))), np.nan)
            sums = sums + np.array(
                [part * np.mean(values) for values in observe(np.asarray(chain.recorder.draws))]
            )
            left -= part
        found.append(sums / draws)
    return np.array(found)


def estimate(blocks):
    """Means over blocks and their standard errors."""
    return blocks.mean(axis=0), blocks.std(axis=0, ddof=1) / np.sqrt(len(blocks))


def expectation(log_density, observe, limit):
    """Means of observables under a density of one coordinate on [-limit, limit], by quadrature."""

    def integral(f):
        return quad(f, -limit, limit, epsabs=1e-13, epsrel=1e-12, limit=1000, points=[0.0])[0]

    total = integral(lambda x: np.exp(log_density(x)))
    count = len(observe(np.zeros(1)))
    return (
        np.array([integral(lambda x: np.exp(log_density(x)) * observe(x)[k]) for k in range(count)])
        / total
    )


def in_threads(jobs):
    """Results of the functions in a dict, by its keys;
    kernels run without the interpreter's lock.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {key: pool.submit(job) for key, job in jobs.items()}
        return {key: future.result() for key, future in waiting.items()}
