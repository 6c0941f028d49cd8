"""What the numbers in a vector may be: weights, exposures, counts, outcomes."""

import numpy as np

from sgmc.arguments.types import SameArray
from sgmc.errors import DataError

MOST_WEIGHT = 2.0**53  # beyond it a row more makes no other number
MAX_ERROR = 1e75  # standard errors whose inverse squares can be added and multiplied


def finite(
    name: str, values: SameArray, wanted: str = "finite numbers", valid: bool | np.bool_ = True
) -> SameArray:
    """Return finite numbers.

    Parameters
    ----------
    name : str
    values : ndarray, shape (n,)
    wanted : str
        What they must be, for the message.
    valid : bool
        Whether they are what else is wanted of them.

    Raises
    ------
    DataError
        If a number is missing or infinite, or they are not `valid`; states their range.
    """
    if not (np.isfinite(values).all() and valid):
        raise DataError(
            f"{name} must be {wanted}: they range from {values.min():g} to {values.max():g}"
        )
    return values


def weights(name: str, values: SameArray) -> SameArray:
    """Return numbers of which none is negative and one is positive, and whose sum counts rows.

    Raises
    ------
    DataError
        If there is a negative, missing or infinite one, or all are 0, or more than float64 counts.
    """
    valid = (values >= 0).all() and values.any()
    finite(name, values, "finite numbers, zero or more, with a positive sum", valid)
    wanted = f"at most {MOST_WEIGHT:.0e} in all, the rows that float64 counts; divide them"
    return finite(name, values, wanted, values.sum() <= MOST_WEIGHT)


def exposures(name: str, values: SameArray) -> SameArray:
    """Return positive numbers.

    Raises
    ------
    DataError
        If there is a negative, missing or infinite one, or a 0.
    """
    return finite(name, values, "finite numbers, positive", (values > 0).all())


def standard_errors(name: str, values: SameArray) -> SameArray:
    """Return positive numbers whose squares and inverse squares are numbers.

    Raises
    ------
    DataError
        For a number that is none of these; states the first such number.
    """
    wrong = ~((values > 1 / MAX_ERROR) & (values < MAX_ERROR))
    if wrong.any():
        raise DataError(
            f"{name} must hold standard errors, positive and finite; it has {values[wrong][0]:g}: "
            "leave out outcomes whose standard error is not known, or change their units"
        )
    return values


def counts(name: str, values: SameArray, place: str = "") -> SameArray:
    """Return counts: 0, 1, 2, ..

    Parameters
    ----------
    name : str
    values : ndarray
    place : str, optional
        What a row is called, for a message that names the row: ``"step"``.  Then NaN passes.

    Raises
    ------
    DataError
        If a number is negative, not whole, missing or infinite; states the first such number.
    """
    wrong = ~((values >= 0) & (values == np.floor(values)) & np.isfinite(values))
    wrong &= ~np.isnan(values) if place else True
    if wrong.any():
        row = f" at {place} {np.argwhere(wrong)[0][0]}" if place else ""
        raise DataError(f"{name} must hold counts, 0, 1, 2, ..; it has {values[wrong][0]:g}{row}")
    return values


def positives(name: str, values: SameArray) -> SameArray:
    """Return positive numbers.

    Raises
    ------
    DataError
        If a number is not positive; states the first such number.
    """
    if not (values > 0).all():
        raise DataError(f"{name} must be positive; it has {values[~(values > 0)][0]:g}")
    return values


def proportions(name: str, values: SameArray) -> SameArray:
    """Return numbers between 0 and 1, both excluded.

    Raises
    ------
    DataError
        If one is not; states how many are 0 and 1, or the first that is no proportion at all.
    """
    beyond = ~((values >= 0) & (values <= 1))
    if beyond.any():
        raise DataError(
            f"{name} must lie between 0 and 1; it has {values[beyond][0]:g}: divide percentages by "
            "100"
        )
    ends = [(end, int((values == end).sum())) for end in (0, 1) if end in values]
    if ends:
        found = " and ".join(f"{end} in {n} row{'s' * (n > 1)}" for end, n in ends)
        raise DataError(
            f"{name} must lie between 0 and 1, both excluded, where the density is finite; it is "
            f"{found}: leave those rows out with subset=, move all outcomes inwards, e.g. by "
            "(y * (n - 1) + 0.5) / n for n rows, or for shares of counts use "
            "sgmc.logit('successes + failures ~ ...')"
        )
    return values


def varying(name: str, values: SameArray, why: str = "there is nothing to explain") -> SameArray:
    """Return numbers that are not all the same.

    Raises
    ------
    DataError
        If they are.
    """
    if values.min() == values.max():
        raise DataError(f"{name} is {values[0]:g} in every row used: {why}")
    return values


def binary(name: str, values: SameArray) -> SameArray:
    """Return numbers that are 0 or 1.

    Raises
    ------
    DataError
        If one is neither.
    """
    if not np.isin(values, (0.0, 1.0)).all():
        raise DataError(f"{name} must be 0 or 1 (or bool, or two levels); recode it first")
    return values
