"""Running moments of a chain are those of its positions, weighted by the steps."""

import numpy as np
import pytest
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder, MomentsRecorder
from sgmc.core.schedules import Constant, Polynomial
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, stream

DIM, STEPS = 3, 200


def run(recorder, schedule):
    """A chain that starts far from zero."""
    rng = stream(2)
    model = GaussianLocation(np.full((1, DIM), 5.0), 1.0)
    gradient = GRADIENTS["simple"](model, Prior(DIM), FullBatch(1), rng)
    made = Chain(np.full(DIM, 9.0), sgmc.SGLD().build(DIM, 0.1), gradient, rng, schedule)
    made.recorder = recorder
    made.run(STEPS)
    return made.recorder


@pytest.mark.parametrize("schedule", [Constant(0.1), Polynomial(0.5, 2.0, 0.7)], ids=str)
def test_means_and_covariances(schedule):
    draws = np.asarray(run(FullRecorder(STEPS, DIM, 1), schedule).draws)
    weight = np.array([schedule(t) for t in range(STEPS)])
    found = run(MomentsRecorder(DIM), schedule)
    mean = np.average(draws, axis=0, weights=weight)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9)
    wanted = np.cov(draws.T, aweights=weight, ddof=0)
    np.testing.assert_allclose(found.covariance(), wanted, rtol=1e-8)
