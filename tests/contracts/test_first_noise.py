"""Samplers that correct for the noise of gradients do so from their first step on: an average of
its sd that began at zero would not.
"""

import numpy as np
import pytest
from _ext.toy_densities import Noisy
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import stream

DIM, STEP, TAU, CHAINS = 25, 0.5, 1.9, 200


@pytest.mark.parametrize("beta", [0.01, 0.1, 0.9])
def test_the_first_step_has_the_variance_of_langevin_dynamics(beta):
    """From the mode x is half a step of noise of sd tau, and noise of variance h - h^2 tau^2 / 4:
    of variance h together, to five standard errors.
    """
    model, spec, x = GaussianLocation(np.zeros((1, DIM)), 1.0), sgmc.CSGLD(beta=beta), []
    for k in range(CHAINS):
        rng = stream(k)
        gradient = Noisy(np.full(DIM, TAU), model, Prior(DIM), FullBatch(1), rng)
        made = Chain(np.zeros(DIM), spec.build(DIM, STEP), gradient, rng, Constant(STEP))
        made.run(1, False)
        x.append(np.array(made.x))
    assert np.square(x).mean() == pytest.approx(STEP, rel=5 * np.sqrt(2 / (DIM * CHAINS)))
    assert STEP * TAU**2 / 4 > 0.4  # of the variance: what would be added without
