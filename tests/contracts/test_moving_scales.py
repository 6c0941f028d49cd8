"""The preconditioner of `psbps` as published: eq. 17-18 look by look, and what it does to draws."""

import numpy as np
import pytest

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain, full
from sgmc.core.schedules import Constant

from .cases import GRADIENTS, SCHEMES, stream
from .noisy_normal import inflation, posterior
from .test_predicted_rates import right

PAST, FLOOR = 0.99, 1e-4


def looking(dim=3):
    """A chain whose looks are at all rows: each gradient is known."""
    rng = stream(4)
    spec = sgmc.PSBPS(refresh=0.0, scale="published", past=PAST, floor=FLOOR)
    rows = SCHEMES["block"](2000, 2000)
    gradient = GRADIENTS["simple"](posterior(dim, 1.0), Prior(dim), rows, rng)
    start = np.linspace(0.5, 3.0, dim)
    return Chain(start, spec.build(dim, 1.0), gradient, rng, Constant(1.0), velocity=True)


def scale_of(v):
    """Eq. 18: the mean of A is one."""
    raw = 1 / (np.sqrt(v) + FLOOR)
    return raw / raw.mean()


def test_the_scale_follows_each_look():
    """v is the running mean of squared gradients, A = scale_of(v), and a velocity A u has its u on
    the sphere.
    """
    chain = looking()
    v = (1 - PAST) * full(chain.gradient, chain.x)[1] ** 2
    for _ in range(50):
        chain.run(1, False)  # the first step looks where it begins, too
        v = PAST * v + (1 - PAST) * full(chain.gradient, chain.x)[1] ** 2
        state = chain.sampler.state()
        assert np.allclose(state["v"], v, rtol=1e-10)
        assert np.allclose(state["scale"], scale_of(v), rtol=1e-10)
        assert np.sum((np.asarray(chain.v) / state["scale"]) ** 2) == pytest.approx(3.0, rel=1e-9)
    assert not chain.sampler.warming and np.ptp(state["scale"]) > 0.1


def moving(past, dim=20, noise=1.0):
    """The law with such a weight of the past."""
    return inflation(
        sgmc.PSBPS(refresh=0.0, scale="published", past=past), dim, noise, events=200_000
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize("dim, noise", [(5, 1.0), (20, 1.0), (20, 10.0)])
def test_a_scale_that_hardly_moves_leaves_a_normal_as_it_is(dim, noise):
    assert right(*moving(0.9999, dim, noise))


@pytest.mark.extended
@pytest.mark.mistake("psbps: a scale that follows the path (a = {past})")
@pytest.mark.parametrize("past", [0.9, 0.99])
@pytest.mark.parametrize("name", ["psbps"])
def test_a_scale_that_follows_the_path_widens_draws(name, past):
    """What eq. 16 leaves out, in 20 dimensions with V = 1: 20 % of the variance at the paper's
    a = 0.99.
    """
    found, error, chain = moving(past)
    assert not right(found, error, chain) and found > 0.15
