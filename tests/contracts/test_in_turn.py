"""A sampler that draws parameters in turn, with the distributions of a posterior that is known."""

import numpy as np
import pytest
from _ext.toys import GaussianLocation

from sgmc.coordinates.priors.conditionals import Turns
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant

from .cases import GRADIENTS, SAMPLERS, SCHEMES, estimator, stream

DIM, DRAWS, CORRELATION = 2, 20_000, 0.6


class OfPair(Turns):
    """Each of two correlated standard normal numbers given the other; `wrong` times their sd."""

    def __init__(self, wrong=1.0):
        self.sd = wrong * np.sqrt(1 - CORRELATION**2)

    def step(self, x, number, rng):
        for j in (0, 1):
            x[j] = CORRELATION * x[1 - j] + self.sd * rng.normals(1)[0]


def chain(name, turns):
    """A chain of a sampler of this name."""
    rng = stream(3)
    model = GaussianLocation(np.ones((6, DIM)), 1.0)
    gradient = estimator(GRADIENTS["simple"], model, SCHEMES["uniform"](6, 3), rng)
    made = Chain(np.zeros(DIM), SAMPLERS[name]().build(DIM, 1.0), gradient, rng, Constant(1.0))
    made.sampler.turns = turns
    made.recorder = FullRecorder(DRAWS, DIM, 1)
    return made


def moments(made):
    """Variances and the covariance of a chain's draws."""
    made.run(DRAWS)
    x = np.asarray(made.recorder.draws)
    return np.array([x[:, 0].var(), x[:, 1].var(), np.cov(x.T)[0, 1]])


# a number follows itself with correlation .36: 20,000 draws are worth 9,400 for means, and 15,400
# for squares, whose sd is sqrt 2; five standard errors
LIMIT = 5 * np.sqrt(2 / 15_400)


@pytest.mark.parametrize("sampler", ["gibbs"])
def test_draws_in_turn_have_the_joint_law(sampler):
    assert np.abs(moments(chain(sampler, OfPair())) - [1, 1, CORRELATION]).max() < LIMIT


@pytest.mark.mistake("conditional draws: noise x sqrt 2")
@pytest.mark.parametrize("name", ["gibbs"])
def test_too_much_noise_is_seen(name):
    wrong = chain(name, OfPair(np.sqrt(2)))
    assert np.abs(moments(wrong) - [1, 1, CORRELATION]).max() > 5 * LIMIT


@pytest.mark.parametrize("sampler", ["gibbs"])
@pytest.mark.parametrize("pause", [1, 300])
def test_a_chain_that_goes_on_in_turn_has_the_same_draws(sampler, pause):
    whole, first, second = (chain(sampler, OfPair()) for _ in range(3))
    whole.run(600)
    first.run(pause)
    second.set_state(first.state())
    second.run(600 - pause)
    assert np.array_equal(second.recorder.draws, whole.recorder.draws)


@pytest.mark.parametrize("sampler", ["gibbs"])
def test_an_error_of_the_distributions_surfaces(sampler):
    with pytest.raises(NotImplementedError):
        chain(sampler, Turns()).run(1)
