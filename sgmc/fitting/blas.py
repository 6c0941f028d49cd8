"""BLAS on one thread, where its results reach a draw: with two, OpenBLAS gives other bits."""
import threading
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limits = None


@contextmanager
def one_blas_thread():
    """Limit BLAS to one thread while any thread of this process is inside; the last one out restores what was."""
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(1, "blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
