"""Delimited text: CSV and TSV, also packed by gzip."""

import gzip
import io
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Frame, Series
from sgmc.errors import DataError
from sgmc.sources.lines import LONGEST_LINE, READ_AHEAD, TEXT_AT_ONCE, Lines, TooMuch, is_packed
from sgmc.sources.part import Column, FilePart, chunk_size, reading
from sgmc.sources.settling import TEXT, column_of, numbers, with_gaps

LARGE = np.dtype("uint64")  # beside negative ones or gaps pandas reads such numbers as text
OTHERS = (";", "\t", "|", ",")  # what else is between columns
PROBED = 1 << 20  # characters by which the size of what is packed is estimated


def ragged(frame: Frame) -> bool:
    """Whether lines have more values than there are names, the first of which are an index then."""
    return not isinstance(frame.index, pd.RangeIndex)


class Commas(FilePart):
    """A file of comma-separated values, as `pandas.read_csv` reads it.

    Types are those of all rows: a column with text anywhere is text from its first row on.  They
    are found by reading the file once.
    """

    separator = ","

    def __init__(self, path: str) -> None:
        super().__init__(path)
        if os.path.getsize(path) == 0:
            raise DataError(f"{path} is empty: it has no line with the names of columns")
        first = self._parsed(LONGEST_LINE, nrows=1)
        self.columns = list(first.columns)
        self.refuse_other_separator(first)
        if ragged(first):
            raise DataError(f"{path} has more values in a line than names in the first one")
        names = self._parsed(LONGEST_LINE, nrows=1, header=None, dtype=str).iloc[0].dropna()
        if names.duplicated().any():  # which the reader numbers, x and x.1
            raise DataError(
                f"{path} has more than one column {names[names.duplicated()].iloc[0]!r}; rename or "
                "drop one"
            )
        self.size = chunk_size(self.columns)

    def refuse_other_separator(self, first: Frame) -> None:
        """DataError where names and values are parted by another character."""
        name, value = self.columns[0], "" if first.empty else str(first.iloc[0, 0])
        others = [one for one in OTHERS if one != self.separator and one in name]
        # a single column may have such a name, where its values are no lists, too
        if others and (ragged(first) or len(self.columns) == 1 and others[0] in value):
            how = ", decimal=','" if others[0] == ";" and ragged(first) else ""
            raise DataError(
                f"{self.path} has {others[0]!r} between its columns, not {self.separator!r}: give "
                f"the table, pd.read_csv({self.path!r}, sep={others[0]!r}{how}), or write it with "
                f"{self.separator!r}"
            )

    def look(self, names: list[str]) -> dict[str, Column]:
        """By one pass over the rows, which also counts them."""
        looks, rows = {name: ColumnScan() for name in names}, 0
        for frame in self._frames(usecols=names):
            rows += len(frame)
            for name in names:
                looks[name].add(frame[name])
        self.rows = rows
        return {name: look.column() for name, look in looks.items()}

    def whole(self, names: list[str]) -> Frame | None:
        if self.units > TEXT_AT_ONCE:
            return None
        try:
            frame = self._parsed(usecols=names, low_memory=False)[names]
        except TooMuch:  # chunk by chunk, then
            return None
        self.rows = len(frame)
        self.known |= {name: column_of(frame[name]) for name in names}
        return frame

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # rows that are skipped are parsed all the same
        told = {name: told_of(self.known[name], dtype) for name, dtype in dtypes.items()}
        told = {name: dtype for name, dtype in told.items() if dtype is not None}
        self.passed = 0
        for frame in self._frames(usecols=names, dtype=told):
            ahead = min(skip - self.passed, len(frame))
            self.passed += ahead
            if ahead < len(frame):
                yield frame[names].iloc[ahead:]

    def sample(self, rows: int) -> Frame:
        return self._parsed(nrows=rows)

    @cached_property
    def units(self) -> float:
        """Characters of the file, unpacked; an estimate where it is packed."""
        size = os.path.getsize(self.path)
        if not is_packed(self.path):
            return size
        with reading(self.path), open(self.path, "rb") as file, gzip.open(file) as packed:
            length = len(packed.read(PROBED))
            return length if length < PROBED else size * length / max(file.tell(), 1)

    def units_of(self, sample: Frame) -> float:
        """Characters of the lines of a sample, and of the first line."""
        text = io.StringIO()
        sample.to_csv(text, index=False, sep=self.separator)
        return len(text.getvalue())

    def _parsed(self, most: int = TEXT_AT_ONCE, **how: Any) -> Frame:
        with reading(self.path), Lines(self.path, most) as lines:
            return pd.read_csv(io.BufferedReader(lines, READ_AHEAD), sep=self.separator, **how)

    def _frames(self, **how: Any) -> Iterator[Frame]:
        how |= {"chunksize": self.size, "sep": self.separator, "low_memory": False}
        with reading(self.path), Lines(self.path) as lines:
            for frame in pd.read_csv(io.BufferedReader(lines, READ_AHEAD), **how):
                lines.taken()
                yield frame


class Tabs(Commas):
    """A file of values separated by tabs."""

    separator = "\t"


def told_of(column: Column, dtype: Any) -> Any:
    """The dtype that `pandas.read_csv` is told for a column; None where it finds it itself."""
    if column.kind == "text":
        return str
    return dtype if column.kind == "number" else None


class ColumnScan:
    """What chunks of a column hold, so far."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.dtypes: dict[Any, None] = {}
        self.last: Any = None
        self.gaps = self.negative = self.fractions = False

    def add(self, values: Series) -> None:
        """Look at the column in one more chunk."""
        found = self.last = column_of(values)
        self.gaps |= bool(values.isna().any())
        if found.kind == "empty":
            return
        self.kinds.add(found.kind)
        self.dtypes[found.dtype] = None
        if found.kind == "number":
            self.negative |= bool(values.min() < 0)
            self.fractions |= found.dtype.kind == "f" and bool((values.dropna() % 1 != 0).any())

    def column(self) -> Column:
        """The `Column` of all chunks."""
        if not self.kinds:
            return self.last or Column("empty", np.dtype("O"))
        kind = self.kinds.pop() if len(self.kinds) == 1 else "text"
        if kind == "number" and (LARGE not in self.dtypes or self.fractions):
            return Column(kind, numbers(list(self.dtypes), self.gaps))
        if kind == "number" and not (self.negative or self.gaps):
            return Column(kind, LARGE)
        if kind == "bool":
            return Column(kind, with_gaps(np.dtype(bool)) if self.gaps else np.dtype(bool))
        return Column("text", TEXT)
