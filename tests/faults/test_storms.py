"""Ctrl-C again and again, within milliseconds, wherever a call is: there is a result or a
KeyboardInterrupt, draws that are there are not lost, and the next fit is as ever.
"""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sgmc
from sgmc.core.system import blas, deadline, files, interrupts, phases
from sgmc.fit import chains, run
from sgmc.results import results as room

from .children import fit

ROOT = Path(__file__).resolve().parents[2]
ACTIONS = "minibatches exact user groups bar limit tune checkpoint save prepare".split()
pytestmark = [
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="POSIX signals"),
]


def press(times=5):
    """Ctrl-C, so many times."""
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)


def before(function):
    """The function, and Ctrl-C each time before it is called."""

    def pressed(*arguments, **how):
        press()
        return function(*arguments, **how)

    return pressed


@pytest.fixture(autouse=True)
def as_ever():
    """Ctrl-C is Python's own while the test runs; nothing is left behind by it."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("Ctrl-C is for the main thread")
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    expected, running = fit(), threading.active_count()
    yield
    try:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert threading.active_count() == running
        assert not blas._inside and interrupts.STATE.depth == 0
        assert deadline.current() == deadline.NEVER and phases._current.get() is None
        np.testing.assert_array_equal(fit().draws, expected.draws)
    finally:
        signal.signal(signal.SIGINT, old)


LONG = dict(sampler="mala", thin=10**6)


def pressed_on_progress(done, total):
    press()


@pytest.mark.cover(0)
@pytest.mark.parametrize("place", ["submit", "progress"])
def test_a_run_stops_at_once_and_keeps_its_draws(place, monkeypatch):
    """While its threads are started, too: they must not go on to the end, which is days away."""
    if place == "submit":
        pool = chains.Threads
        monkeypatch.setattr(pool, "submit", before(pool.submit))
        with pytest.raises(KeyboardInterrupt):  # there is no draw yet
            fit(**LONG)
    else:
        found = fit(10**6, sampler="mala", progress=pressed_on_progress)
        assert found.interrupted == "Ctrl-C" and 0 < found.draws.shape[1] < 10**6
        whole = fit(found.draws.shape[1], sampler="mala")
        np.testing.assert_array_equal(found.draws, whole.draws)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "owner, name", [(run, "collect"), (run, "facts_of"), (room, "results_with_deadline")]
)
def test_draws_are_not_lost_while_a_fit_finishes(owner, name, monkeypatch):
    monkeypatch.setattr(owner, name, before(getattr(owner, name)))
    found = fit()
    monkeypatch.undo()
    np.testing.assert_array_equal(found.draws, fit().draws)


def test_what_a_stopped_run_has_survives_the_rest_of_the_storm(monkeypatch):
    """The storm goes on while the draws are collected and checked."""
    for owner, name in ((run, "collect"), (room, "results_with_deadline"), (room, "summarised")):
        monkeypatch.setattr(owner, name, before(getattr(owner, name)))
    found = fit(10**6, sampler="mala", progress=pressed_on_progress)
    assert found.interrupted == "Ctrl-C" and 0 < found.draws.shape[1] < 10**6


def test_ctrl_c_before_there_are_draws_is_raised_and_a_limit_of_blas_taken_back(monkeypatch):
    monkeypatch.setattr(blas, "libraries", before(blas.libraries))
    with pytest.raises(KeyboardInterrupt):
        fit()


@pytest.mark.extended(
    "ContextScope-call-__exit__", "replacing-return-__enter__", "replacing-call-__exit__"
)
@pytest.mark.parametrize("event, name", [("return", "__enter__"), ("call", "__exit__")])
@pytest.mark.parametrize(
    "context", [blas.one_blas_thread, interrupts.ContextScope, phases.watched, files.replacing]
)
def test_ctrl_c_at_the_ends_of_a_context_leaves_nothing_of_it(context, event, name, tmp_path):
    """Where it is entered or left: at the last and at the first moment of these methods."""
    code, left = getattr(context, name).__code__, [event]

    def trace(frame, happens, argument):
        if left and frame.f_code is code and happens == left[0]:
            left.clear()
            press(1)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        fit(20).save(tmp_path / "fit")
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    assert not left  # what else there should not be, `as_ever` looks for
    assert not list(tmp_path.glob("*.part"))


def test_ctrl_c_of_python_before_a_context_is_left_leaves_blas_as_it_was():
    """In a method of results, which is not `handled`: Python raises when `__exit__` is called."""

    def trace(frame, happens, argument):
        if happens == "call" and frame.f_code is blas.one_blas_thread.__exit__.__code__:
            sys.settrace(None)
            raise KeyboardInterrupt

    sys.settrace(trace)
    with pytest.raises(KeyboardInterrupt), blas.one_blas_thread():
        pass
    assert not blas._inside and blas._limits is None


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["fsync", "replace", "unlink"])
def test_files_are_whole(name, tmp_path, monkeypatch):
    """Of a fit with a checkpoint, and of what is saved."""
    first, second = fit(20), fit(40)
    first.save(tmp_path / "fit")
    monkeypatch.setattr(files.os, name, before(getattr(os, name)))
    if name == "unlink":
        monkeypatch.setattr(files.os, "fsync", before(os.fsync))
    with pytest.raises(KeyboardInterrupt):
        second.save(tmp_path / "fit")
    try:
        fit(40, checkpoint=tmp_path / "run")
    except KeyboardInterrupt:
        pass
    monkeypatch.undo()
    assert sgmc.load(tmp_path / "fit").draws.shape[1] in (20, 40)
    np.testing.assert_array_equal(fit(40, checkpoint=tmp_path / "run").draws, second.draws)
    assert not [*tmp_path.glob("*.part")]


def test_what_hangs_can_be_ended(monkeypatch):
    """Ctrl-C a second after the first acts at once."""
    monkeypatch.setattr(interrupts, "STORM_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt), interrupts.handled(), interrupts.unbroken():
        press(1)
        assert interrupts.came()
        press(1)
        pytest.fail("Ctrl-C was not raised")


def test_handlers_of_others_stay():
    own = []
    signal.signal(signal.SIGINT, lambda *_: own.append(1))
    fit(20, progress=pressed_on_progress)
    mine = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert mine.__name__ == "<lambda>"
    press_in_thread = threading.Thread(target=lambda: fit(20))
    press_in_thread.start()
    press_in_thread.join()


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ACTIONS)
def test_storms(name, seed):
    """Twenty in a process, at random moments, 1 to 30 times each."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.storms", name, "20", str(seed)],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
