"""BLAS on one thread, where its results reach a draw: with two, OpenBLAS gives other bits."""

import os
import threading
from typing import Any

from sgmc.core.system.interrupts import unbroken, unbroken_ends

_lock = threading.RLock()  # what is freed inside may have to leave, too
_inside: set[int] = set()  # ids of the blocks
_limits = None
_controller = None


class one_blas_thread:
    """Limit BLAS to one thread while any thread of this process is inside;
    the last one out restores what was.
    """

    @unbroken_ends
    def __enter__(self) -> None:
        global _limits
        with unbroken(later=True), _lock:
            if _limits is None:
                _limits = libraries().limit(limits=1, user_api="blas")
            _inside.add(id(self))

    @unbroken_ends
    def __exit__(self, *error: object) -> None:
        with unbroken():
            self.leave()

    def leave(self) -> None:
        """Leave the block; once more does nothing."""
        global _limits
        with _lock:
            _inside.discard(id(self))
            if not _inside and _limits is not None:
                _limits.restore_original_limits()
                _limits = None

    def __del__(self) -> None:
        self.leave()  # Python's own handler of Ctrl-C may have raised before `__exit__` began


def libraries() -> Any:
    """The BLAS libraries of numpy and scipy, which are loaded by then; looked for once, as it takes
    milliseconds.
    """
    global _controller
    if _controller is None:
        from threadpoolctl import ThreadpoolController  # a build has only numpy and scipy

        _controller = ThreadpoolController()
    return _controller


def _after_fork() -> None:
    """In a forked child none of the parent's threads is inside, or holds the lock."""
    global _lock, _limits
    _lock = threading.RLock()
    _inside.clear()
    if _limits is not None:
        _limits.restore_original_limits()
        _limits = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
