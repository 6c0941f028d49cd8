"""Times that may be censored, and how they are kept: one complex number a row.

The real part is a time.  The imaginary part says what is known of it: 0, the event was at that
time; -1, after it (censored on the right); -2, before it (on the left); a positive number, between
it and that number.  So outcomes are one vector, which is sliced, permuted and kept as any other.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.arrays import numeric, vector
from sgmc.arguments.types import Array, Complexes, Floats, Series
from sgmc.errors import ArgumentError, DataError

TYPES = ("right", "left", "interval2")
RIGHT, LEFT = -1.0, -2.0
EVENTS = ("dead", "died", "death", "event", "failed", "failure", "relapse", "yes", "true", "1")
CODES = (
    "1 where the event was seen and 0 where the time is censored: write a comparison, as in "
    "Surv(time, status == 2)"
)


def Surv(
    time: ArrayLike, event: ArrayLike | None = None, type: str = "right"
) -> Series | Complexes:  # R's names
    """Make times, some of them censored, into the outcomes of `sgmc.survreg`, as R's ``Surv``.

    In a formula: ``"Surv(time, event) ~ x"``, ``"Surv(lower, upper, type='interval2') ~ x"``.  For
    arrays: ``sgmc.Survreg(sgmc.Surv(time, event), X)``.

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

    Returns
    -------
    Series or ndarray of complex, (n,)
        NaN where time or event is missing.

    Raises
    ------
    ArgumentError
        For an unknown type, or ``"left"`` or ``"interval2"`` without a second argument.
    DataError
        For events that are not 0 or 1, and intervals that end before they begin.
    """
    if not isinstance(type, str):
        raise DataError(
            "Surv(start, stop, event): left truncation, rows that enter after time 0, is not "
            "supported; write Surv(stop, event) where every row enters at 0"
        )
    if type not in TYPES:
        truncated = "; left truncation is not supported" * (type == "counting")
        raise ArgumentError(
            f"Surv: type={type!r} must be one of {', '.join(map(repr, TYPES))}{truncated}"
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


def uncensored(name: str, endog: object) -> Complexes:
    """Outcomes as complex numbers: those of `Surv`, or numbers, times that were all observed."""
    values = np.asarray(endog)
    if values.dtype.kind != "c":
        return vector(name, endog).astype(complex)
    if values.ndim != 1:
        raise DataError(f"{name} has shape {values.shape}; it must be one time a row")
    if np.isnan(values).any():
        raise DataError(f"{name} has missing values; drop those rows first")
    return values


def logs_of(y: Array) -> Floats:
    """Logs of times, of intervals that of the middle of their logs' ends."""
    known = np.imag(y)
    low = np.log(np.real(y))
    return np.where(known > 0, (low + np.log(np.where(known > 0, known, 1.0))) / 2, low)


def check_times(name: str, y: Array) -> None:
    """Raise DataError for times that are not positive and finite, and where no time is known but
    from one side, or all are the same.
    """
    time, known = np.real(y), np.imag(y)
    wrong = ~((time > 0) & np.isfinite(time) & np.isfinite(known))
    if wrong.any():
        raise DataError(
            f"{name} must hold positive, finite times; it has {time[wrong][0]:g}: a time of 0 has "
            "no log; leave such rows out, or add half of the unit that times are rounded to"
        )
    if (known < 0).all():
        raise DataError(
            f"{name} has no event: every time is censored, which leaves the scale of the times "
            f"unbounded; an event is {CODES}"
        )
    if (known == 0).all() and time.min() == time.max():
        raise DataError(f"{name} is {time[0]:g} in every row used: there is nothing to explain")
