"""When a call has to be over: `time_limit=` counts from the call to the return.

The phases of a fit ask here before they begin something long.  Where its end would be too late they
raise `OutOfTime`, and whoever has something to return catches it.  The clock may only stop a run:
nothing that is drawn depends on what it shows.
"""

import math
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType

from sgmc.arguments.numbers import positive
from sgmc.arguments.types import Same
from sgmc.core.system.interrupts import ContextScope
from sgmc.errors import ArgumentError

clock = time.perf_counter
OPERATIONS = 2e9  # floating-point operations a second, where nothing was measured: a slow core's


class OutOfTime(Exception):
    """The time of a call is up.

    Attributes
    ----------
    reached : object
        What a search has found so far, or None.
    """

    reached = None


@dataclass(frozen=True)
class Deadline:
    """When a call has to be over, on this module's clock."""

    end: float = math.inf

    @property
    def set(self) -> bool:
        """Whether there is one."""
        return self.end < math.inf

    def left(self) -> float:
        """Seconds until then, negative once it has passed."""
        return self.end - clock() if self.set else math.inf

    def check(self, seconds: float = 0.0, operations: float = 0.0) -> None:
        """Raise OutOfTime unless something that takes so long, or so many floating-point
        operations, would end in time.
        """
        if self.set and self.left() <= seconds + operations / OPERATIONS:
            raise OutOfTime


NEVER = Deadline()
_current = ContextVar("deadline", default=NEVER)


def current() -> Deadline:
    """The `Deadline` of the call that is being served; one without end where none was given.

    Threads do not inherit it: ask before they begin.
    """
    return _current.get()


def check(seconds: float = 0.0, operations: float = 0.0) -> None:
    """`Deadline.check` of the current one."""
    current().check(seconds, operations)


def limited(seconds: float | None, name: str = "time_limit") -> ContextScope[Deadline]:
    """A context of so many seconds from now on, or of what is left of a limit that holds already;
    None: no limit of its own.
    """
    positive(name, seconds, none=True)
    until = math.inf if seconds is None else clock() + seconds
    return ContextScope(_current, Deadline(min(current().end, until)))


class time_limit:
    """A limit on the time of all calls in a ``with`` block, from its beginning to its end.

    A fit in it ends in time as by its own ``time_limit=``, with what it has.  What has no answer
    before its end is an error: predictions, effects, `loo`, `kfold`, `prepare` and reading.

    Parameters
    ----------
    seconds : float

    Raises
    ------
    ArgumentError
        At the end of the block, where a call was not over in time.

    Examples
    --------
    >>> with sgmc.time_limit(10):
    ...     slopes = res.avg_slopes()
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = positive("time_limit", seconds)

    def __enter__(self) -> "time_limit":
        self.context = limited(self.seconds)
        self.context.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.context.__exit__(kind, error, trace)
        if kind is not None and issubclass(kind, OutOfTime):
            raise ArgumentError(
                f"time_limit({self.seconds:g}) ended before the call was over: give more seconds, "
                "or fewer rows"
            ) from None


def leaving(seconds: float) -> ContextScope[Deadline]:
    """A limit so many seconds earlier than the one that holds."""
    left = current().left()
    return limited(None if left == math.inf else max(left - seconds, 1e-9))


def suspended() -> ContextScope[Deadline]:
    """A context without limit, for what is cheap and has to be done all the same."""
    return ContextScope(_current, NEVER)


class RateEstimator:
    """Seconds that a unit of some work takes, so that none is begun that would end too late.

    Parameters
    ----------
    operations : float
        Floating-point operations of a unit: what is gone by before the first one.
    """

    def __init__(self, operations: float = 0.0) -> None:
        self.seconds = operations / OPERATIONS

    def run(self, work: Callable[[], Same], units: float = 1) -> Same:
        """``work()``, which has so many units, or OutOfTime."""
        now = current()
        if not now.set:
            return work()
        now.check(self.seconds * units)
        return self.measured(work, units)

    def measured(self, work: Callable[[], Same], units: float) -> Same:
        """``work()``, whether there is time for it or not."""
        begun = clock()
        done = work()
        self.seconds = (clock() - begun) / units
        return done
