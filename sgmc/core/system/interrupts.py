"""Ctrl-C at moments when it would do harm: it is held back there, and acts a moment later.

Python raises KeyboardInterrupt in the main thread between any two of its instructions, also while a
thread is started, a file is renamed or a limit is taken back: locks of the standard library stay
held, limits stay in force.  While a call of the package runs, a handler of its own notes Ctrl-C in
blocks that are `unbroken`, and raises elsewhere.  Other handlers than Python's default one are left
alone, and so are other threads, where KeyboardInterrupt is never raised.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Generic, TypeVar

from sgmc.arguments.types import Same

STORM_SECONDS = 1.0  # seconds; Ctrl-C again after that acts at once, wherever it is


Value = TypeVar("Value")


class State(threading.local):
    """Of a thread: only that of the main thread has anything to hold back.

    Attributes
    ----------
    depth : int
        Of the blocks that are unbroken.
    noted : float or None
        When Ctrl-C was pressed in them, on a clock that does not jump.
    served : float
        When it was last answered by a result: what follows within STORM_SECONDS is the same Ctrl-C.
    """

    depth = 0
    noted: float | None = None
    served = -float("inf")


# a change of its attributes is one instruction, between which and the next nothing is raised
STATE = State()
UNBROKEN_ENDS: set[CodeType] = set()  # code of the methods with `unbroken_ends`


def unbroken_ends(method: Same) -> Same:
    """A method that enters or leaves a context.  Python raises at its first and last instructions,
    too, which no block inside it has: there Ctrl-C is noted as in one that is `unbroken`.
    """
    UNBROKEN_ENDS.add(method.__code__)
    return method


def has_unbroken_ends(frame: FrameType | None) -> bool:
    """Whether a method with `unbroken_ends` runs."""
    while frame is not None and frame.f_code not in UNBROKEN_ENDS:
        frame = frame.f_back
    return frame is not None


def on_ctrl_c(signum: int, frame: FrameType | None) -> None:
    """The handler of SIGINT while a call runs."""
    now = time.monotonic()
    if STATE.depth == 0 and not has_unbroken_ends(frame):
        if now - STATE.served >= STORM_SECONDS:
            raise KeyboardInterrupt
    elif STATE.noted is None:
        STATE.noted = now
    elif now - STATE.noted >= STORM_SECONDS:  # what is in the block hangs
        raise KeyboardInterrupt


class unbroken:
    """A block in which Ctrl-C is noted; it is raised after the block unless it is `taken`.

    Parameters
    ----------
    later : bool
        Not after this block, but after the next one: what an ``__enter__`` does has to be undone by
        its ``__exit__``, which is not called where ``__enter__`` raises.
    """

    def __init__(self, later: bool = False) -> None:
        self.later = later

    def __enter__(self) -> None:
        STATE.depth += 1

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        STATE.depth -= 1
        if STATE.depth == 0 and STATE.noted is not None and not self.later:
            STATE.noted = None
            if kind is None:
                raise KeyboardInterrupt


class ContextScope(Generic[Value]):
    """A block in which a context variable has another value.

    Parameters
    ----------
    variable : ContextVar
    value : object
    """

    def __init__(self, variable: ContextVar[Value], value: Value) -> None:
        self.variable, self.value = variable, value

    @unbroken_ends
    def __enter__(self) -> None:
        with unbroken(later=True):
            self.token = self.variable.set(self.value)

    @unbroken_ends
    def __exit__(self, *error: object) -> None:
        with unbroken():
            self.variable.reset(self.token)


def came() -> bool:
    """Whether Ctrl-C was pressed in a block that is unbroken."""
    return STATE.noted is not None


def taken() -> None:
    """What was noted has had its effect, and so has what follows within STORM_SECONDS."""
    if STATE.noted is not None:
        STATE.served, STATE.noted = time.monotonic(), None


def caught() -> None:
    """A KeyboardInterrupt was caught, and what follows within STORM_SECONDS belongs to it."""
    STATE.served, STATE.noted = time.monotonic(), None


@contextmanager
def handled() -> Iterator[None]:
    """A call in which blocks can be `unbroken`; one within another has nothing to do."""
    installed = False
    try:
        STATE.depth += 1
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            STATE.served = -float("inf")
            signal.signal(signal.SIGINT, on_ctrl_c)
            installed = True
        STATE.depth -= 1
        yield
    finally:
        STATE.depth += 1
        if installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        STATE.depth -= 1
        if installed and STATE.noted is not None:
            STATE.noted = None
            raise KeyboardInterrupt
