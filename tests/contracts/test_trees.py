"""Stationary laws of paths whose states differ in energy, which small steps do not show: of nuts,
where weights of whole subtrees decide, and of hmc by rotations, which are exact of normal laws.
"""

import numpy as np
import pytest
from _ext.toy_densities import Normal, SkewNormal
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, stream
from .montecarlo import LIMIT, standard_errors

DRAWS = 40_000
NUTS = sgmc.NUTS(metric="identity")


def chain(spec, model, dim, step, draws=DRAWS):
    """Draws of a chain from zero."""
    rng = stream(8)
    gradient = GRADIENTS["simple"](model, Prior(dim), FullBatch(1), rng)
    made = Chain(np.zeros(dim), spec.build(dim, step), gradient, rng, Constant(step))
    made.run(200, False)
    made.recorder = FullRecorder(draws, dim, 1)
    made.run(draws)
    return np.asarray(made.recorder.draws)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("step", [0.7, 1.4, 1.9])
def test_moments_of_normals_are_exact(dim, step):
    """Squares and fourth powers, by the errors of blocks."""
    x = chain(NUTS, GaussianLocation(np.zeros((1, dim)), 1.0), dim, step)
    blocks = np.hstack([x**2, x**4]).reshape(50, -1, 2 * dim).mean(axis=1)
    assert standard_errors(blocks, np.repeat([1.0, 3.0], dim)).max() < LIMIT


@pytest.mark.parametrize("step", [1.8, 1.9])
def test_long_paths_of_large_steps_are_exact(step):
    """Sds 1 and 6: paths of up to eight steps, whose states differ in energy by order one."""
    sds = np.array([1.0, 6.0])
    x = chain(NUTS, Normal(np.diag(sds**2)), 2, step, 3 * DRAWS) / sds
    blocks = np.hstack([x**2, x**4]).reshape(50, -1, 4).mean(axis=1)
    assert standard_errors(blocks, [1.0, 1.0, 3.0, 3.0]).max() < LIMIT


@pytest.mark.parametrize(
    "spec", [NUTS, sgmc.HMC(rotations=3), sgmc.HMC(metric="identity")], ids=str
)
def test_moments_of_a_skewed_law_are_exact(spec):
    """Means and squares of a skew normal, whose law is known (Azzalini 1985)."""
    slant = 3.0
    x = chain(spec, SkewNormal(1, slant), 1, 0.5)
    mean = np.sqrt(2 / np.pi) * slant / np.sqrt(1 + slant**2)
    blocks = np.hstack([x, x**2]).reshape(50, -1, 2).mean(axis=1)
    assert standard_errors(blocks, [mean, 1.0]).max() < LIMIT
