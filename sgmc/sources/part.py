"""A part of a source: one file, or one table of another library."""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.types import Frame
from sgmc.errors import DataError, SGMCError


def chunk_size(columns: Collection[str]) -> int:
    """Rows of a chunk of a source with such columns."""
    return chunk_rows(len(columns), CHUNK_ROWS)


@dataclass(frozen=True)
class Column:
    """What a column holds in one part.

    Attributes
    ----------
    kind : str
        As `sgmc.formula.data.columns.kind` has it, or "empty" where all values are missing.
    dtype : dtype
        As pandas would have it if the part were all there is.
    """

    kind: str
    dtype: Any


class Part:
    """Rows that are stored together.

    Attributes
    ----------
    label : str
        What messages call it: the path of a file.
    columns : list of str
    rows : int or None
        None where only reading tells.
    passed : int
        Of the rows to be skipped by the last call of `frames`, how many this part had.
    """

    columns: list[str]
    rows: Any = None
    identity: Any
    passed = 0

    def __init__(self, label: str) -> None:
        self.label = label
        self.known: dict[str, Column] = {}

    def types(self, names: list[str]) -> dict[str, Column]:
        """Name -> `Column`, of columns."""
        new = [name for name in names if name not in self.known]
        if new:
            with reading(self.label):
                self.known |= self.look(new)
        return {name: self.known[name] for name in names}

    def look(self, names: list[str]) -> dict[str, Column]:
        """Name -> `Column`; reads these columns only where the format does not tell."""
        raise NotImplementedError

    def whole(self, names: list[str]) -> Frame | None:
        """All rows as pandas' own reader has them, where that is cheaper than to find out their
        dtypes first; else None.
        """

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        """DataFrames of some rows each, in order, from row `skip` on.

        Parameters
        ----------
        names : list of str
        dtypes : dict
            Name -> dtype in all parts, for readers that need to be told.
        skip : int
        """
        raise NotImplementedError

    def sample(self, rows: int) -> Frame:
        """At most so many rows, for an estimate of memory."""
        raise NotImplementedError

    @property
    def units(self) -> float:
        """How much there is, in rows."""
        return self.rows

    def units_of(self, sample: Frame) -> float:
        """How much of it a sample is."""
        return len(sample)

    def is_missing(self, name: str) -> bool:
        """Whether all values of a column are missing; reads the column."""
        frames = self.frames([name], {}, 0)
        return all(frame[name].isna().all() for frame in frames)


class FilePart(Part):
    """A file.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    @cached_property
    def identity(self) -> str:
        """Path, size and time of the last change."""
        facts = os.stat(self.path)
        return f"{os.path.abspath(self.path)} {facts.st_size} {facts.st_mtime_ns}"


# first bytes of files, what they are of, the suffixes that these have here, and what to do
MARKS = (
    (b"PAR1", "Parquet", (".parquet", ".pq"), "it is Parquet: give it the suffix .parquet"),
    (b"ARROW1", "Arrow", (".arrow", ".feather", ".ipc"), "it is Arrow: give it the suffix .arrow"),
    (b"\x1f\x8b", "gzip", (".gz",), "it is compressed by gzip: give it a suffix such as .csv.gz"),
    (b"PK\x03\x04", "a zip file", (), "it is a zip file, as those of Excel are: give the table"),
    (b"\xff\xfe", "UTF-16", (), "it is UTF-16: give pd.read_csv(.., encoding='utf-16')"),
    (b"\xfe\xff", "UTF-16", (), "it is UTF-16: give pd.read_csv(.., encoding='utf-16')"),
)
LONGEST_MARK = max(len(mark) for mark, *_ in MARKS)


def of_content(frames: Iterable[Frame]) -> str:
    """Hash of the rows of some frames, for what has no file."""
    import pandas as pd

    digest = hashlib.sha256()
    for frame in frames:
        digest.update(repr([*frame.columns]).encode())
        digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Errors of readers as DataError with the label of what cannot be read."""
    import zlib

    try:
        yield
    except (SGMCError, ImportError, MemoryError):
        raise
    except PermissionError as error:
        raise DataError(f"no permission to read {label}: change its mode or owner") from error
    except FileNotFoundError as error:
        raise DataError(f"{label} is not there") from error
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        told = " ".join(str(error).split())[:300] or type(error).__name__
        hint = of_first_bytes(label)
        if not hint and isinstance(error, UnicodeDecodeError):
            hint = "it is no UTF-8: write it as such, or give pd.read_csv(.., encoding='latin-1')"
        if not hint and "Error tokenizing data" in told:
            hint = "mend that row, or give pd.read_csv(.., on_bad_lines='skip'), which drops it"
        raise DataError(f"{label} cannot be read: {told}{'; ' * bool(hint)}{hint}") from error


def of_first_bytes(path: str) -> str:
    """What to do with a file under a wrong suffix, or one that is cut short; else empty."""
    try:
        with open(path, "rb") as file:
            first = file.read(LONGEST_MARK)
    except (OSError, ValueError):  # a label that is no path
        return ""
    for mark, kind, suffixes, advice in MARKS:
        if first.startswith(mark):
            known = path.endswith(suffixes) if suffixes else False
            return f"it begins as {kind}, and is cut short or damaged" if known else advice
    return ""
