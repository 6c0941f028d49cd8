"""Single numbers: whole, positive, within an interval."""

import math
import numbers
from typing import Any, Literal, TypeGuard, overload

from sgmc.arguments.messages import must_be
from sgmc.errors import ArgumentError

MOST = 10**12  # of anything that is counted; rows times such counts would not overflow 64 bits

# scales and steps: their squares, and 1 / those, are numbers
SMALLEST_SCALE, LARGEST_SCALE = 1e-150, 1e150


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number, of Python or numpy; bools are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, of Python or numpy; bools are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@overload
def whole(
    name: str,
    value: object,
    low: float = 0,
    high: float | None = None,
    *,
    none: Literal[False] = False,
    advice: str = "",
) -> int: ...
@overload
def whole(
    name: str,
    value: object,
    low: float = 0,
    high: float | None = None,
    *,
    none: bool,
    advice: str = "",
) -> int | None: ...
def whole(
    name: str,
    value: object,
    low: float = 0,
    high: float | None = None,
    *,
    none: bool = False,
    advice: str = "",
) -> int | None:
    """Return a whole number as an int.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : object
    low, high : int
        The least and the largest number allowed; no `high` means `MOST`.
    none : bool, default False
        Whether None is allowed, and returned.
    advice : str, optional
        What to do, for the message.

    Returns
    -------
    int or None

    Raises
    ------
    ArgumentError
        If the value is not a whole number in this range.
    """
    if value is None and none:
        return None
    most = math.inf if high is None else high
    if not is_whole(value) or not low <= value <= most:
        wanted = (
            f"a whole number, at least {low}"
            if most == math.inf
            else f"a whole number from {low} to {high}"
        )
        raise must_be(name, value, wanted, advice)
    if value > MOST:
        raise ArgumentError(f"{name}={value!r} is too many: at most {MOST:.0e}")
    return int(value)


def sizes(name: str, value: object, wanted: str) -> tuple[int, ...]:
    """Return one or several whole numbers, each at least 1, as a tuple of int.

    Parameters
    ----------
    name : str
    value : object
        A whole number, or a tuple or list of them, which may be empty.
    wanted : str
        What it must be, for the message.

    Returns
    -------
    tuple of int

    Raises
    ------
    ArgumentError
        If the value is neither.
    """
    listed = (value,) if is_whole(value) else value
    if not (isinstance(listed, (tuple, list)) and all(is_whole(k) and k > 0 for k in listed)):
        raise must_be(name, value, wanted)
    return tuple(int(k) for k in listed)


def number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, advice: str = ""
) -> float:
    """Return a finite number in an open interval as a float.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : object
        An array without dimensions, of any library, is the number in it.
    low, high : float
        Ends of the interval, neither of which is allowed itself.
    advice : str, optional
        What to do, for the message.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        If the value is not a number in this interval.
    """
    found = value.item() if getattr(value, "ndim", None) == 0 else value
    try:
        found = float(found) if is_number(found) else math.nan
    except OverflowError:  # a whole number beyond all floats
        found = math.inf
    if not low < found < high:
        raise must_be(name, value, interval_text(low, high), advice)
    return found


def interval_text(low: float, high: float) -> str:
    """Return the numbers of an open interval in words: ``"a positive number"``."""
    if low == 0 and high == math.inf:
        return "a positive number"
    if low == -math.inf or high == math.inf:
        ends = [f"above {low:g}"] * (low > -math.inf) + [f"below {high:g}"] * (high < math.inf)
        return f"a number {ends[0]}" if ends else "a finite number"
    return f"a number between {low:g} and {high:g}"


@overload
def positive(
    name: str,
    value: object,
    *,
    none: Literal[False] = False,
    infinite: bool = False,
    advice: str = "",
) -> float: ...
@overload
def positive(
    name: str, value: object, *, none: bool, infinite: bool = False, advice: str = ""
) -> float | None: ...
def positive(
    name: str, value: object, *, none: bool = False, infinite: bool = False, advice: str = ""
) -> float | None:
    """Return a positive number as a float.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : object
    none : bool, default False
        Whether None is allowed, and returned.
    infinite : bool, default False
        Whether infinity is allowed.
    advice : str, optional
        What to do, for the message.

    Returns
    -------
    float or None

    Raises
    ------
    ArgumentError
        If the value is not a positive number.
    """
    if value is None and none or infinite and is_number(value) and value == math.inf:
        return value
    return number(name, value, 0, advice=advice)


def fraction(name: str, value: object, *, advice: str = "") -> float:
    """Return a number between 0 and 1, neither of them, as a float.

    Raises
    ------
    ArgumentError
        If the value is not such a number.
    """
    return number(name, value, 0, 1, advice=advice)


def level(alpha: object) -> float:
    """Return `alpha`, the probability outside of an interval.

    Raises
    ------
    ArgumentError
        If it is not between 0 and 1.
    """
    return fraction("alpha", alpha, advice="give e.g. 0.05 for 95 % intervals")
