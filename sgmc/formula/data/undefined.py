"""Rows in which an expression has no value although all of its columns have one, and expressions
that ask for what is missing in a column.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Bools, Frame, Ints
from sgmc.errors import DataError, FormulaError, RowsLeftOutWarning
from sgmc.formula.data.columns import is_missing, kind
from sgmc.formula.data.frames import plain_value

NUMBERS = ("number", "bool", "complex")
# what makes values missing on purpose: bins and conditions, tables of values, conversions
CHOICES = frozenset("cut where mask select replace map to_numeric nan NaN NA".split())
# calls that fill what is missing in a column, or tell where it is
OF_GAPS = frozenset("isna isnull notna notnull isnan isfinite nan_to_num".split())
OF_GAPS |= frozenset("fillna ffill bfill pad backfill interpolate combine_first coalesce".split())
GIVEN_A_GAP = frozenset(("replace", "isin"))  # such calls where a missing value is an argument
GAPS_BY_NAME = frozenset(("nan", "NaN", "NA", "NaT"))


@dataclass
class Undefined:
    """Rows where an expression is missing and its columns are not.

    Attributes
    ----------
    label : str
        The expression as written.
    rows : int or None
        How many; None for some of the rows of a table, whose places in it are not known.
    row : object
        The first of them, by its index label.
    values : str
        Those of its columns there, ``"x = -1"``.
    chosen : bool
        Whether the expression says itself what is missing: labels, as of bins, and calls of
        `CHOICES`.  Any other has left the domain of a function, such as the log of -1.
    """

    label: str
    rows: int | None
    row: object
    values: str
    chosen: bool

    def merge(self, other: "Undefined") -> None:
        """Add later rows."""
        self.rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        self.chosen &= other.chosen

    @property
    def place(self) -> str:
        """What there is at the first row, a clause."""
        what = "missing" if self.chosen else "not a number"
        place = "" if self.rows is None else f" at row {self.row!r},"
        more = "" if self.rows in (None, 1) else f" ({self.rows} such rows)"
        return f"{self.label!r} is {what}{place} where {self.values}{more}"

    def error(self) -> DataError:
        """The DataError of rows outside the domain of a function."""
        return DataError(
            f"{self.place}: change such values, leave these rows out by subset=, or make a column "
            "of it, whose gaps are missing values"
        )

    def warning(self) -> RowsLeftOutWarning:
        """The warning about rows that an expression leaves out of a fit."""
        return RowsLeftOutWarning(
            f"{self.place}: left out of the fit.", "Widen bins or conditions to keep such rows."
        )

    def new_warning(self) -> RowsLeftOutWarning:
        """The warning about new rows, of which nothing can be computed."""
        return RowsLeftOutWarning(
            f"{self.place}: what follows from such rows is NaN.", "Change their values."
        )


def gaps_of(values: Any, rows: int) -> Bools:
    """Boolean array of so many rows: where values, one or several a row, are missing."""
    if isinstance(values, pd.Series):
        return is_missing(values)
    gaps = np.asarray(pd.isna(values))
    return np.broadcast_to(gaps.any(axis=1) if gaps.ndim > 1 else gaps, (rows,))


def undefined(one: Any, frame: Frame, rows: Ints, values: Any, gaps: Bools) -> Undefined | None:
    """The `Undefined` of rows with gaps, None where their columns have these too.

    Parameters
    ----------
    one : object
        With `label`, `code` and `inputs`: placeholder -> column.
    frame : DataFrame
    rows : array of int
        Of the frame, one for each value.
    values : array_like
    gaps : array of bool
        Where values are missing.
    """
    rows = rows[gaps]
    for name in one.inputs.values():
        rows = rows[~is_missing(frame[name].iloc[rows])]
    if not len(rows):
        return None
    shown = [f"{name} = {plain_value(frame[name].iloc[rows[0]])!r}" for name in one.inputs.values()]
    words = compile(one.code, "<formula>", "eval").co_names
    labels = np.ndim(values) == 1 and kind(pd.Series(values)) not in NUMBERS
    return Undefined(
        one.label,
        len(rows),
        plain_value(frame.index[rows[0]]),
        ", ".join(shown),
        labels or not CHOICES.isdisjoint(words),
    )


def refuse_filled(expressions: Iterable[Any], counts: Mapping[str, int]) -> None:
    """FormulaError for a call such as ``x.fillna(0)`` where x has gaps: their rows are left out
    before it is evaluated, so that nothing would be filled or found.

    Parameters
    ----------
    expressions : iterable
        With `label`, `code` and `inputs`: placeholder -> column.
    counts : dict
        Column -> rows in which it is missing.
    """
    for one in expressions if counts else ():
        for call, places in calls_of_gaps(one.code):
            name = next((one.inputs[k] for k in places if one.inputs.get(k) in counts), None)
            if name is not None:
                raise FormulaError(
                    f"{one.label!r}: {call}() would have no effect, as rows in which {name!r} is "
                    f"missing ({counts[name]:,}) are left out before a formula is evaluated: fill "
                    "the column, or make a column of what is missing, before the fit, and name that"
                )


def calls_of_gaps(code: str) -> Iterator[tuple[str, list[str]]]:
    """Pairs (function, names in its call) of calls in an expression that fill or find gaps."""
    if not any(word in code for word in (*OF_GAPS, *GIVEN_A_GAP)):
        return
    for node in ast.walk(ast.parse(code.strip(), mode="eval")):
        if not isinstance(node, ast.Call):
            continue
        called = _last_name(node.func)
        given = [part for one in node.args for part in ast.walk(one)]
        asked = called in GIVEN_A_GAP and any(_is_gap(part) for part in given)
        if called in OF_GAPS or asked:
            yield called, [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


def _last_name(node: ast.AST) -> str:
    """The name behind the last dot; empty for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_gap(node: ast.AST) -> bool:
    """Whether code is a missing value."""
    return _last_name(node) in GAPS_BY_NAME or isinstance(node, ast.Constant) and node.value is None
