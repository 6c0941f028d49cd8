"""The Gamma term of psgld, where its stationary law is known in closed form.

Without memory v is g^2, and of a standard normal g = -theta: G = 1 / (eps + |theta|) is a function
of theta.  d theta = (G g + c dG/dtheta) / 2 dt + sqrt(G) dW has the density N(theta) G^(c - 1):
the normal one with Gamma (c = 1); without (c = 0), N(theta) (eps + |theta|).
"""

import numpy as np
import pytest
from _ext.toys import GaussianLocation
from scipy import integrate

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, stream

DIM, STEP, FLOOR = 60, 0.02, 1.0


def variance(gamma):
    """Of the draws of 60 independent coordinates, and its Monte Carlo error."""
    rng, spec = stream(4), sgmc.PSGLD(memory=1e-9, floor=FLOOR, gamma=gamma)
    model = GaussianLocation(np.zeros((1, DIM)), 1.0)
    gradient = GRADIENTS["simple"](model, Prior(DIM), FullBatch(1), rng)
    start = np.random.default_rng(1).normal(size=DIM)
    chain = Chain(start, spec.build(DIM, STEP), gradient, rng, Constant(STEP))
    chain.run(1500, False)
    chain.recorder = FullRecorder(500, DIM, 300)
    chain.run(150_000)
    draws = np.asarray(chain.recorder.draws)
    each = (draws**2).mean(axis=0)
    return each.mean(), each.std() / np.sqrt(DIM)


def wanted(power):
    """The variance of the density N(theta) (eps + |theta|)^power."""

    def moment(k):
        return integrate.quad(lambda t: t**k * np.exp(-t * t / 2) * (FLOOR + t) ** power, 0, 12)[0]

    return moment(2) / moment(0)


@pytest.mark.parametrize("gamma, power", [(True, 0), (False, 1)])
def test_the_stationary_variance_is_that_of_the_density(gamma, power):
    """To five Monte Carlo errors and 2 %, for the step; with the other sign it would be 2.0."""
    found, error = variance(gamma)
    assert found == pytest.approx(wanted(power), abs=5 * error + 0.02)
    assert error < 0.02 and wanted(1) > 1.3 and wanted(2) > 1.9
