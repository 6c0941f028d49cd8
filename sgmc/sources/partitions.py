"""dask DataFrames, partition by partition."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pandas as pd

from sgmc.arguments.types import Frame
from sgmc.errors import DataError
from sgmc.formula.data.columns import kind
from sgmc.sources.part import Column, Part, chunk_size, reading
from sgmc.sources.settling import with_gaps
from sgmc.sources.source import Source


def of_dask(frame: Any, name: str) -> Source:
    """A `Source` of a dask DataFrame."""
    part = Partitioned(frame, f"{name} (a dask DataFrame)")
    return Source([part], part.label)


class Partitioned(Part):
    """The rows of a dask DataFrame, which computes one partition at a time.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    label : str
    """

    def __init__(self, frame: Any, label: str) -> None:
        super().__init__(label)
        self.frame = frame
        self.columns = list(frame.columns)
        for name in self.columns:
            if not isinstance(name, str) or self.columns.count(name) > 1:
                raise DataError(f"{label}: names of columns must be text, each once, not {name!r}")
        self.size = chunk_size(self.columns)
        self.lengths: dict[int, int] = {}

    @property
    def rows(self) -> int | None:
        """Number of rows, once all partitions have been computed."""
        whole = len(self.lengths) == self.frame.npartitions
        return sum(self.lengths.values()) if whole else None

    @cached_property
    def identity(self) -> str | None:
        """dask's own name of the computation: with the contents of frames, and with paths, sizes
        and times of files.
        """
        from dask.base import tokenize

        return tokenize(self.frame)

    def look(self, names: list[str]) -> dict[str, Column]:
        """As the DataFrame declares them; computed are whether whole numbers and truth values have
        gaps, of which it does not know, and categories that it does not know.
        """
        dtypes = dict(self.frame.dtypes[names])
        whole = [name for name, dtype in dtypes.items() if with_gaps(dtype) != dtype]
        if whole:
            missing = self.frame[whole].isna().any().compute()
            dtypes |= {name: with_gaps(dtypes[name]) for name in whole if missing[name]}
        coded = [name for name, d in dtypes.items() if isinstance(d, pd.CategoricalDtype)]
        unknown = [name for name in coded if not self.frame[name].cat.known]
        if unknown:
            dtypes |= self._categories(unknown)
        return {name: Column(kind(pd.Series(dtype=d)), d) for name, d in dtypes.items()}

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # partitions that are skipped are not computed a second time
        self.passed = 0
        for k in range(self.frame.npartitions):
            length = self.lengths.get(k)
            if length is not None and self.passed + length <= skip:
                self.passed += length
                continue
            rows = self._partition(k, names)
            ahead = min(skip - self.passed, len(rows))
            self.passed += ahead
            for start in range(ahead, len(rows), self.size):
                yield rows.iloc[start : start + self.size]

    def sample(self, rows: int) -> Frame:
        """The largest of three partitions: they are the unit, see `units`."""
        some = {0, self.frame.npartitions // 2, self.frame.npartitions - 1}
        return max((self._partition(k, self.columns) for k in sorted(some)), key=len)

    @property
    def units(self) -> float:
        """Number of partitions."""
        return self.frame.npartitions

    def units_of(self, sample: Frame) -> float:
        """One partition."""
        return 1

    def _partition(self, k: int, names: list[str]) -> Frame:
        label = f"partition {k} of {self.label}"
        with reading(label):
            rows = self.frame.get_partition(k)[names].compute()
        for name in names:
            if name not in rows:
                raise DataError(
                    f"{label} has no column {name!r}, which the DataFrame declares; all must have "
                    "the same columns"
                )
        self.lengths[k] = len(rows)
        return rows.reset_index(drop=True)

    def _categories(self, names: list[str]) -> dict[str, Any]:
        """The categories of all partitions, in the order in which they come, as `compute` has
        them.
        """
        found: dict[str, Any] = {name: {} for name in names}
        own: dict[str, Any] = {}
        for k in range(self.frame.npartitions):
            rows = self._partition(k, names)
            for name in names:
                found[name].update(dict.fromkeys(rows[name].cat.categories))
                own[name] = rows[name].dtype
        return {
            name: pd.CategoricalDtype(
                pd.Index(list(found[name]), dtype=own[name].categories.dtype), own[name].ordered
            )
            for name in names
        }
