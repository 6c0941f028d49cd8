"""Fits in forked and spawned children, after a threaded fit in the parent,
are those of the parent bit for bit.
"""

import multiprocessing
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sgmc.core.system import blas
from sgmc.core.system.blas import one_blas_thread

from .cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
PATIENCE = 60.0  # seconds; a child that takes longer hangs
METHODS = ("fork", "spawn", "forkserver") if sys.platform == "linux" else ("spawn",)
forking = pytest.mark.skipif("fork" not in METHODS, reason="forks safely on Linux only")
SAMPLERS = ("auto", "lmsgld", "mala")
FITS = """
import sgmc
fit = getattr(sgmc, verb)
how = dict(seed=1, threads=4)
found = [fit("y ~ x1 + x2 + g", frame, sampler=sampler, **how).draws for sampler in samplers]
"""
POOLED = """
import sgmc
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    fit = getattr(sgmc, verb)
    how = dict(seed=1, threads=2)
    jobs = [pool.submit(fit, "y ~ x1 + x2 + g", frame, sampler=s, **how) for s in samplers]
    found = [job.result().draws for job in jobs]
"""
GRANDCHILD = """
import multiprocessing
here, there = multiprocessing.Pipe(duplex=False)
arguments = code, dict(names, connection=there)
child = multiprocessing.get_context("fork").Process(target=exec, args=arguments, daemon=True)
child.start()
found = here.recv() if here.poll(50) else None
child.join(10)
assert child.exitcode == 0
"""
BLAS = """
from threadpoolctl import threadpool_info
found = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
"""
LIMIT = """
from sgmc.core.system.blas import one_blas_thread
with one_blas_thread():
    pass
"""
SEND = "\nconnection.send(found)\n"


def in_child(method, code, /, **names):
    """What `found` is after `code` was run in a child that ended well;
    a child that hangs is ended, and fails the test.
    """
    context = multiprocessing.get_context(method)
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=exec, args=(code + SEND, dict(names, connection=there)))
    child.start()
    try:
        there.close()
        assert here.poll(PATIENCE), f"the {method}ed child hangs"
        found = here.recv()
        child.join(PATIENCE)
        assert child.exitcode == 0
        return found
    finally:
        if child.is_alive():
            child.kill()
            child.join()


# what a child inherits is no matter of the family
@pytest.fixture(scope="module", params=CASES[:1], ids=repr)
def threaded(request):
    """What a child needs to know, and the parent's draws, made in threads."""
    names = dict(verb=repr(request.param), frame=request.param.frame, samplers=SAMPLERS)
    inside = dict(names)
    exec(FITS, inside)
    return names, inside["found"]


def check_equal(found, expected):
    """Equal draws for every sampler."""
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.cover(0)
@pytest.mark.parametrize("code", [FITS, POOLED], ids=["one by one", "in a thread pool"])
@pytest.mark.parametrize("method", METHODS)
def test_children(method, code, threaded):
    names, expected = threaded
    check_equal(in_child(method, code, **names), expected)


@pytest.mark.extended
@forking
def test_a_child_of_a_child_after_a_fit(threaded):
    names, expected = threaded
    check_equal(
        in_child("fork", FITS + GRANDCHILD, code=POOLED + SEND, names=names, **names), expected
    )


@pytest.mark.extended
@forking
def test_forks_while_another_thread_fits(threaded):
    names, expected = threaded
    over = threading.Event()

    def fit_on():
        while not over.is_set():
            exec(FITS, dict(names))

    busy = threading.Thread(target=fit_on)
    busy.start()
    try:
        for _ in range(5):
            check_equal(in_child("fork", FITS, **names), expected)
    finally:
        over.set()
        busy.join(PATIENCE)
    assert not busy.is_alive()


@forking
def test_a_lock_held_at_the_fork_is_free_in_the_child(threaded):
    names, expected = threaded
    with blas._lock:
        check_equal(in_child("fork", FITS, **names), expected)


@forking
def test_a_limit_of_blas_at_the_fork_is_undone_in_the_child():
    before = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    with one_blas_thread():
        assert in_child("fork", BLAS) == before
        assert in_child("fork", LIMIT + BLAS) == before
    assert [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"] == before


@pytest.mark.parametrize("method", METHODS)
def test_an_error_in_a_child_is_its_exit_code(method):
    context = multiprocessing.get_context(method)
    child = context.Process(
        target=exec, args=("import sgmc, sys; sys.stderr = None; sgmc.normal(0, -1)", {})
    )
    child.start()
    child.join(PATIENCE)
    assert child.exitcode == 1
