"""Runs that are stopped or killed go on without a bit of difference."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sgmc.errors import ArgumentError, InterruptedWarning
from sgmc.fit.run.checkpoint import read

from .cases import fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- stopped and killed --------------------------------------------------------------------------


def out_of_time(limit=0.05, **how):
    """A run of 4,000 draws that was stopped after the first:
    on a busy machine later than on an idle one.
    """
    try:
        with pytest.warns(InterruptedWarning, match="stopped by time limit"):
            return fit(4000, time_limit=limit, **how)
    except ArgumentError as error:
        assert "before the first draw" in str(error) and limit < 5
        return out_of_time(2 * limit, **how)


def test_a_run_out_of_time_is_a_prefix_that_can_be_finished(tmp_path):
    long = dict(sampler="sgld", step_size=0.001, thin=100, warmup=100, chains=2)
    part = out_of_time(checkpoint=tmp_path / "run", **long)
    whole, kept = fit(4000, **long), part.draws.shape[1]
    assert 0 < kept < 4000
    np.testing.assert_array_equal(part.draws, whole.draws[:, :kept])
    assert same(part.resume(), whole)
    assert same(fit(4000, checkpoint=tmp_path / "run", **long), whole)


CHILD = textwrap.dedent("""
    import os, signal, sys, threading, time, warnings
    import numpy as np, pandas as pd, sgmc
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(40000), rng.normal(size=(40000, 4))])
    y = (rng.random(40000) < 0.3).astype(float)
    def fit(draws=1500, **how):
        how = dict(sampler="mala", seed=1, chains=2, warmup=100) | how
        return sgmc.Logit(y, X).fit(draws=draws, **how)
""")


def child(code, *arguments):
    """A Python process with the fit above at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + textwrap.dedent(code), *map(str, arguments)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(process):
    """Lines that a process printed."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.split("\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Draws of the child's fit, never stopped."""
    path = tmp_path_factory.mktemp("whole") / "draws.npy"
    finished(child("np.save(sys.argv[1], fit().draws)", path))
    return np.load(path)


def test_ctrl_c_at_any_time_gives_what_is_there(whole, tmp_path):
    """Twenty times: back within half a second (the median), with a prefix of the draws of a run
    that was not stopped.

    A chain that a busy machine has kept waiting may have no draw yet, and is left out.
    """
    lines = finished(
        child(
            """
        for k, delay in enumerate(np.random.default_rng(2).uniform(0.0, 0.6, 20)):
            sent = []
            def interrupt():
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)
            timer = threading.Timer(delay, interrupt)
            def begun(done, total):
                if done > 300 and not timer.is_alive() and not sent:
                    timer.start()
            results = fit(100_000, progress=begun)
            print(results.interrupted, time.perf_counter() - sent[0])
            np.save(f"{sys.argv[1]}/{k}.npy", results.draws)
        assert threading.active_count() == 1
    """,
            tmp_path,
        )
    )[:20]
    parts = [whole, *(np.load(tmp_path / f"{k}.npy") for k in range(20))]
    longest = max(parts, key=lambda draws: draws.shape[1])
    for draws in parts:
        assert 0 < draws.shape[1] < 100_000
        assert all(
            any(np.array_equal(chain, other[: len(chain)]) for other in longest) for chain in draws
        )
    reasons, seconds = zip(*(line.rsplit(" ", 1) for line in lines))
    assert set(reasons) == {"Ctrl-C"} and np.median([float(s) for s in seconds]) < 0.5
    assert max(float(s) for s in seconds) < 5  # of a machine that may be busy with other things


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.75, 0.9])
def test_a_killed_run_goes_on_from_its_checkpoint(share, whole, tmp_path):
    process = child(
        """
        from sgmc.fit import sampling as room
        from sgmc.fit.run.checkpoint import Checkpoint
        share, steps, written = float(sys.argv[2]), 2 * 1600, threading.Lock()
        class Doomed(Checkpoint):
            def store(self, k, chain):
                # the clock has no say: written on the way, killed at the share
                super().store(k, chain)
                done = sum(state["t"] for state in self.states)
                with written:
                    self.due = float("inf")
                    if done >= 0.7 * share * steps:
                        self.write()
                    if done >= share * steps:
                        os.kill(os.getpid(), signal.SIGKILL)
        room.Checkpoint = Doomed
        fit(checkpoint=sys.argv[1])
    """,
        tmp_path / "run",
        share,
    )
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    saved = read(str(tmp_path / "run"))
    kept = [len(state["recorder"]["draws"]) for state in saved.chains]
    # one chain may be done when the run is killed
    assert min(kept) < 1500 and (share < 0.5 or max(kept) > 0)
    finished(
        child(
            "np.save(sys.argv[2], fit(checkpoint=sys.argv[1]).draws)",
            tmp_path / "run",
            tmp_path / "draws.npy",
        )
    )
    np.testing.assert_array_equal(np.load(tmp_path / "draws.npy"), whole)


def test_ctrl_c_while_summarising_does_not_lose_the_draws(monkeypatch):
    from sgmc.results import results as room

    calls, real = [], room.stein_discrepancy

    def interrupted_once(*arguments):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(room, "stein_discrepancy", interrupted_once)
    assert same(fit(60), fit(60)) and len(calls) == 3
