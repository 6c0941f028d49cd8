"""dask DataFrames, partition by partition."""

from functools import cached_property

import pandas as pd

from sgmc.arguments.tables import CHUNK_ROWS, chunk_rows
from sgmc.errors import DataError
from sgmc.formula.columns import kind
from sgmc.sources.part import Column, Part, reading
from sgmc.sources.source import Source


def of_dask(frame, name):
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

    def __init__(self, frame, label):
        self.frame, self.label = frame, label
        self.columns = list(frame.columns)
        for name in self.columns:
            if not isinstance(name, str) or self.columns.count(name) > 1:
                raise DataError(f"{label}: names of columns must be text, each once, not {name!r}")
        self.size = chunk_rows(len(self.columns), CHUNK_ROWS)
        self.lengths = {}

    @property
    def rows(self):
        """Number of rows, once all partitions have been computed."""
        whole = len(self.lengths) == self.frame.npartitions
        return sum(self.lengths.values()) if whole else None

    @cached_property
    def identity(self):
        """dask's own name of the computation: with the contents of frames, and with paths, sizes
        and times of files.
        """
        from dask.base import tokenize

        return tokenize(self.frame)

    def types(self):
        """As the DataFrame declares them; categories that it does not know are read."""
        return self._types

    @cached_property
    def _types(self):
        dtypes = dict(self.frame.dtypes)
        coded = [name for name, d in dtypes.items() if isinstance(d, pd.CategoricalDtype)]
        unknown = [name for name in coded if not self.frame[name].cat.known]
        if unknown:
            dtypes |= self._categories(unknown)
        return {name: Column(kind(pd.Series(dtype=d)), d) for name, d in dtypes.items()}

    def frames(self, names, dtypes, skip):
        """See `Part`; partitions that are skipped are not computed a second time."""
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

    def sample(self, rows):
        """The largest of three partitions: they are the unit, see `units`."""
        some = {0, self.frame.npartitions // 2, self.frame.npartitions - 1}
        return max((self._partition(k, self.columns) for k in sorted(some)), key=len)

    @property
    def units(self):
        """Number of partitions."""
        return self.frame.npartitions

    def units_of(self, sample):
        """One partition."""
        return 1

    def _partition(self, k, names):
        label = f"partition {k} of {self.label}"
        with reading(label):
            rows = self.frame.get_partition(k)[names].compute()
        self.lengths[k] = len(rows)
        return rows.reset_index(drop=True)

    def _categories(self, names):
        """The categories of all partitions, in the order in which they come, as `compute` has
        them.
        """
        found, ordered = {name: {} for name in names}, {}
        for k in range(self.frame.npartitions):
            rows = self._partition(k, names)
            for name in names:
                found[name].update(dict.fromkeys(rows[name].cat.categories))
                ordered[name] = rows[name].cat.ordered
        return {name: pd.CategoricalDtype(list(found[name]), ordered[name]) for name in names}
