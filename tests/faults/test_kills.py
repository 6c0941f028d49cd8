"""kill -9 at random moments: of a fit, of the fit that goes on from its checkpoint, of a save, and
of a table that is prepared.
"""

import itertools
import signal
import time

import numpy as np
import pytest

import sgmc

from .children import Child, fit, forking, frame

pytestmark = [
    forking,
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
LONG = dict(sampler="mala", thin=20, draws=400)
repeats = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(k, marks=pytest.mark.extended) for k in range(1, 10))]
)


def ended(child, delay):
    """Whether the kill came before the end."""
    time.sleep(delay)
    return child.kill() == -signal.SIGKILL


def duration(action):
    """Seconds that a child needs which nobody kills."""
    begun = time.perf_counter()
    Child(action).done()
    return time.perf_counter() - begun


@pytest.mark.extended
@repeats
def test_a_fit_that_is_killed_again_and_again_has_the_draws_of_one_that_is_not(seed, tmp_path):
    """Each child goes on from the checkpoint that the one before has left; three are killed."""
    whole, path, kills = fit(**LONG), tmp_path / "run", 0

    def run():
        fit(**LONG, checkpoint=path)

    seconds = duration(lambda: fit(**LONG, checkpoint=tmp_path / "other"))
    for share in np.random.default_rng(seed).uniform(0, 0.5, 3):  # a busy machine becomes faster
        kills += ended(Child(run), share * seconds)
    found = fit(**LONG, checkpoint=path)
    np.testing.assert_array_equal(found.draws, whole.draws)
    assert kills and not found.interrupted


@pytest.mark.extended
@repeats
def test_a_save_that_is_killed_leaves_the_old_file_or_the_new_one(seed, tmp_path):
    both, path = [fit(20), fit(20, seed=4)], tmp_path / "fit"
    both[0].save(path)

    def save():
        for results in itertools.cycle(both):
            results.save(path)

    for delay in np.random.default_rng(seed).uniform(0, 0.05, 8):
        assert ended(Child(save), delay)
        found = sgmc.load(path)
        assert any(np.array_equal(found.draws, results.draws) for results in both)
    both[1].save(path)
    np.testing.assert_array_equal(sgmc.load(path).draws, both[1].draws)


@repeats
def test_a_table_whose_making_is_killed_again_and_again_has_the_same_bits(seed, tmp_path):
    df, path, kills = frame(4000), tmp_path / "a.sgmc", 0
    sgmc.prepare("y ~ x*g", df, tmp_path / "whole.sgmc", seed=1)

    def run():
        sgmc.prepare("y ~ x*g", df, path, seed=1)

    seconds = duration(lambda: sgmc.prepare("y ~ x*g", df, tmp_path / "other.sgmc", seed=1))
    # the first comes so early that one is surely killed
    for share in (0.0, *np.random.default_rng(seed).uniform(0, 0.9, 2)):
        kills += ended(Child(run), share * seconds)
    sgmc.prepare("y ~ x*g", df, path, seed=1)
    assert kills and path.read_bytes() == (tmp_path / "whole.sgmc").read_bytes()
    assert sgmc.open(path, check=True).n == 4000
