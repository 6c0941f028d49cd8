"""What is known of a column from the chunks that have been read: its kind, levels and extremes."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sgmc.errors import DataError
from sgmc.formula.data.columns import is_missing, kind, levels_of, plain, types_of
from sgmc.formula.data.dot_columns import reason_of_kind, reason_of_levels

MOST_VALUES = 2_000_000  # of a column that are kept: some 200 MB of short text


@dataclass
class ColumnFacts:
    """What some rows of a column tell.

    Attributes
    ----------
    name : str
    kind : str or None
        See `sgmc.formula.data.columns.kind`; None where no value is there.
    held : str
        What it holds, for messages.
    present, missing : int
        Rows.
    first : object
        The first number or bool, None where there is none.
    varies : bool
        Whether another number or bool differs from it.
    levels : dict
        Of text and categories, the values in the order in which they were met, as keys; True where
        a category occurs.
    """

    name: str
    kind: str | None = None
    held: str = ""
    present: int = 0
    missing: int = 0
    first: object = None
    varies: bool = False
    levels: dict = field(default_factory=dict)

    @classmethod
    def of(cls, column):
        """Those of a Series."""
        gaps = is_missing(column)
        missing = int(gaps.sum())
        facts = cls(column.name, present=len(column) - missing, missing=missing)
        if not facts.present:
            return facts
        facts.kind = kind(column)
        facts.held = types_of(column) if column.dtype == object else str(column.dtype)
        if facts.kind in ("number", "bool"):
            numbers = plain(column, np.flatnonzero(~gaps)).to_numpy()
            facts.first = numbers[0]
            facts.varies = bool((numbers != numbers[0]).any())
        elif facts.kind == "category":
            facts.levels = dict.fromkeys(column.cat.categories.tolist(), False)
            facts.levels |= dict.fromkeys(levels_of(column), True)
        elif facts.kind == "text":
            facts.levels = dict.fromkeys(column.dropna().unique().tolist(), True)
        return facts

    def merge(self, other):
        """Add what later rows tell.

        Raises
        ------
        DataError
            If these are of another kind, or have too many levels.
        """
        if self.kind is None:
            self.kind, self.held, self.first = other.kind, other.held, other.first
        elif other.kind not in (None, self.kind):
            raise DataError(
                f"column {self.name!r} holds {self.held} first and {other.held} in later rows: "
                "make it one type in all rows, and all files"
            )
        self.present += other.present
        self.missing += other.missing
        if other.first is not None:
            self.varies |= other.varies or bool(other.first != self.first)
        for level, occurs in other.levels.items():
            self.levels[level] = occurs or self.levels.get(level, False)
        if len(self.levels) > MOST_VALUES:
            raise DataError(
                f"column {self.name!r} has more than {MOST_VALUES:,} different values: leave it "
                "out, or join levels"
            )

    def found_levels(self):
        """The levels as `sgmc.formula.data.columns.levels_of` has them of all rows."""
        if self.kind == "bool":
            return (False, True)
        found = [level for level, occurs in self.levels.items() if occurs]
        if self.kind == "category":
            return tuple(found)
        return levels_of(pd.Series(found, dtype=object, name=self.name))

    def reason_to_leave_out(self):
        """Why R's dot does not stand for it, or None."""
        if self.kind is None:
            return "all missing"
        if self.kind in ("text", "category"):
            return reason_of_levels(self.kind, self.found_levels())
        return reason_of_kind(self.kind, lambda: not self.varies)
