"""How many threads a fit starts, and what it says where the system starts none."""

import os
import threading
import time

import pytest

from sgmc.core.system.threads import Threads
from sgmc.errors import ArgumentError
from sgmc.fit import chains
from sgmc.results.checks.scores import stein

from .cases import fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture
def asked(monkeypatch):
    """How many threads each pool may have."""
    found = []

    class Counted(Threads):
        def __init__(self, most):
            found.append(most)
            super().__init__(most)

    monkeypatch.setattr(chains, "Threads", Counted)
    monkeypatch.setattr(stein, "Threads", Counted)
    return found


def test_threads_are_no_more_than_chains_and_processors(asked, monkeypatch):
    whole = fit(20, chains=2, threads=1)
    begun = time.process_time()
    assert same(fit(20, chains=2, threads=10**6, time_limit=60), whole)
    assert time.process_time() - begun < 20 and max(asked) <= (os.cpu_count() or 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    asked.clear()
    assert same(fit(20, chains=2, threads=64), whole) and asked[0] == 2
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    asked.clear()
    assert same(fit(20, chains=2), whole) and asked[0] == 1


@pytest.mark.extended
def test_the_time_limit_holds_with_many_threads():
    begun = time.process_time()
    found = fit(10**6, sampler="mala", thin=1000, threads=10**6, time_limit=2)
    assert found.interrupted == "time limit" and time.process_time() - begun < 20


def refused(_self):
    """`Thread.start` at the limit of processes."""
    raise RuntimeError("can't start new thread")


def test_a_system_that_starts_no_thread_is_named(monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(ArgumentError, match="threads=1: the system starts no more of them.*ulimit"):
        fit(20, threads=1)
    with pytest.raises(ArgumentError, match="threads=1: the system starts no more"):
        fit(20, threads=1, progress=True)  # whose bar has a thread, too
    monkeypatch.undo()
    assert threading.active_count() == before
