"""Draws by a transport map: its images of standard normal numbers, whatever the chain's pauses."""

import numpy as np
import pytest
from _ext.toys import GaussianLocation
from scipy import stats

from sgmc.coordinates.independent.transport import Transport
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant

from .cases import GRADIENTS, SAMPLERS, SCHEMES, estimator, stream

DRAWS, DIM = 700, 3  # more than two blocks


class Bent(Transport):
    """x_0 = z_0, x_1 = 2 z_1 + z_0^2, x_2 = exp(z_2)."""

    def draws(self, z):
        return np.column_stack([z[:, 0], 2 * z[:, 1] + z[:, 0] ** 2, np.exp(z[:, 2])])


def chain(name, transport=None):
    """A chain of a sampler of this name, with nothing to learn from its rows."""
    rng = stream(3)
    model = GaussianLocation(np.ones((6, DIM)), 1.0)
    gradient = estimator(GRADIENTS["simple"], model, SCHEMES["uniform"](6, 3), rng)
    made = Chain(np.zeros(DIM), SAMPLERS[name]().build(DIM, 1.0), gradient, rng, Constant(1.0))
    made.sampler.transport = transport or Bent()
    made.recorder = FullRecorder(DRAWS, DIM, 1)
    return made


@pytest.mark.parametrize("sampler", ["direct"])
def test_draws_are_images_of_standard_normal_numbers(sampler):
    """Kolmogorov-Smirnov tests of 700 draws, taken back; no autocorrelation above 4.5 errors."""
    made = chain(sampler)
    made.run(DRAWS)
    x = np.asarray(made.recorder.draws)
    z = np.column_stack([x[:, 0], (x[:, 1] - x[:, 0] ** 2) / 2, np.log(x[:, 2])])
    assert min(stats.kstest(one, "norm").pvalue for one in z.T) > 1e-3
    lags = [np.abs((z[k:] * z[:-k]).sum(axis=0)).max() / np.sqrt(DRAWS) for k in range(1, 30)]
    assert max(lags) < 4.5
    assert made.gradient.touched == 0


@pytest.mark.parametrize("sampler", ["direct"])
@pytest.mark.parametrize("pause", [1, 256, 300, 512])
def test_a_chain_that_goes_on_has_the_same_draws(sampler, pause):
    whole, first, second = (chain(sampler) for _ in range(3))
    whole.run(DRAWS)
    first.run(pause)
    second.set_state(first.state())
    second.run(DRAWS - pause)
    assert np.array_equal(second.recorder.draws, whole.recorder.draws)


@pytest.mark.parametrize("sampler", ["direct"])
def test_an_error_of_the_transport_surfaces(sampler):
    with pytest.raises(NotImplementedError):
        chain(sampler, Transport()).run(1)
