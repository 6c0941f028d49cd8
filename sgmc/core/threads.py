"""Threads of a call: no more than there are processors, and an error of ours where the system
starts none.
"""

from concurrent.futures import ThreadPoolExecutor

from sgmc.errors import ArgumentError


class Threads(ThreadPoolExecutor):
    """A pool of threads that names `threads=` where the system starts no more."""

    def submit(self, *task):
        """Also ArgumentError where the system starts no more threads."""
        try:
            return super().submit(*task)
        except RuntimeError as error:  # of `threading`
            raise ArgumentError(
                f"threads={self._max_workers}: the system starts no more of them ({error}); give "
                "fewer threads, end other programs, or raise the limit of processes (ulimit -u)"
            ) from error
