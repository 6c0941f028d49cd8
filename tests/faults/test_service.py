"""A long service: fits, saves, loads and predictions one after the other, in threads, and in
processes that were forked and spawned, leave memory, open files and threads as they were.
"""

import ctypes
import gc
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import sgmc

from .children import forking, frame

pytestmark = [
    forking,
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),  # threads are joined before
]
FEW, MANY = 60, 500  # rounds
# Bytes that may be left: freed memory is not given back at once, so that resident memory wavers by
# a few MB.  A leak of 60 kB a round, less than a fit holds, is seen in 500 rounds.
AT_LEAST, A_ROUND = 8 << 20, 40_000
LIBC = ctypes.CDLL(None)
ENDING = 5.0  # seconds in which helper threads of a pool have ended
FORMULAS = ["y ~ x + g", "y ~ bs(x, df=4)", "y ~ x + (1 | g)"]


def one(k, folder):
    """A fit that is saved, loaded, and asked for predictions; their mean."""
    formula = FORMULAS[k % len(FORMULAS)]
    path = folder / f"fit-{os.getpid()}-{threading.get_ident()}"
    sgmc.logit(formula, frame(), seed=k, draws=20, chains=2, sampler="laplace").save(path)
    results = sgmc.load(path)
    return float(np.mean(results.predict(frame().head(20))))


def held():
    """Resident bytes, open files and threads of this process, without what was freed."""
    gc.collect()
    if hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    return np.array([pages * os.sysconf("SC_PAGE_SIZE"), files, len(os.listdir("/proc/self/task"))])


def grown(work, rounds):
    """What rounds of work leave behind, after as many as fill all caches."""
    work(range(12))
    before = held()
    work(range(12, 12 + rounds))
    return held() - before


@pytest.fixture(params=[FEW, pytest.param(MANY, marks=pytest.mark.extended)])
def rounds(request):
    return request.param


def flat(found, rounds):
    """Whether nothing has grown."""
    memory, files, threads = found
    return memory < AT_LEAST + A_ROUND * rounds and files == 0 and threads == 0


def in_turn(folder):
    """Work of one thread."""
    return lambda numbers: [one(k, folder) for k in numbers]


@pytest.mark.extended
def test_one_thread_leaves_nothing(rounds, tmp_path):
    found = grown(in_turn(tmp_path), rounds)
    assert flat(found, rounds), found


@pytest.mark.extended
def test_eight_threads_leave_nothing_and_give_the_same_numbers(rounds, tmp_path):
    alone = [one(k, tmp_path) for k in range(3)]

    def together(numbers):
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda k: one(k % 3, tmp_path), numbers))
        for k, value in zip(numbers, found):
            assert value == alone[k % 3]

    found = grown(together, rounds)
    assert flat(found, rounds), found


@pytest.mark.extended
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.extended)])
def test_processes_leave_nothing_and_give_the_same_numbers(method, tmp_path):
    """Also in this process, which goes on fitting."""
    alone = [one(k, tmp_path) for k in range(3)]

    def apart():
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.starmap(one, [(k % 3, tmp_path) for k in range(12)]) == alone * 4
        pool.join()

    apart()
    assert [one(k, tmp_path) for k in range(3)] == alone  # BLAS has its threads again after a fork
    before = held()
    apart()
    assert [one(k, tmp_path) for k in range(3)] == alone
    until = time.monotonic() + ENDING
    while (held() - before)[1:].max() > 0 and time.monotonic() < until:
        time.sleep(0.05)
    assert (held() - before)[1:].max() <= 0


@pytest.mark.extended
def test_what_is_kept_is_seen(tmp_path):
    """A planted leak: results of each round are held."""
    kept = []

    def leaking(numbers):
        for k in numbers:
            one(k, tmp_path)
            kept.append(np.ones(A_ROUND))

    assert not flat(grown(leaking, 60), 60)
