"""BLAS on one thread, where its results reach a draw: with two, OpenBLAS gives other bits."""

import os
import threading

from sgmc.core.interrupts import held, unbroken

_lock = threading.Lock()
_inside = 0
_limits = None
_controller = None


class one_blas_thread:
    """Limit BLAS to one thread while any thread of this process is inside;
    the last one out restores what was.
    """

    @held
    def __enter__(self):
        global _inside, _limits
        with unbroken(later=True), _lock:
            if _inside == 0:
                _limits = libraries().limit(limits=1, user_api="blas")
            _inside += 1

    @held
    def __exit__(self, *error):
        global _inside
        with unbroken(), _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


def libraries():
    """The BLAS libraries of numpy and scipy, which are loaded by then; looked for once, as it takes
    milliseconds.
    """
    global _controller
    if _controller is None:
        from threadpoolctl import ThreadpoolController  # a build has only numpy and scipy

        _controller = ThreadpoolController()
    return _controller


def _after_fork():
    """In a forked child none of the parent's threads is inside, or holds the lock."""
    global _lock, _inside
    _lock = threading.Lock()
    if _inside:
        _inside = 0
        _limits.restore_original_limits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
