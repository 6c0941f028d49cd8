"""Clocks that jump: the wall's by hours in either direction, and all of them after a suspend."""

import itertools
import time

import numpy as np
import pytest

from sgmc.core.system import deadline
from sgmc.fit import checkpoint
from sgmc.fit.checkpoint import read

from .children import fit

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(params=["backward", "forward", "to and fro"])
def wall(request, monkeypatch):
    """The wall's clock jumps whenever it is read."""
    real = time.time
    jumps = {
        "backward": itertools.count(0, -3600),
        "forward": itertools.count(0, 3600),
        "to and fro": itertools.cycle([7200, -7200]),
    }[request.param]
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))


def test_the_clock_on_the_wall_has_no_say(wall, tmp_path, capsys):
    """With a time limit, a bar and a checkpoint."""
    how = dict(sampler="mala", draws=300, time_limit=1000, progress=True)
    found = fit(**how, checkpoint=tmp_path / "run")
    assert not found.interrupted and not found.stand_in
    np.testing.assert_array_equal(found.draws, fit(sampler="mala", draws=300).draws)
    assert len(read(str(tmp_path / "run")).chains[0]["recorder"]["draws"]) == 300
    assert 0 <= found._fit.seconds < 1000


@pytest.mark.cover(0)
@pytest.mark.parametrize("k", [3, 40, 120])
def test_a_suspend_uses_up_a_time_limit_and_loses_no_draw(k, monkeypatch, tmp_path):
    """The k-th reading is a day later: what is there is returned, and the file can be gone on
    from.
    """
    readings, real = itertools.count(), time.perf_counter

    def jumped():
        return real() + 86_400 * (next(readings) >= k)

    monkeypatch.setattr(deadline, "clock", jumped)
    monkeypatch.setattr(checkpoint.time, "perf_counter", jumped)
    how = dict(sampler="mala", draws=400, thin=20, warmup=50)
    found = fit(**how, time_limit=1000, checkpoint=tmp_path / "run")
    monkeypatch.undo()
    whole = fit(**how)
    if not found.stand_in:
        np.testing.assert_array_equal(found.draws, whole.draws[:, : found.draws.shape[1]])
    np.testing.assert_array_equal(fit(**how, checkpoint=tmp_path / "run").draws, whole.draws)
