"""Where rows come from: files, and tables of other libraries that are not in memory."""

import hashlib
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from sgmc.arguments.types import Frame
from sgmc.errors import DataError
from sgmc.sources.part import chunk_size
from sgmc.sources.settling import applied, settled

if TYPE_CHECKING:
    from sgmc.sources.part import Part


MEASURED_ROWS = 1000  # by which the memory of a row is estimated


class Source:
    """Rows in a fixed order that need not be in memory.

    Parameters
    ----------
    parts : list of Part
        Of the same columns; their rows follow each other.
    name : str
        What the user called it, for messages.

    Attributes
    ----------
    columns : list of str
        In the order of the first part.
    chunk_size : int
        Rows of each chunk but the last: 65,536, or fewer of a wide table.
    file_options : dict
        Arguments of `prepare` for a file of the rows, where one is made.
    scope : dict or None
        Names that a formula may use besides columns; None: those of the caller.
    """

    file_options: dict[str, Any] = {}
    scope: dict[str, Any] | None = None

    def __init__(self, parts: "Sequence[Part]", name: str = "data") -> None:
        self.parts, self.name = parts, name
        self.columns = list(parts[0].columns)
        for part in parts:
            check_columns(parts[0], part)
        self.chunk_size = chunk_size(self.columns)

    def __repr__(self) -> str:
        count = f"{len(self.parts)} parts, " if len(self.parts) > 1 else ""
        return f"<{self.name}: {count}{len(self.columns)} columns>"

    @property
    def rows(self) -> int | None:
        """Number of rows; None where only reading tells."""
        known = [part.rows for part in self.parts]
        return None if None in known else sum(known)

    @cached_property
    def bytes(self) -> float:
        """Estimated bytes of all rows in memory, by the first ones of the first part with rows."""
        units = [part.units for part in self.parts]
        for part, unit in zip(self.parts, units):
            sample = part.sample(MEASURED_ROWS)
            if len(sample):
                size = sample[self.columns].memory_usage(index=False, deep=True).sum()
                return float(sum(units) * size / min(part.units_of(sample), unit))
        return 0.0

    @cached_property
    def identity(self) -> str:
        """Hash of what the rows are made of: another one if a file has been changed."""
        text = "\n".join(part.identity for part in self.parts)
        return hashlib.sha256(text.encode()).hexdigest()

    def chunks(self, start: int = 0, columns: list[str] | None = None) -> Iterator[Frame]:
        """Rows as DataFrames of `chunk_size` rows, the last one of the rest.

        Chunk k has rows k * chunk_size and on of all parts together, in whatever form they are
        stored.  Dtypes and categories are the same in each.

        Parameters
        ----------
        start : int
            The first chunk.  What comes before is not read, where the format lets it be passed by.
        columns : list of str, optional
            Default: all.

        Yields
        ------
        pandas.DataFrame
            With a RangeIndex from 0.
        """
        names = self.columns if columns is None else list(columns)
        held, waiting = [], 0
        for frame in self._frames(start * self.chunk_size, names):
            held.append(frame)
            waiting += len(frame)
            while waiting >= self.chunk_size:
                joined = joint(held)
                yield joined.iloc[: self.chunk_size].reset_index(drop=True)
                held = [joined.iloc[self.chunk_size :]]
                waiting -= self.chunk_size
        if waiting:
            yield joint(held).reset_index(drop=True)

    def only(self, columns: list[str]) -> "Source":
        """The same rows with some of the columns; chunks have as many rows."""
        narrow = copy(self)
        narrow.columns = list(columns)
        vars(narrow).pop("bytes", None)
        return narrow

    def read(self) -> Frame:
        """All rows as one DataFrame.

        Raises
        ------
        DataError
            If there is none.
        """
        wholes: list[Any] = [part.whole(self.columns) for part in self.parts]
        dtypes = settled(self.parts, self.columns)
        if all(whole is not None for whole in wholes):
            pairs = zip(wholes, self.parts)
            frames = [applied(one, dtypes, part.label) for one, part in pairs if len(one)]
        else:
            frames = list(self._frames(0, self.columns))
        if not frames:
            raise DataError(f"{self.name} has no rows: it has names of columns alone")
        return joint(frames).reset_index(drop=True)

    def _frames(self, skip: int, names: list[str]) -> Iterator[Frame]:
        """Frames of some rows each, in the dtypes of all, from row `skip` on.

        Text formats are read once to find these; of dictionaries the levels are.
        """
        dtypes = settled(self.parts, names)
        for part in self.parts:
            if part.rows is not None and part.rows <= skip:
                skip -= part.rows
                continue
            for frame in part.frames(names, dtypes, skip):
                if len(frame):
                    yield applied(frame, dtypes, part.label)
            skip = max(skip - part.passed, 0)


def joint(frames: list[Frame]) -> Frame:
    """One frame of several of the same dtypes, without a copy where it is one already."""
    frames = [frame for frame in frames if len(frame)] or frames[:1]
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def check_columns(first: "Part", part: "Part") -> None:
    """Refuse a part that lacks a column which another one has.

    Raises
    ------
    DataError
        Naming the part and the column.
    """
    for lacking, having in ((part, first), (first, part)):
        for name in having.columns:
            if name not in lacking.columns:
                raise DataError(
                    f"{lacking.label} has no column {name!r}, which {having.label} has; all must "
                    "have the same columns"
                )
