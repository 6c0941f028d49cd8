"""Threads of a call: no more than there are processors, and an error of ours where the system
starts none.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec

from sgmc.arguments.types import Same
from sgmc.errors import ArgumentError

Given = ParamSpec("Given")


class Threads(ThreadPoolExecutor):
    """A pool of threads that names `threads=` where the system starts no more."""

    def submit(
        self, task: Callable[Given, Same], /, *given: Given.args, **named: Given.kwargs
    ) -> Future[Same]:
        """Also ArgumentError where the system starts no more threads."""
        try:
            return super().submit(task, *given, **named)
        except RuntimeError as error:  # of `threading`
            raise ArgumentError(
                f"threads={self._max_workers}: the system starts no more of them ({error}); give "
                "fewer threads, end other programs, or raise the limit of processes (ulimit -u)"
            ) from error
