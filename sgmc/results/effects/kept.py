"""The rows of a fit, which effects vary: results have copies of the columns that these need, so
that what happens to the user's table afterwards does not count.
"""

from typing import NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

from sgmc.errors import DataError
from sgmc.formula.data.columns import is_plain

MOST_COPIED = 128 << 20  # bytes of the columns of a formula, or of a design
SMALL_TABLE = 16 << 20  # bytes of a table of which all columns are copied, for averages by any
ROWS_SEEN = 1000  # by which a change of columns that the formula does not need is noticed


class Kept(NamedTuple):
    """Rows of a fit as the user gave them.

    Attributes
    ----------
    frame : DataFrame, array (n, d) or CSR array
        Copies of columns, of the rows that the fit used; or their design.
    names : list of str or None
        The columns of the formula; None for a design.
    table : DataFrame or None
        The user's table, by reference, for columns that are not copied.
    rows : array or range
        Those of `table` that the fit used.
    sums : dict
        Checksums of what is not copied: column -> number; None stands for a design.
    weight, trials, offset : array (rows,) or None
        Frequency weights, trials of counts; offsets with logs of exposures, but for the part that
        the formula brings.
    """

    frame: object
    names: list | None
    table: pd.DataFrame | None
    rows: object
    sums: dict
    weight: np.ndarray | None
    trials: np.ndarray | None
    offset: np.ndarray | None

    @property
    def n(self):
        """Rows used."""
        return len(self.rows)

    @property
    def importance(self):
        """What rows count in averages: frequency weights times trials, or None."""
        parts = [one for one in (self.weight, self.trials) if one is not None]
        return np.prod(parts, axis=0) if parts else None

    def part(self, at, names):
        """A slice of the rows used as a DataFrame; `names` are those of a design's columns."""
        if self.names is not None:
            return self.taken(at, self.names)
        part = self.frame[at]
        return pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part, columns=names)

    def taken(self, at, names):
        """Columns of a table, of a slice of the rows used."""
        rows = self.rows[at]
        found = {
            name: self.frame[name].iloc[at] if name in self.frame else self.table[name].iloc[rows]
            for name in names
        }
        found = {name: column.reset_index(drop=True) for name, column in found.items()}
        return pd.DataFrame(found, index=range(len(rows)), copy=False)

    def check(self, by):
        """Raise DataError where columns that are not copied were changed since the fit: those of
        the formula, and those `by` which averages are taken.
        """
        for name in self.sums.keys() & {None, *(self.names or ()), *by}:
            if self.checksum(name) != self.sums[name]:
                what = "the design" if name is None else f"column {name!r}"
                raise DataError(
                    f"{what} was changed after the fit, and is too large for results to have a "
                    "copy of it: pass data=, the rows as they were"
                )

    def checksum(self, name):
        """A number that tells changes of a column: of all its rows where the formula needs it."""
        if name is None:
            X = self.frame
            arrays = [X.data, X.indices, X.indptr] if hasattr(X, "indptr") else [X]
        else:
            column = self.table[name]
            if name not in self.names:
                column = column.iloc[:: len(column) // ROWS_SEEN + 1]
            plain = is_plain(column)
            hashed = column if plain else pd.util.hash_pandas_object(column, index=False)
            arrays = [hashed.to_numpy()]
        found = 0
        for one in arrays:
            found = crc32(np.ascontiguousarray(one), found)
        return found


def nbytes(frame, names):
    """Bytes of columns of a table; of objects those of the references."""
    return sum(frame[name].memory_usage(index=False) for name in names)


def copied_bytes(data):
    """Bytes of columns that results copy of a `RegressionData`; None where they copy none: of rows
    in files, of arrays that are lent and so not to be changed, and where these are too many.
    """
    source = data.source
    design = data.sparse is not None or isinstance(source, np.ndarray)
    if data.lent or not (design or hasattr(source, "frame")):
        return None
    if hasattr(source, "frame"):
        size = nbytes(source.frame, source.columns) * data.n / len(source.frame)
    else:
        size = source.nbytes if data.sparse is None else source.data.nbytes + source.indices.nbytes
    return float(size) if size <= MOST_COPIED else None


def kept_rows(data):
    """`Kept` of a `RegressionData`; None where its rows are not in memory as they were given.

    Parameters
    ----------
    data : RegressionData
    """
    source = data.source
    if hasattr(source, "path"):  # prepared: the columns of the formula are in other files
        return None
    beside = (data.weight, data.trials, data.given_offset)
    beside = [None if one is None else np.array(one) for one in beside]
    copied = copied_bytes(data) is not None
    if hasattr(source, "frame"):
        names, rows, table = source.columns, source.rows, source.frame.copy(deep=False)
        whole = copied and nbytes(table, table.columns) <= SMALL_TABLE
        taken = list(table.columns) if whole else names if copied else []
        others = [name for name in table.columns if name not in taken]
        frame = table[taken].copy() if len(rows) == len(table) else table[taken].iloc[rows]
    else:
        names, table, rows = None, None, range(data.n)
        frame, others = source.copy() if copied else source, [None] * (not copied and not data.lent)
    found = Kept(frame, names, table, rows, {}, *beside)
    return found._replace(sums={name: found.checksum(name) for name in others})
