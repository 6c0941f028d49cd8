"""Runs that are stopped or killed go on without a bit of difference."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sgmc.errors import InterruptedWarning
from sgmc.fit.checkpoint import read

from .cases import fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- stopped and killed --------------------------------------------------------------------------


@pytest.mark.extended
def test_a_run_out_of_time_is_a_prefix_that_can_be_finished(tmp_path, time_limit_after):
    long = dict(sampler="sgld", step_size=0.001, thin=100, warmup=100, chains=2)
    with pytest.warns(InterruptedWarning, match="stopped by time limit"):
        part = fit(4000, checkpoint=tmp_path / "run", **time_limit_after(100), **long)
    whole, kept = fit(4000, **long), part.draws.shape[1]
    assert 100 <= kept < 4000
    np.testing.assert_array_equal(part.draws, whole.draws[:, :kept])
    assert same(part.resume(), whole)
    assert same(fit(4000, checkpoint=tmp_path / "run", **long), whole)


CHILD = textwrap.dedent("""
    import os, signal, sys, threading, warnings
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


@pytest.mark.extended
def test_ctrl_c_at_any_time_gives_what_is_there(whole, tmp_path):
    """Twenty times, in a chain's thread or in the user's function: a prefix of the draws of a run
    that was not stopped.

    No chunk of a chain is begun once the run stops, but for one a thread that was about to.  A
    chain that a busy machine has kept waiting may have no draw yet, and is left out.
    """
    lines = finished(
        child(
            """
        from sgmc.fit import chains
        work, chunk, lock = chains.work, chains.Task.chunk, threading.Lock()
        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)
        def watched(queue, stop):
            stops.append(stop)
            work(queue, stop)
        def counted(task):
            late.append(stops[0].is_set())
            done = chunk(task)
            with lock:
                with_draws.append(task.chain.recorder.kept > 0)
                here = sum(with_draws) == after and with_draws[-1] and in_thread
            if here:
                kept.append(task.chain.recorder.kept)
                interrupt()
                assert stops[0].wait(60), "the run goes on after Ctrl-C"
            return done
        def progress(done, total):
            if not in_thread and not kept and sum(with_draws) >= after:
                kept.append(100_000)
                interrupt()
        chains.work, chains.Task.chunk = watched, counted
        for k, after in enumerate(np.random.default_rng(2).integers(1, 30, 20)):
            stops, late, with_draws, kept, in_thread = [], [], [], [], k % 2 == 0
            results = fit(100_000, progress=progress)
            print(results.interrupted, results.draws.shape[1] <= kept[0], sum(late) <= 2)
            np.save(f"{sys.argv[1]}/{k}.npy", results.draws)
        assert threading.active_count() == 1
    """,
            tmp_path,
        )
    )[:20]
    assert set(lines) == {"Ctrl-C True True"}
    parts = [whole, *(np.load(tmp_path / f"{k}.npy") for k in range(20))]
    longest = max(parts, key=lambda draws: draws.shape[1])
    for draws in parts:
        assert 0 < draws.shape[1] < 100_000
        assert all(
            any(np.array_equal(chain, other[: len(chain)]) for other in longest) for chain in draws
        )


@pytest.mark.extended
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.75, 0.9])
def test_a_killed_run_goes_on_from_its_checkpoint(share, whole, tmp_path):
    process = child(
        """
        from sgmc.fit import run as room
        from sgmc.fit.checkpoint import Checkpoint
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
