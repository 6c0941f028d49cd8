"""A few rows that show what all rows hold: every level, and the ends of every number.

A formula read on them finds the levels, the constant columns and the kinds that it would find on
all rows, so that every partition is coded alike.
"""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sgmc.cluster.transforms import subset_of
from sgmc.errors import DataError
from sgmc.formula.data.columns import is_missing, kind
from sgmc.formula.data.dot_columns import MAX_LEVELS
from sgmc.formula.data.frames import as_frame
from sgmc.formula.syntax.parser import columns_named

HEAD = 1000  # rows in which many numbers differ as a rule
MOST_SAMPLED = 2000  # of a column that witnesses are kept for
DOTTED = re.compile(r"(?<![\w)\]])\.(?!\w)")  # R's dot, no decimal point and no attribute
STRINGS = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True)
class SchemaSample:
    """Rows of some partitions that show what these hold.

    Attributes
    ----------
    frame : DataFrame
    rows : int
        Of the partitions, in all.
    kinds : dict
        Column -> what it holds; "" where everything is missing.
    number : int
        Of the first partition.
    """

    frame: pd.DataFrame
    rows: int
    kinds: dict
    number: int


@dataclass(frozen=True)
class SchemaSampling:
    """A pass that returns the `SchemaSample` of a partition.

    Attributes
    ----------
    texts : tuple of str
        Formula, and what else names columns; others are left out unless the formula has a dot.
    subset : str, callable or None
    """

    texts: tuple
    subset: object = None

    def __call__(self, number, data):
        frame = as_frame(data)
        columns = self.needed(frame.columns)
        used = frame if self.subset is None else subset_of(frame, self.subset)
        kinds = {name: kind_of(frame[name]) for name in columns}
        return SchemaSample(chosen(used[columns]), len(frame), kinds, number)

    def needed(self, columns):
        """Those of the columns that the texts name, in their order."""
        if callable(self.subset) or DOTTED.search(STRINGS.sub("", self.texts[0])):
            return list(columns)
        named = {name for text in self.texts for name in columns_named(text, columns)}
        quoted = {name for name in columns if any(repr(name) in text for text in self.texts)}
        quoted |= {name for name in columns if any(f'"{name}"' in text for text in self.texts)}
        return [name for name in columns if name in named | quoted]


def merge(one, other):
    """The `SchemaSample` of both; DataError where a column is absent, or of two kinds."""
    differs = sorted(set(one.kinds) ^ set(other.kinds))
    if differs:
        least = other if differs[0] in one.kinds else one
        raise DataError(
            f"there is no column {differs[0]!r} in partition {least.number}, which others have"
        )
    for name, held in one.kinds.items():
        if held and other.kinds[name] and held != other.kinds[name]:
            raise DataError(
                f"column {name!r} holds {other.kinds[name]} in partition {other.number} and {held} "
                f"in partition {one.number}: convert it to one kind"
            )
    kinds = {name: held or other.kinds[name] for name, held in one.kinds.items()}
    parts = [two.frame[list(kinds)] for two in (one, other) if len(two.frame)]
    whole = pd.concat(parts, ignore_index=True) if parts else one.frame
    return SchemaSample(chosen(whole), one.rows + other.rows, kinds, one.number)


def kind_of(column):
    """What a column holds, empty where it holds nothing; text and categories are alike."""
    if is_missing(column).all():
        return ""
    held = kind(column)
    return "text" if held == "category" else held


def chosen(frame):
    """Rows that show all levels and ends: complete ones where they do, else any."""
    missing = np.zeros(len(frame), dtype=bool)
    for name in frame:
        missing |= is_missing(frame[name])
    whole, found = np.flatnonzero(~missing), []
    for name in frame:
        column = frame[name]
        present = np.flatnonzero(~is_missing(column))
        found += [showing(column.iloc[rows], rows) for rows in (whole, present)]
    kept = np.unique(np.concatenate([*found, np.empty(0, dtype=int)]).astype(int))
    return frame.iloc[kept].reset_index(drop=True)


def showing(column, rows):
    """Those of `rows` that show the levels of a column, or its ends."""
    if len(rows) and kind(column) == "number":  # infinite ones are named where they are met
        finite = np.isfinite(column.to_numpy(dtype=np.float64, na_value=np.nan))
        column, rows = column[finite], rows[finite]
    if not len(rows):
        return rows
    number = kind(column) == "number"
    first = firsts(column.iloc[:HEAD] if number else column)
    if number and len(first) <= MAX_LEVELS:
        first = firsts(column)
    if number and len(first) > MAX_LEVELS:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return rows[[values.argmin(), values.argmax(), 0]]
    return rows[first[:MOST_SAMPLED]]


def firsts(column):
    """Places at which each value is met first."""
    try:
        return np.flatnonzero(~column.duplicated().to_numpy())
    except TypeError:  # no labels: the formula says so where it is used
        return np.zeros(1, dtype=int)
