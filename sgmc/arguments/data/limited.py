"""Outcomes that are known in part: censored ones lie between two ends, truncated ones would not be
there beyond two others.  All four are kept as one record a row, so that outcomes are a vector,
which is sliced, permuted and kept as any other.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.types import Array, Bools, Floats, Frame
from sgmc.errors import ArgumentError, DataError

Ends: TypeAlias = NDArray[np.void]

# an outcome lies from low to high, which are equal where it was observed; it could only be seen
# from above to below
NAMES = ("low", "high", "above", "below")
ENDS = np.dtype([(name, np.float64) for name in NAMES])
RIGHT, LEFT = -1.0, -2.0  # imaginary parts of censored times, see `sgmc.arguments.data.survival`
KINDS = {"left": -1.0, "none": 0.0, "right": 1.0, "interval": 2.0}
CODES = '"left" or -1, "none" or 0, "right" or 1, "interval" or 2'


def cens(y: ArrayLike, c: ArrayLike, y2: ArrayLike | None = None) -> Frame | Ends:
    """Make outcomes, some of them censored, into those of `sgmc.ols`, `sgmc.poisson` and
    `sgmc.negativebinomial`; the codes are those of brms.

    In a formula: ``"cens(y, c) ~ x"``, ``"cens(y, c, y2=upper) ~ x"``.  For arrays:
    ``sgmc.OLS(sgmc.cens(y, c), X)``.

    A censored outcome counts by the probability of what is known of it.  Of counts both ends
    belong to it: ``"right"`` is y or more, ``"left"`` y or less, ``"interval"`` from y to y2.

    Parameters
    ----------
    y : array_like (n,)
        Outcomes; of censored ones the end that is known, of intervals the lower one.
    c : array_like (n,), or one code for all
        How each is censored: ``"left"`` or -1, the outcome is less than y; ``"none"`` or 0, it is
        y; ``"right"`` or 1, it is more; ``"interval"`` or 2, it lies between y and y2.  False is 0,
        True is 1.
    y2 : array_like (n,), optional
        Upper ends of intervals; in other rows it has no effect, and may be missing.

    Returns
    -------
    DataFrame or structured ndarray, (n,)
        Columns ``low`` and ``high``, between which outcomes lie, ``above`` and ``below``, between
        which they could be seen; NaN where y or c is missing.

    Raises
    ------
    DataError
        For other codes, intervals without an upper end, and intervals that end before they begin.
    """
    value, kind = column("cens: the outcome", y), kinds_of(c)
    kind = np.repeat(kind, len(value)) if np.ndim(c) == 0 else kind
    upper = np.full(len(value), np.nan) if y2 is None else column("cens: y2", y2)
    if not len(value) == len(kind) == len(upper):
        raise DataError(
            f"cens: there are {len(value)} outcomes, {len(kind)} codes and {len(upper)} values of "
            "y2; give one of each per row"
        )
    between = kind == KINDS["interval"]
    if between.any() and y2 is None:
        raise DataError("cens: some rows are intervals: name their upper ends, cens(y, c, y2=...)")
    wrong = between & (value > upper)
    if wrong.any():
        raise DataError(
            f"cens: an interval from {value[wrong][0]:g} to {upper[wrong][0]:g} ends before it "
            "begins"
        )
    made = np.empty(len(value), ENDS)
    made["low"] = np.where(kind == KINDS["left"], -np.inf, value)
    made["high"] = np.where(kind == KINDS["right"], np.inf, np.where(between, upper, value))
    made["above"], made["below"] = -np.inf, np.inf
    return as_given(without_gaps(made, np.isnan(value) | np.isnan(kind)), y)


def trunc(y: Any, low: ArrayLike | None = None, high: ArrayLike | None = None) -> Frame | Ends:
    """Make outcomes that are only seen between two bounds into those of `sgmc.ols`,
    `sgmc.poisson`, `sgmc.negativebinomial` and `sgmc.survreg`.

    In a formula: ``"trunc(y, low=1) ~ x"``, ``"trunc(Surv(time, event), low=entry) ~ x"``.  For
    arrays: ``sgmc.OLS(sgmc.trunc(y, low=0), X)``.

    The density of an outcome is divided by the probability of what could be seen.  Of counts both
    bounds can be seen: counts without zeros are ``trunc(y, low=1)``.

    Parameters
    ----------
    y : array_like (n,), or what `cens` or `Surv` makes
        Outcomes.
    low, high : float or array_like (n,), optional
        Bounds, the same for all rows or one a row; infinite, or None, where there is none.

    Returns
    -------
    DataFrame or structured ndarray, (n,)
        As `cens`; NaN where the outcome or a bound is missing.

    Raises
    ------
    DataError
        For outcomes beyond their bounds, and bounds that are not in order.
    """
    made = limited(y if is_limited(y) else column("trunc: the outcome", y)).copy()
    for name, given in (("above", low), ("below", high)):
        if given is None:
            continue
        bound = column(f"trunc: {'low' if name == 'above' else 'high'}", np.atleast_1d(given))
        if len(bound) not in (1, len(made)):
            raise DataError(
                f"trunc: there are {len(made)} outcomes and {len(bound)} bounds; give one number, "
                "or one per row"
            )
        both = np.maximum if name == "above" else np.minimum
        made[name] = both(made[name], bound)  # NaN where either is
    wrong = made["above"] >= made["below"]
    if wrong.any():
        above, below = made["above"][wrong][0], made["below"][wrong][0]
        raise DataError(f"trunc: low={above:g} must be less than high={below:g}")
    outside = (made["high"] < made["above"]) | (made["low"] > made["below"])
    observed = made["low"] == made["high"]
    outside |= observed & ((made["low"] < made["above"]) | (made["low"] > made["below"]))
    if outside.any():
        one = made[outside][0]
        raise DataError(
            f"trunc: an outcome of {numbers_of_ends(made[outside])[0]:g} lies outside its bounds, "
            f"{one['above']:g} to {one['below']:g}, where it could not be seen: change the bounds, "
            "or leave such rows out"
        )
    # what is censored lies within the bounds, too
    made["low"] = np.maximum(made["low"], made["above"])
    made["high"] = np.minimum(made["high"], made["below"])
    return as_given(without_gaps(made, np.isnan(made["low"]) | np.isnan(made["high"])), y)


def column(name: str, values: Any) -> Floats:
    """A vector of numbers, NaN where missing."""
    values = numeric(name, values)
    if values.ndim != 1:
        raise DataError(f"{name} has shape {values.shape}; it must be one number per row")
    return values.astype(float)


def kinds_of(c: Any) -> Floats:
    """Codes of censoring as numbers, NaN where missing."""
    import pandas as pd

    codes = pd.Series(np.asarray(c, dtype=object).ravel())
    found = codes.map(lambda one: KINDS.get(one, one) if isinstance(one, str) else one)
    found = pd.to_numeric(found, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = ~np.isin(found, list(KINDS.values())) & codes.notna().to_numpy()
    if wrong.any():
        name = getattr(c, "name", None) or "c"
        raise DataError(
            f"cens: {codes[wrong].iloc[0]!r} in {name!r} is no kind of censoring; use {CODES}"
        )
    return found


def without_gaps(made: Ends, missing: Bools) -> Ends:
    """The same records, all NaN where something is missing."""
    made[missing | np.isnan(made["high"])] = np.nan
    return made


def as_given(made: Ends, y: Any) -> Frame | Ends:
    """Records as a frame with the index of what they were made from, where that has one."""
    index = getattr(y, "index", None)
    return framed(made, index) if hasattr(index, "equals") else made


def framed(y: Any, index: Any = None) -> Frame:
    """Records as a frame, with an index; without one numbered."""
    import pandas as pd

    made = limited(y)
    return pd.DataFrame({name: made[name] for name in NAMES}, index)


def is_limited(y: Any) -> bool:
    """Return whether outcomes are records or a frame of them, or times of `Surv`."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    return kind == "c" or is_records(y)


def is_records(y: Any) -> bool:
    """Return whether outcomes are records, as an array or a frame."""
    dtype = getattr(y, "dtype", None)
    if dtype is not None:
        return bool(dtype == ENDS)
    return tuple(getattr(y, "columns", ())) == NAMES


def limited(y: Any) -> Ends:
    """Outcomes of any kind as records of their ends, of the same shape: numbers were observed."""
    if getattr(y, "dtype", None) == ENDS:
        return np.asarray(y)
    if is_records(y):
        values = y.to_numpy(float)
        made = np.empty(len(values), ENDS)
        for k, name in enumerate(NAMES):
            made[name] = values[:, k]
        return made
    values = np.asarray(y)
    made = np.empty(values.shape, ENDS)
    made["above"], made["below"] = -np.inf, np.inf
    if values.dtype.kind != "c":
        made["low"] = made["high"] = values
        return made
    time, known = values.real, values.imag
    made["low"] = np.where(known == LEFT, -np.inf, time)
    made["high"] = np.where(known == RIGHT, np.inf, np.where(known > 0, known, time))
    return made


def records(name: str, y: Any) -> Ends:
    """Outcomes that are known in part as records, checked."""
    made = limited(y)
    if made.ndim != 1:
        raise DataError(f"{name} has shape {made.shape}; it must be one outcome a row")
    if np.isnan(made["low"]).any():
        raise DataError(f"{name} has missing values; drop those rows first")
    return made


def numbers_of_ends(y: Ends) -> Floats:
    """A number for each record: the outcome, the end that is known, the middle of two."""
    low, high = y["low"], y["high"]
    low, high = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
    return low + (high - low) / 2


def as_numbers(y: Array) -> Floats:
    """Outcomes themselves, of records a number for each."""
    return numbers_of_ends(y) if is_records(y) else y


def is_observed(y: Ends) -> Bools:
    """Whether each outcome was observed."""
    return y["low"] == y["high"]


def is_bounded(y: Ends) -> Bools:
    """Whether each outcome is known from both sides."""
    return np.isfinite(y["low"]) & np.isfinite(y["high"])


def is_truncated(y: Ends) -> Bools:
    """Whether each outcome could only be seen between bounds."""
    return (y["above"] > -np.inf) | (y["below"] < np.inf)


def columns_of(y: Array) -> tuple[Floats, ...]:
    """Outcomes as columns of numbers: of those known in part all their ends."""
    return tuple(y[name] for name in NAMES) if is_records(y) else (y,)


def refuse_records(name: str, why: str) -> ArgumentError:
    """The error of a model that takes no outcomes known in part."""
    return ArgumentError(
        f"cens() and trunc() do not apply to {name}: {why}; they go with ols, poisson and "
        "negativebinomial, and trunc() with survreg, whose Surv() has censored times"
    )
