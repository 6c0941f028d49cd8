"""Who owns memory that others point into: the owner outlives them,
and what Python code receives is a copy.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from _ext.toys import GaussianLocation

from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.transforms.maps import Warp
from sgmc.core.contract import Gradient, Prior
from sgmc.core.engine import Chain, full
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.models.bases.callbacks import PythonPrior

from .cases import GRADIENTS, SAMPLERS, SCHEMES, estimator, stream

TOPICS = """
import sys
import numpy as np
import sgmc
words = np.random.default_rng(0).poisson(0.5, (60, 12))
words[:, 0] += 1
fit = sgmc.LDA(words, 3).fit(step_size=0.01, draws=50, chains=2, seed=1, checkpoint=sys.argv[1])
print(fit.draws.sum().hex())
"""


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_models_that_simulate_do_so_from_memory_that_lives(tmp_path):
    """Topics of words are simulated with the chain's stream; freed memory is overwritten in the
    second process alone.
    """
    found = []
    for allocator in ("pymalloc", "debug"):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TOPICS, str(tmp_path / allocator)],
            text=True,
            capture_output=True,
            env={**os.environ, "PYTHONMALLOC": allocator},
            timeout=300,
        )
        assert done.returncode == 0, f"{allocator}: ended with {done.returncode}: {done.stderr}"
        found.append(float.fromhex(done.stdout))
    assert np.isfinite(found[0]) and found[0] == found[1]


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_holds_its_stream(name):
    model, rng = GaussianLocation(np.ones((6, 2)), 1.0), stream(0)
    assert estimator(GRADIENTS[name], model, SCHEMES["uniform"](6, 3), rng).rng is rng


def test_a_stream_keeps_its_bit_generator():
    """Gradients have copies of its address."""
    rng = stream(0)
    owner = rng.bit_generator
    rng.__init__(None)
    assert rng.bit_generator is owner


class Remembering(GaussianLocation):
    """Its metrics are made from a place that it remembers."""

    places = []

    def metric(self, gradient, start, rows=None):
        """See `GaussianLocation`."""
        self.places.append(start)
        return super().metric(gradient, start, rows)


@pytest.mark.parametrize("name", ["mmala", "sgrld", "sgrhmc"])
def test_a_metric_receives_a_copy_of_the_start(name, monkeypatch):
    monkeypatch.setattr(Remembering, "places", [])
    model, rng = Remembering(np.ones((6, 2)), 1.0), stream(0)
    chain = Chain(
        np.zeros(2),
        SAMPLERS[name]().build(2, 0.1),
        estimator(GRADIENTS["simple"], model, SCHEMES["uniform"](6, 3), rng),
        rng,
        Constant(0.1),
    )
    chain.recorder = FullRecorder(20, 2, 1)
    chain.run(20)
    assert np.any(chain.x) and len(model.places) and not np.any(model.places)


def test_a_gradient_of_another_length_is_not_read():
    gradient = estimator(
        GRADIENTS["simple"],
        GaussianLocation(np.ones((6, 3)), 1.0),
        SCHEMES["uniform"](6, 3),
        stream(0),
        prior=PythonPrior(3, lambda theta: 0.0, lambda theta: np.zeros(2)),
    )
    with pytest.raises(ArgumentError, match="returned 2 numbers; it must be 3"):
        full(gradient, np.zeros(3))


@pytest.mark.parametrize("left_out", range(4))
def test_nothing_is_made_of_none(left_out):
    model, rng = GaussianLocation(np.ones((6, 2)), 1.0), stream(0)
    parts = [model, Prior(2), SCHEMES["uniform"](6, 3), rng]
    parts[left_out] = None
    with pytest.raises(TypeError, match="None"):
        Gradient(*parts)


@pytest.mark.parametrize(
    "x, expected", [(1e30, np.exp(4) * 1e30), (-1e30, -np.exp(-4) * 1e30), (np.inf, np.inf)]
)
def test_a_warp_has_a_last_node_however_far_out(x, expected):
    """Beyond 2^63 nodes no integer numbers the place."""
    grid = np.linspace(-4, 4, 81)
    warp = Warp(1, grid, [np.exp(grid)], [grid], [np.ones(81)])
    assert warp(np.array([x]))[0] == pytest.approx(expected)


def test_a_prior_of_logs_alone():
    """There are no coefficients then, by whose number to divide: N(0, 1) of exp(x),
    and the slope of x.
    """
    prior = Separable([FAMILIES["normal"]] * 2, [0, 0], [1, 1], [1, 1], log_params=2)
    gradient = estimator(
        GRADIENTS["simple"],
        GaussianLocation(np.zeros((3, 2)), 1.0),
        SCHEMES["uniform"](3, 3),
        stream(0),
        prior=prior,
    )
    value, slope = full(gradient, np.zeros(2))
    assert value == -1 and slope.tolist() == [0, 0]
