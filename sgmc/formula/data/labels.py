"""Text that is no factor: numbers stored as text, free text, identifiers of rows.

It is recognised from the levels of a column, before a design of one column a level is built.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.messages import labels_text
from sgmc.arguments.types import Series
from sgmc.errors import DataError, TextNumbersWarning
from sgmc.formula.data.columns import kind, types_of

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
WHOLE = re.compile(r"\s*[+-]?\d+(\.0*)?\s*")  # "2.0" is a 2 that went through floats
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*")
DECIMAL = re.compile(r"\s*[+-]?\d+,\d+\s*")
SIGNS = frozenset("$€£¥₹%")
NO_SIGNS = str.maketrans("", "", "".join(SIGNS))
CODE = re.compile(r"\s*0\d")  # "0123": a label made of digits, such as a postal code
MISSING = ("", "nan", "none", "na", "n/a", "<na>", "nat", "null")
MOSTLY = 0.9  # share of levels that are numbers, from which on the rest stands for missing ones
MANY_LEVELS = 50  # levels up to which a factor is taken for one, however few rows there are
ROWS_A_LEVEL = 2  # fewer, of more than MANY_LEVELS: identifiers, each with a coefficient of its own
ROWS_A_TEXT = 5  # fewer, of levels of WORDS words and more: free text
WORDS = 5
MOST_COUNTED = 1000  # levels whose words are counted, evenly
LEVELS_SHOWN = 3


@dataclass(frozen=True)
class TextNumbers:
    """Levels of text that are numbers.

    Attributes
    ----------
    others : list of str
        The few levels that are none.
    signs : str
        What has to go before they are: currencies, percent, commas between thousands.
    decimal : bool
        Whether a comma stands in the place of the decimal point.
    whole : bool
        Whether all are digits, as those of codes, and not measured.
    """

    others: list[Any]
    signs: str
    decimal: bool
    whole: bool

    def conversion(self, name: str) -> str:
        """The line of pandas that makes numbers of the column."""
        text = f"df[{name!r}]"
        if self.signs:
            text += f".str.replace('[{self.signs}]', '', regex=True)"
        if self.decimal:
            text += ".str.replace(',', '.')"
        return f"pd.to_numeric({text}{', errors=' + repr('coerce') if self.others else ''})"


def refuse_levels(name: str, found: str, rows: int, levels: Sequence[Any]) -> None:
    """Raise DataError where the levels of a factor are no categories.

    Parameters
    ----------
    name : str
        Of the column.
    found : str
        Its kind, see `columns.kind`.
    rows : int
        That are used.
    levels : tuple
        Those that occur.

    Raises
    ------
    DataError
        Naming the column and what to do.
    """
    meant, count = f"C({quoted(name)}) if these are categories", len(levels)
    numbers = text_numbers(levels) if found == "text" else None
    if numbers is not None and not are_codes(numbers, rows, count):
        others = f", and {shown(numbers.others)}" if numbers.others else ""
        raise DataError(
            f"column {name!r} holds numbers stored as text, such as {shown(levels)}{others}: "
            f"convert them first, {numbers.conversion(name)}, or write {meant}"
        )
    if found not in ("text", "category") or count <= MANY_LEVELS:
        return
    free = found == "text" and words(levels) >= WORDS
    if rows >= (ROWS_A_TEXT if free else ROWS_A_LEVEL) * count:
        return
    what = "free text" if free else "an identifier"
    raise DataError(
        f"column {name!r} has {count} different values in {rows} rows, such as "
        f"{shown(levels, 1)}: {what}, no factor; leave it out, join levels to at least "
        f"{ROWS_A_LEVEL} rows each, or write {meant}"
    )


def are_codes(numbers: TextNumbers, rows: int, count: int) -> bool:
    """Whether numbers that are text are labels of a factor: digits, as of ``period.astype(str)``,
    in few levels of more than one row.
    """
    return numbers.whole and count <= MANY_LEVELS and rows >= ROWS_A_LEVEL * count


def note_of_levels(name: str, found: str, levels: Sequence[Any]) -> TextNumbersWarning | None:
    """The warning about digits that are read as a factor; None for any other levels."""
    numbers = text_numbers(levels) if found == "text" else None
    if numbers is None:
        return None
    others = f"; {shown(numbers.others)} is also a level" if numbers.others else ""
    return TextNumbersWarning(
        f"column {name!r} holds digits as text and is read as a factor of {len(levels)} levels, "
        f"{shown(levels)}{', ...' * (len(levels) > LEVELS_SHOWN)}{others}.",
        f"For a single slope convert it first, {numbers.conversion(name)}; write C({quoted(name)}) "
        "to confirm that levels are meant.",
    )


def text_numbers(levels: Sequence[Any]) -> TextNumbers | None:
    """The `TextNumbers` of levels of text, None where these do not hold numbers.

    All levels have to be numbers but for MOSTLY and those that stand for missing values.  Digits
    after a leading zero are labels.
    """
    allowed, others = int((1 - MOSTLY) * len(levels)), []
    signs: set[str] = set()
    decimal, whole = False, True
    for level in levels:
        if CODE.match(level):
            return None
        bare = level.translate(NO_SIGNS)
        signs |= SIGNS & {*level}
        if NUMBER.fullmatch(bare):
            whole &= WHOLE.fullmatch(level) is not None
        elif THOUSANDS.fullmatch(bare):
            signs.add(",")
        elif DECIMAL.fullmatch(bare):
            decimal = True
        else:
            others.append(level)
            allowed += level.strip().lower() in MISSING
            if len(others) > allowed:
                return None
    if len(others) == len(levels):
        return None
    if decimal:  # commas are points then, not between thousands
        signs.discard(",")
    written = "".join(sorted(signs))
    return TextNumbers(others, written, decimal, whole and not signs and not decimal)


def number_of_dates(name: str, held: Any) -> str:
    """What a column of dates, times or durations holds, and a number of it: the end of a message.

    Parameters
    ----------
    name : str
    held : str or dtype
        The type, or the types of objects.
    """
    held = str(held)
    objects = held[0].isupper() or held in ("date", "datetime", "time", "timedelta")
    if "delta" in held.lower() or "duration" in held:
        what, number, to = "durations", "days", "timedelta"
    elif held.startswith("time") and not held.startswith("timestamp"):
        return "times of a day: use a number of them, such as hours since midnight"
    else:
        what, number, to = "dates", "year", "datetime"
    column = f"pd.to_{to}(df[{name!r}])" if objects else f"`{name}`"
    return f"{what}: use a number of it, e.g. {column}.dt.{number}"


def conversion_of(name: str, held: Any) -> str:
    """How a column of neither numbers nor text may be converted: the end of a message, or nothing.

    Parameters
    ----------
    name : str
    held : str or dtype
        As in `number_of_dates`.
    """
    column, held = f"df[{name!r}]", str(held)
    if "interval" in held.lower():
        return f", {column}.astype('category')"
    if held == "bytes":
        return f", {column}.str.decode('utf-8')"
    if "str" in held.split(" and "):
        return f", pd.to_numeric({column}, errors='coerce') or, for labels, {column}.astype(str)"
    return ""


def cure_of_text(column: Series) -> str:
    """Advice, to be appended to a message, where a column that has to be numeric holds numbers
    stored as text, or dates; else empty.
    """
    if kind(column) == "date":
        held = types_of(column) if column.dtype == object else column.dtype
        return f": {number_of_dates(column.name, held)}"
    if kind(column) != "text":
        return ""
    numbers = text_numbers(tuple(pd.unique(column.dropna())))
    if numbers is None:
        return ""
    if column.name is None:  # values of their own
        return ": convert them first, np.asarray(values, dtype=float)"
    return f": convert it first, {numbers.conversion(column.name)}"


def words(levels: Sequence[Any]) -> float:
    """Mean number of words in a level, by some of them."""
    some = levels[:: max(1, len(levels) // MOST_COUNTED)]
    return float(np.mean([len(str(level).split()) for level in some]))


def quoted(name: str) -> str:
    """A name as formulas have it."""
    return name if name.isidentifier() else f"`{name}`"


def shown(levels: Sequence[Any], most: int = LEVELS_SHOWN) -> str:
    """The first levels as text, long ones cut."""
    first = [level if len(str(level)) <= 40 else f"{level[:37]}..." for level in levels[:most]]
    return labels_text(first, most)
