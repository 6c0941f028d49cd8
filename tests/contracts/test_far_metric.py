"""Scales that warmup finds do not depend on where the law is: moments are taken about the mean of
the positions, not about zero.
"""

import numpy as np
import pytest
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, stream

FAR, SD = 300.0, 0.5
SPECS = [
    sgmc.RWM(metric="diag"),
    sgmc.RWM(metric="dense"),
    sgmc.NUTS(metric="diag"),
    sgmc.HMC(metric="dense"),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_scales_far_from_zero_are_the_sds(spec):
    """Within 40 %, of windows of some hundred positions that depend on one another; about zero they
    would be 300 over the root of the window's length."""
    rng = stream(3)
    model = GaussianLocation(np.full((1, 2), FAR), SD**-2)
    gradient = GRADIENTS["simple"](model, Prior(2), FullBatch(1), rng)
    step = spec.from_langevin(spec.first_step(2))
    made = Chain(np.full(2, FAR), spec.build(2, step), gradient, rng, Constant(step))
    made.sampler.plan_warmup(3000)
    made.sampler.warming = True
    made.run(3000, False)
    L = np.array(made.sampler.state()["metric"]["L"])
    sds = L[0] if len(L) == 1 else np.sqrt(np.diag(L @ L.T))
    np.testing.assert_allclose(sds, SD, rtol=0.4)
