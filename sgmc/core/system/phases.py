"""Which phase a call is in, and the bar that shows it.

Whoever begins something that may take long names it by `begin`; where its length is known, what
`reporting` returns is told how far it is.  The bar is drawn by a thread of its own, so that the
elapsed time goes on while a phase computes, and callers only leave notes for it.  Without a bar,
nothing happens.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Literal, ParamSpec, TypeVar

from sgmc.arguments.progress import bar_class, function_of, seconds_apart, watching
from sgmc.arguments.types import Progress
from sgmc.core.system.interrupts import unbroken, unbroken_ends

SHOWN_AFTER = 1.0  # seconds, unless progress=True
TICK = 0.25  # seconds between two looks at the clock
COUNTED = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
UNCOUNTED = "{desc}: {elapsed}"  # a length that is not known has no percentage

# labels of a bar for the phases of a fit
DESIGN, MODE, TUNING = "reading the data", "finding the mode", "comparing settings"
PILOT, SAMPLING, CHECKS = "choosing sampler and step", "drawing samples", "checking the draws"

P = ParamSpec("P")
R = TypeVar("R")

LOGGER = logging.getLogger("sgmc")
_current: ContextVar["ProgressBar | Literal[False] | None"] = ContextVar(
    "phases", default=None
)  # a Bar; False: none, in all that is called, too


class watched:
    """Show the phases of a call by a bar, where ``progress=`` asks for one.

    A call within another one that has a bar uses it; within one without, it has none either, unless
    it asks.

    Parameters
    ----------
    progress : object
        As the user gave it.
    title : str
        What comes before the names of the phases.
    """

    def __init__(self, progress: Progress, title: str = "sgmc") -> None:
        self.progress, self.title = progress, title

    @unbroken_ends
    def __enter__(self) -> None:
        with unbroken(later=True):
            self.bar = self.chosen()
            self.token = _current.set(self.bar)

    def chosen(self) -> "ProgressBar | Literal[False] | None":
        """The bar, or what says that there is none."""
        progress, outer = self.progress, _current.get()
        self.own = False
        if function_of(progress) is not None or progress is False:
            return False
        if outer or progress is None and outer is False:
            return outer
        if not (progress or watching()):
            return None
        self.own = True
        return ProgressBar(self.title, 0.0 if progress else SHOWN_AFTER)

    @unbroken_ends
    def __exit__(self, *error: object) -> None:
        with unbroken():
            _current.reset(self.token)
            if self.own and self.bar:
                self.bar.finish()


def shown(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator of a method that may take long: it has a bar that names what is done,
    where somebody looks.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(method)
        def made(*given: P.args, **named: P.kwargs) -> R:
            with watched(None):
                begin(name)
                return method(*given, **named)

        return made

    return decorate


def begin(name: str) -> None:
    """Begin a phase of the call that is being served, which ends the one before."""
    bar = _current.get()
    if bar:
        bar.begin(name)


def reporting() -> Callable[[int, int], object] | None:
    """``report(done, total)`` of the phase of this call, or None where nobody looks."""
    bar = _current.get()
    return bar.report if bar else None


def counting(progress: Progress, name: str) -> Callable[[int, int], object]:
    """Begin a phase of a known number of parts: ``report(done, total)`` of the function that
    ``progress=`` is, or of the bar of this call, or one that does nothing.
    """
    begin(name)
    return function_of(progress) or reporting() or (lambda done, total: None)


def say(text: str) -> None:
    """Print a line by the logger ``sgmc``, which prints on stderr unless told otherwise; above the
    bar of this call, if it has one, and not where the user asked for none.
    """
    bar = _current.get()
    if bar:
        bar.say(text)
    elif bar is None:
        LOGGER.warning("sgmc: %s", text)


def over() -> None:
    """Take the bar away before the call ends: what is printed next has its own line."""
    bar = _current.get()
    if bar:
        bar.finish()


class ProgressBar:
    """A bar that names the phase, with its elapsed time, and its share where that is known.

    Parameters
    ----------
    title : str
        What comes before the name of the phase.
    delay : float
        Seconds before it is shown: what is over by then has no bar.
    """

    def __init__(self, title: str, delay: float) -> None:
        self.title, self.delay = title, delay
        self.phases: SimpleQueue[tuple[int, str, float] | str | None] = SimpleQueue()
        self.number = 0
        self.apart, self.drawn = seconds_apart(), 0.0  # between two drawings, and the last one
        self.counts: tuple[int, int, int] | None = None
        # in the context of the caller: notebooks know by it which cell is meant
        run = copy_context().run
        self.thread = threading.Thread(target=run, args=(self.draw,), daemon=True)
        with suppress(RuntimeError):  # where the system starts no thread, a fit has no bar
            self.thread.start()

    def begin(self, name: str) -> None:
        """Begin a phase."""
        self.number += 1
        self.phases.put((self.number, name, time.perf_counter()))

    def report(self, done: int, total: int) -> None:
        """So much of the phase is done."""
        self.counts = (self.number, done, total)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self.phases.put(text)

    def finish(self) -> None:
        """Take the bar away."""
        if self.thread.is_alive():
            self.phases.put(None)
            self.thread.join()

    def draw(self) -> None:
        """What the thread does: show phases in their order, until None is one of them."""
        shown, bar, now = time.perf_counter() + self.delay, None, None
        try:
            while True:
                try:
                    phase = self.phases.get(timeout=TICK)
                except Empty:
                    phase = now
                else:
                    if phase is None:
                        return
                    if isinstance(phase, str):
                        if bar is not None:
                            bar.clear()
                        LOGGER.warning("sgmc: %s", phase)
                        phase = now
                if phase is None or time.perf_counter() < shown:
                    now = phase
                    continue
                if bar is None:
                    bar = bar_class()(leave=False, bar_format=UNCOUNTED, desc=self.title)
                    now = None  # the phase is new to it
                self.show(bar, phase, phase is not now)
                now = phase
        finally:
            if bar is not None:
                bar.close()

    def show(self, bar: Any, phase: tuple[int, str, float], new: bool) -> None:
        """Show a phase, which may be a new one."""
        number, name, begun = phase
        if new:
            bar.set_description_str(f"{self.title}: {name}", refresh=False)
            bar.total, bar.bar_format = None, UNCOUNTED
            bar.reset(None)
        counts = self.counts
        if counts is not None and counts[0] == number and counts[2] > 0:
            _, done, total = counts
            if bar.total != total:
                bar.bar_format = COUNTED
                bar.reset(total)
            bar.n = min(done, total)
        now = time.perf_counter()
        if not new and now - self.drawn < self.apart:
            return
        # the bar's own clock is that of the wall, which may jump
        bar.start_t, self.drawn = time.time() - (now - begun), now
        bar.refresh()
