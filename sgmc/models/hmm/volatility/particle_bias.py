"""What particles do to posterior means, to first order."""

import numpy as np

from sgmc import registry
from sgmc.core.contract import Prior
from sgmc.core.engine import scores
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import ParticleWarning

# the bias is of order 1 / particles: few, many times over, tell it at least cost
FEW, TIMES = 30, 100
LARGEST_SHIFT = 0.1  # posterior sds that a mean may be off by


def bias_warnings(problem, seed):
    """A warning where particles move a posterior mean by more than LARGEST_SHIFT, in a list."""
    kernel = problem.model
    moved = np.abs(shifts(problem, seed))
    worst = int(moved.argmax())
    if moved[worst] <= LARGEST_SHIFT:
        return []
    enough = int(np.ceil(kernel.particles * moved[worst] / LARGEST_SHIFT / 100) * 100)
    return [
        ParticleWarning(
            f"{kernel.particles} particles bias the gradients of minibatches: without control "
            f"values they shift the mean of {problem.priors.names[worst]} by about "
            f"{moved[worst]:.2g} posterior sds.",
            f"Use particles={enough}, or particles=None, with which gradients are exact.",
        )
    ]


def shifts(problem, seed):
    """Posterior means by particles minus those by the grid, in posterior sds, to first order.

    Parameters
    ----------
    problem : Problem
        Of `ParticleVolatility`, with a Gaussian approximation.
    seed : int

    Returns
    -------
    array (dim,)
        In the order of the parameters.
    """
    kernel, where = problem.model, problem.coordinates
    few = type(kernel)(kernel.y, kernel.table, kernel.buffer, FEW)
    x = where.from_white(np.zeros(problem.dim))
    theta, rng = where.natural(x), Rng(seed_sequence(seed, "pilot", 3))
    rows = registry.lookup("subsampling", "uniform", "subsample")(few.n, few.n)
    simple = registry.lookup("gradients", "simple", "gradient")(few, Prior(few.dim), rows, rng)
    found = scores(simple, np.tile(theta, (TIMES, 1)), rng).mean(axis=0)
    off = found - of_rows(kernel, theta, np.arange(kernel.n))[1]
    moved = where.white @ (where.pull_white(x, off) - where.pull_white(x, np.zeros(len(theta))))
    return moved / np.sqrt((where.white**2).sum(axis=1)) * FEW / kernel.particles
