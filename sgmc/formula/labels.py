"""Text that is no factor: numbers stored as text, free text, identifiers of rows.

It is recognised from the levels of a column, before a design of one column a level is built.
"""

import re

import numpy as np
import pandas as pd

from sgmc.arguments.messages import labels_text
from sgmc.errors import DataError
from sgmc.formula.columns import kind

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
CODE = re.compile(r"\s*0\d")  # "0123": a label made of digits, such as a postal code
MOSTLY = (
    0.9  # share of many levels that are numbers, from which on the rest stands for missing ones
)
MANY_LEVELS = 50  # levels up to which a factor is taken for one, however few rows there are
ROWS_A_LEVEL = 2  # fewer, of more than MANY_LEVELS: identifiers, each with a coefficient of its own
ROWS_A_TEXT = 5  # fewer, of levels of WORDS words and more: free text
WORDS = 5
MOST_COUNTED = 1000  # levels whose words are counted, evenly
LEVELS_SHOWN = 3


def refuse_levels(name, found, rows, levels):
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
    meant = f"C({quoted(name)}) if these are categories"
    if found == "text":
        others = not_numbers(levels)
        if others is not None:
            raise DataError(
                f"column {name!r} holds numbers stored as text, such as {shown(levels)}"
                f"{f', and {shown(others)}' if others else ''}: convert them first, "
                f"{conversion(name, others)}, or write {meant}"
            )
    count = len(levels)
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


def not_numbers(levels):
    """The levels of text that are no numbers, where all the others are; None where the text does
    not hold numbers.

    All levels have to be numbers, or MOSTLY of more than MANY_LEVELS.  Digits after a leading zero
    are labels.
    """
    few = len(levels) <= MANY_LEVELS
    allowed, others = 0 if few else int((1 - MOSTLY) * len(levels)), []
    for level in levels:
        if CODE.match(level):
            return None
        if not NUMBER.fullmatch(level):
            others.append(level)
            if len(others) > allowed:
                return None
    return others if len(others) < len(levels) else None


def conversion(name, others=()):
    """The line of pandas that makes numbers of a column of text."""
    return f"pd.to_numeric(df[{name!r}]{', errors=' + repr('coerce') if others else ''})"


def cure_of_text(column):
    """Advice, to be appended to a message, where a column that has to be numeric holds numbers
    stored as text; else empty.
    """
    if kind(column) != "text":
        return ""
    others = not_numbers(tuple(pd.unique(column.dropna())))
    if others is None:
        return ""
    if column.name is None:  # values of their own
        return ": convert them first, np.asarray(values, dtype=float)"
    return f": convert it first, {conversion(column.name, others)}"


def words(levels):
    """Mean number of words in a level, by some of them."""
    some = levels[:: max(1, len(levels) // MOST_COUNTED)]
    return float(np.mean([len(str(level).split()) for level in some]))


def quoted(name):
    """A name as formulas have it."""
    return name if name.isidentifier() else f"`{name}`"


def shown(levels, most=LEVELS_SHOWN):
    """The first levels as text, long ones cut."""
    first = [level if len(str(level)) <= 40 else f"{level[:37]}..." for level in levels[:most]]
    return labels_text(first, most)
