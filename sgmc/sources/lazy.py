"""polars LazyFrames, evaluated once into a temporary file."""

import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import polars

from sgmc.arguments.types import Frame
from sgmc.errors import DataError
from sgmc.formula.data.frames import from_other_library
from sgmc.sources.part import Column, Part, chunk_size
from sgmc.sources.settling import TEXT, with_gaps
from sgmc.sources.source import Source

TEXTS = (polars.String, polars.Categorical)


def of_lazy(frame: Any, name: str) -> Source:
    """A `Source` of a LazyFrame."""
    part = StreamedQuery(frame, f"{name} (a polars LazyFrame)")
    return Source([part], part.label)


class StreamedQuery(Part):
    """The rows of a query, which polars has streamed into a Parquet file.

    A query is evaluated once: several passes over it would be as many evaluations, whose rows need
    not come in the same order.  The file is removed with the part.

    Parameters
    ----------
    frame : polars.LazyFrame
    label : str
    """

    def __init__(self, frame: Any, label: str) -> None:
        super().__init__(label)
        folder = tempfile.mkdtemp(prefix="sgmc-")
        # without the ResourceWarning of a TemporaryDirectory that nobody has closed
        self.removed = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.path.join(folder, "rows.parquet")
        with evaluating(label):
            self.columns = frame.collect_schema().names()
            self.size = chunk_size(self.columns)
            frame.sink_parquet(self.path, row_group_size=self.size)
            self.rows = self._query(polars.len()).item()

    @cached_property
    def identity(self) -> str | None:
        """Hash of the file."""
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def look(self, names: list[str]) -> dict[str, Column]:
        """By the schema and the numbers of missing values."""
        counts = self._query(polars.col(names).null_count()).row(0, named=True)
        empty, found = self.sample(0), {}
        schema = polars.scan_parquet(self.path, glob=False).collect_schema()
        for name in names:
            dtype = TEXT if schema[name] in TEXTS else empty[name].dtype
            dtype = with_gaps(dtype) if counts[name] else dtype
            kind = "empty" if counts[name] == self.rows else "other"
            found[name] = Column(kind, dtype)
        return found

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # rows that are skipped are not read
        self.passed = min(skip, self.rows)
        for start in range(self.passed, self.rows, self.size):
            yield self._rows(names, start, self.size)

    def sample(self, rows: int) -> Frame:
        return self._rows(self.columns, 0, rows)

    def _rows(self, names: list[str], start: int, length: int | None) -> Frame:
        with evaluating(self.label):
            scan = polars.scan_parquet(self.path, glob=False).slice(start, length)
            return from_other_library(scan.select(names).collect())

    def _query(self, what: Any) -> Any:
        return polars.scan_parquet(self.path, glob=False).select(what).collect()


@contextmanager
def evaluating(label: str) -> Iterator[None]:
    """Errors of polars as DataError."""
    try:
        yield
    except (polars.exceptions.PolarsError, FileNotFoundError) as error:
        told = " ".join(str(error).split())
        raise DataError(f"{label} cannot be evaluated: {told[:300]}") from error
    except OSError as error:
        raise DataError(f"{label} cannot be evaluated: {error}; is the disk full?") from error
