"""What is computed of new rows, a piece at a time: whatever is done to rows in memory is done to
pieces of a source, so that the results are the same to the bit.

Pieces end where blocks of rows in memory end; draws are thinned by the number of all rows; and one
random stream goes through the rows in their order.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.core.system import deadline
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.results.outcomes.data.beside import need_errors, need_trials, with_exposure
from sgmc.results.outcomes.data.labels import plain
from sgmc.results.outcomes.data.pieces import Pieces
from sgmc.results.outcomes.data.rows import ROWS_MEMORY, ROWS_WORK
from sgmc.results.outcomes.data.writing import checked, table_file
from sgmc.sources.opening import of


class Method(NamedTuple):
    """Something to compute of rows.

    Attributes
    ----------
    name : str
        As the user calls it.
    select : callable
        ``select(rows, n)`` returns the rows with the draws to use where there are n rows in all.
    compute : callable
        ``compute(rows)`` returns a DataFrame of them, or an array (draw, row).
    """

    name: str
    select: object
    compute: object


class Stream:
    """New rows of results, to compute methods of.

    Parameters
    ----------
    results : Results
    exog, beside, transform
        See `Pieces`.
    prepare : callable
        ``prepare(frame, beside)`` returns the `Rows` of a piece.
    """

    def __init__(self, results, exog, beside, prepare, transform=True):
        self.results, self.prepare = results, prepare
        self.pieces = Pieces(results, exog, beside, transform)

    def run(self, method, to=None):
        """All rows together, or written to a file, whose path is returned."""
        if to is None:
            return joined(self.computed(method), self.pieces.n, method.name)
        path = checked(to)
        with table_file(path) as file:
            for start, found in self.computed(method):
                file.write(numbered(start, found))
        return path

    def computed(self, method):
        """Pairs of the number of the first row and what was computed of a piece."""
        for start, rows in self.rows(self.size(method)):
            deadline.check()
            yield start, method.compute(method.select(rows, self.pieces.n))

    def rows(self, size):
        """Pairs of the number of the first row and `Rows`, whose labels are their numbers."""
        for start, frame, beside in self.pieces.parts(size):
            try:
                rows = self.prepare(frame, beside)
            except (DataError, FormulaError) as error:
                where = f"exog, rows {start} to {start + len(frame) - 1}"
                raise type(error)(f"{where}: {error}") from error
            yield start, replace(rows, index=pd.RangeIndex(start, start + rows.n))

    def size(self, method):
        """Rows of a piece: some blocks of `Rows.blocks`."""
        first = next(self.rows(1), None)
        if first is None:
            raise DataError(f"{method.name}: the new data have no rows")
        rows = method.select(first[1], self.pieces.n)
        block = rows.block
        most = min(CHUNK_ROWS, int(ROWS_WORK // rows.m), ROWS_MEMORY // (16 * rows.m))
        return max(most // block, 1) * block


def stream_of(results, exog, to, beside, what, transform=True):
    """The `Stream` of new rows: of those that need not be in memory, or that are written to a file;
    None for others.

    `what` the user asked for needs trials and standard errors where the fit had them; empty where
    it does not.
    """
    if exog is None or (to is None and of(exog, "exog") is None):
        return None

    def prepare(frame, beside):
        rest = dict(beside)
        given = rest.pop("offset"), rest.pop("exposure")
        offset = with_exposure(results, frame, *given, transform)
        if what:
            need_trials(results, frame, rest["trials"], what)
            need_errors(results, frame, rest["se"], what)
        return results.table_rows(frame, offset, transform=transform, **rest)

    return Stream(results, exog, beside, prepare, transform)


def joined(found, n, what):
    """All pieces together; ArgumentError where memory should not hold them."""
    parts = []
    for _, one in found:
        size = 8 * one.size * n / (one.shape[1] if isinstance(one, np.ndarray) else len(one))
        if size > ROWS_MEMORY:
            raise ArgumentError(
                f"{what} of {n:,} rows is {size / 2**30:.1f} GB, over the limit of 1 GB: give to=, "
                "the path of a .parquet or .csv file to write it to"
            )
        parts.append(one)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts, axis=1)
    return pd.concat(parts)


def numbered(start, found, name="mean"):
    """Rows as they are written: with a column ``row``, their number from 0; `name` is that of the
    other column where there is one alone.
    """
    if isinstance(found, np.ndarray):
        found = pd.DataFrame(found.T, columns=[f"draw_{k}" for k in range(len(found))])
        found.index += start
    frame = found.to_frame(name) if isinstance(found, pd.Series) else found
    frame = frame.rename_axis(index=["row", *frame.index.names[1:]]).reset_index()
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def written(found, to, name="mean"):
    """Write what was computed of the rows of a fit, in the order of the data.

    Parameters
    ----------
    found : array (n,) or (draw, n), Series or DataFrame
    to : str or path
    """
    path, found = checked(to), plain(found)
    drawn = isinstance(found, np.ndarray) and found.ndim == 2
    per = 1
    if isinstance(found, (pd.Series, pd.DataFrame)) and found.index.nlevels > 1:
        per = len(found.index.levels[1])
    n = found.shape[1] if drawn else len(found) // per
    with table_file(path) as file:
        for start in range(0, n, CHUNK_ROWS):
            part = slice(start * per, (start + CHUNK_ROWS) * per)
            file.write(
                numbered(start, found[:, part] if drawn else labelled(found, part, per), name)
            )
    return path


def labelled(found, part, per):
    """Some of the rows, labelled by their numbers."""
    if isinstance(found, np.ndarray):
        return pd.Series(found[part], pd.RangeIndex(part.start, part.start + len(found[part])))
    piece = found.iloc[part]
    rows = np.arange(part.start, part.start + len(piece)) // per
    if per == 1:
        return piece.set_axis(pd.Index(rows), axis=0)
    kinds = piece.index.get_level_values(1)
    return piece.set_axis(
        pd.MultiIndex.from_arrays([rows, kinds], names=["row", piece.index.names[1]]), axis=0
    )
