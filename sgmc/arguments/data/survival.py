"""Times that may be censored, and how `Surv` has them: one complex number a row.

The real part is a time.  The imaginary part says what is known of it: 0, the event was at that
time; -1, after it (censored on the right); -2, before it (on the left); a positive number, between
it and that number.  Models have them, and times of delayed entry, as `sgmc.arguments.data.limited`
does.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.arrays import numeric, vector
from sgmc.arguments.data.limited import (
    LEFT,
    RIGHT,
    Ends,
    is_bounded,
    is_limited,
    limited,
    numbers_of_ends,
    records,
    trunc,
)
from sgmc.arguments.types import Array, Complexes, Floats, Frame, Series
from sgmc.errors import ArgumentError, DataError

TYPES = ("right", "left", "interval2")
EVENTS = ("dead", "died", "death", "event", "failed", "failure", "relapse", "yes", "true", "1")
CODES = (
    "1 where the event was seen and 0 where the time is censored: write a comparison, as in "
    "Surv(time, status == 2)"
)


def Surv(
    time: ArrayLike, event: ArrayLike | None = None, type: str | ArrayLike = "right"
) -> Series | Complexes | Frame | Ends:  # R's names
    """Make times, some of them censored, into the outcomes of `sgmc.survreg`, as R's ``Surv``.

    In a formula: ``"Surv(time, event) ~ x"``, ``"Surv(lower, upper, type='interval2') ~ x"``,
    ``"Surv(entry, time, event) ~ x"``.  For arrays: ``sgmc.Survreg(sgmc.Surv(time, event), X)``.

    Parameters
    ----------
    time : array_like (n,)
        Positive times; for ``"interval2"`` the lower ends of intervals.
    event : array_like (n,), optional
        1 or True where the event was at that time, 0 or False where the time is censored; None: all
        times were observed.  For ``"interval2"`` the upper ends.
    type : {"right", "left", "interval2"}
        What a censored time means: the event was later, or earlier.  ``"interval2"``: it was
        between two ends, which are equal for a time that was observed; an upper end that is
        infinite or missing is censored on the right, a lower one that is 0 or missing on the left.
        Or an array, the third of ``Surv(entry, time, event)``, R's counting process: the row was
        there from `entry` on (left truncation), and counts given that the event was later.

    Returns
    -------
    Series or ndarray of complex, (n,); with an entry what `sgmc.trunc` returns
        NaN where time or event is missing.

    Raises
    ------
    ArgumentError
        For an unknown type, or ``"left"`` or ``"interval2"`` without a second argument.
    DataError
        For events that are not 0 or 1, and intervals that end before they begin.
    """
    if not isinstance(type, str):
        return entered(time, event, type)
    if type not in TYPES:
        counting = ": write Surv(entry, time, event)" * (type == "counting")
        raise ArgumentError(
            f"Surv: type={type!r} must be one of {', '.join(map(repr, TYPES))}{counting}"
        )
    if event is None and type != "right":
        raise ArgumentError(
            f"Surv: type={type!r} needs a second argument: Surv(time, event, type={type!r})"
        )
    if isinstance(event, str):
        raise ArgumentError(f"Surv: {event!r} must be named: type={event!r}")
    refuse_text(time, event, type)
    first = column("the time", time)
    second = None if event is None else column("the event", event)
    if second is not None and len(first) != len(second):
        raise DataError(f"Surv: there are {len(first)} times and {len(second)} events")
    if second is not None and type == "interval2":
        made = of_ends(first, second)
    else:
        made = of_events(first, second, type)
    index = getattr(time, "index", None)
    if hasattr(index, "equals"):
        import pandas as pd

        return pd.Series(made, index, name=named(time, event))
    return made


def entered(entry: Any, time: Any, event: Any) -> Frame | Ends:
    """Times of rows that were seen from an entry on, and would not be there had the event been
    before it.
    """
    refuse_text(entry, None, "right")
    first, last = column("the entry", entry), column("the time", time)
    if len(first) == len(last) and (wrong := first >= last).any():
        raise DataError(
            f"Surv: an entry at {first[wrong][0]:g} is not before its time, {last[wrong][0]:g}: "
            "the arguments are Surv(entry, time, event)"
        )
    return trunc(Surv(time, event), low=entry)


def refuse_text(time: Any, event: Any, type: str) -> None:
    """Raise DataError for times and events that are text, naming what makes numbers of them."""
    ends = (("time", time), ("end", event if type == "interval2" else None))
    for what, values in ends:
        if found := texts_in(values):
            column = getattr(values, "name", None) or "time"
            raise DataError(
                f"Surv: the {what} must hold numbers, it holds text such as {found[0]!r}: convert "
                f"it first, pd.to_numeric(df[{column!r}])"
            )
    if found := texts_in(event):
        column = getattr(event, "name", None) or "status"
        one = next((label for label in found if label.strip().lower() in EVENTS), found[-1])
        raise DataError(
            f"Surv: the event {column!r} holds text, {', '.join(map(repr, found[:3]))}: compare it "
            f"with the label of an event, as in Surv(time, {column} == {one!r})"
        )


def texts_in(values: Any) -> list[str]:
    """The different texts in a column, a list; empty for None."""
    held = np.ravel(np.asarray(() if values is None else values))
    numbers = held.dtype.kind in "biufcmM"
    return [] if numbers else [str(one) for one in dict.fromkeys(held) if isinstance(one, str)]


def column(name: str, values: Any) -> Floats:
    """A vector of numbers, NaN where missing."""
    values = numeric(f"Surv: {name}", values)
    if values.ndim != 1:
        raise DataError(f"Surv: {name} has shape {values.shape}; it must be one number a row")
    return values.astype(float, copy=False)


def named(time: Any, event: Any) -> str:
    """The call as text, of Series that have names."""
    names = [str(getattr(one, "name", None) or "...") for one in (time, event) if one is not None]
    return f"Surv({', '.join(names)})"


def of_events(time: Floats, event: Floats | None, type: str) -> Complexes:
    """Times with events."""
    made = time.astype(complex)
    if event is None:
        return made
    wrong = ~(np.isin(event, (0.0, 1.0)) | np.isnan(event))
    if wrong.any():
        raise DataError(f"Surv: the event is {event[wrong][0]:g} in some row; it must be {CODES}")
    made.imag[event == 0] = RIGHT if type == "right" else LEFT
    made[np.isnan(time) | np.isnan(event)] = np.nan
    return made


def of_ends(lower: Floats, upper: Floats) -> Complexes:
    """Intervals."""
    early, late = ~(lower > 0) & ~(lower < 0), np.isnan(upper) | (upper == np.inf)
    early |= lower == -np.inf
    wrong = (lower > upper) & ~early & ~late
    if wrong.any():
        raise DataError(
            f"Surv: an interval from {lower[wrong][0]:g} to {upper[wrong][0]:g} ends before it "
            "begins"
        )
    made = np.where(early, upper, lower).astype(complex)
    made.imag = np.where(early, LEFT, np.where(late, RIGHT, np.where(upper > lower, upper, 0.0)))
    made[early & late] = np.nan
    return made


def uncensored(name: str, endog: Any) -> Ends:
    """Outcomes as records of their ends: those of `Surv` and `trunc`, or numbers, times that were
    all observed.
    """
    if not is_limited(endog):
        return limited(vector(name, endog))
    return records(name, endog)


def logs_of(y: Array) -> Floats:
    """Logs of times, of intervals that of the middle of their logs' ends."""
    made = limited(y).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        made["low"], made["high"] = np.log(np.maximum(made["low"], 0.0)), np.log(made["high"])
    return numbers_of_ends(made)


def check_times(name: str, y: Array) -> None:
    """Raise DataError for times that are not positive and finite, and where no time is known but
    from one side, or all are the same.
    """
    y = limited(y)
    low, high = y["low"], y["high"]
    ends = np.where(low > -np.inf, low, high), np.where(high < np.inf, high, low)
    wrong = ~((ends[0] > 0) & np.isfinite(ends[0]) & np.isfinite(ends[1]))
    wrong &= ~((low == y["above"]) & (high > 0))  # censored at the left of a delayed entry
    if wrong.any():
        raise DataError(
            f"{name} must hold positive, finite times; it has {ends[0][wrong][0]:g}: a time of 0 "
            "has no log; leave such rows out, or add half of the unit that times are rounded to"
        )
    if not is_bounded(y).any():
        raise DataError(
            f"{name} has no event: every time is censored, which leaves the scale of the times "
            f"unbounded; an event is {CODES}"
        )
    if (low == high).all() and low.min() == low.max():
        raise DataError(f"{name} is {low[0]:g} in every row used: there is nothing to explain")
