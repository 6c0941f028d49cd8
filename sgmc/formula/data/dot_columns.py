"""The columns that R's dot stands for, and why others are left out."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Frame, Series
from sgmc.formula.data.columns import is_constant, kind, levels_of
from sgmc.formula.data.labels import text_numbers

MAX_LEVELS = 50  # text with more levels stays out of the dot
UNNAMED = re.compile(r"(Unnamed: 0)?")  # what pandas calls a first column without a name
INDEX = "an index without a name"

_NOT_FOR_THE_DOT = {
    "date": "dates",
    "complex": "complex numbers",
    "other": "neither numbers nor text",
}


def columns_for_dot(
    frame: Frame, candidates: Iterable[str], rows: Any
) -> tuple[list[str], dict[str, str]]:
    """Which of the candidate columns the dot stands for.

    Parameters
    ----------
    frame : pandas.DataFrame
    candidates : sequence of str
    rows : slice or array of int
        The rows that are used.

    Returns
    -------
    kept : list of str
    left_out : dict
        Column -> reason: dates, constants, more than 50 levels, all missing, of no use as a
        predictor, the index of a table that was written to a CSV file.
    """
    reasons = {name: _reason_to_leave_out(frame[name].iloc[rows]) for name in candidates}
    first = frame.columns[0]
    if first in reasons and is_unnamed(first) and is_running(frame[first]):
        reasons[first] = INDEX
    kept = [name for name, reason in reasons.items() if reason is None]
    return kept, {name: reason for name, reason in reasons.items() if reason is not None}


def is_unnamed(name: str) -> bool:
    """Whether a first column has the name of one without."""
    return bool(UNNAMED.fullmatch(name))


def is_running(column: Series) -> bool:
    """Whether a column numbers its rows, from whatever begin."""
    if kind(column) != "number" or not len(column) or column.isna().any():
        return False
    values = column.to_numpy(np.float64)
    return bool(np.array_equal(values, values[0] + np.arange(len(values))))


def _reason_to_leave_out(column: Series) -> str | None:
    found = kind(column)
    if column.isna().all():
        return "all missing"
    if found in ("text", "category"):
        return reason_of_levels(found, levels_of(column))
    return reason_of_kind(found, lambda: is_constant(column))


def reason_of_kind(found: str, constant: Callable[[], bool]) -> str | None:
    """Why the dot leaves out a column that is no text and no category, or None.

    Parameters
    ----------
    found : str
        See `columns.kind`.
    constant : function
        Whether all its values are the same.
    """
    if found in _NOT_FOR_THE_DOT:
        return _NOT_FOR_THE_DOT[found]
    return "constant" if constant() else None


def reason_of_levels(found: str, levels: Sequence[Any]) -> str | None:
    """Why the dot leaves out a column of text or of categories with such levels, or None."""
    count = len(levels)
    if found == "text" and count > 1 and text_numbers(levels) is not None:
        return None  # an error says so: a number is not to be lost
    return f"{count} levels" if count > MAX_LEVELS else "constant" if count < 2 else None
