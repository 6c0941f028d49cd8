"""New rows a piece at a time, in their order: of files, of tables of other libraries that are not
in memory, or of a table that is.
"""

from functools import cached_property

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.data.frames import as_frame, pandas_or_same
from sgmc.sources import opening

OF_FIT = ("offset", "exposure", "trials", "se")  # columns whose names the fit may have


class Pieces:
    """See the module.

    Parameters
    ----------
    results : Results
    exog : whatever `sgmc.sources.opening.of` takes, a table in memory, or a design
    beside : dict
        Offset, outcomes and the like of the rows, by the argument's name: a column's name, one
        number for all rows, or one for each.  Of what the fit had from a column, the default is
        the column of that name.
    transform : bool
        False: `exog` is a design, although the model has a formula.
    """

    def __init__(self, results, exog, beside, transform=True):
        self.source = opening.of(exog, "exog")
        spec, inputs = results.model.spec if transform else None, results.model.inputs
        if self.source is None:
            self.table = as_frame(exog) if spec is not None else pandas_or_same(exog)
            self.design = not hasattr(self.table, "columns")
            self.columns = [] if self.design else list(self.table.columns)
        else:
            self.design, self.columns = False, self.source.columns
        names = {k: inputs.get(k) for k in OF_FIT if k in beside and beside[k] is None}
        named = {k: v for k, v in names.items() if isinstance(v, str) and v in self.columns}
        self.beside = {**beside, **named}
        if spec is not None:
            spec.check_new(pd.DataFrame(columns=self.columns))
        needed = list(spec.columns if spec is not None else results.model.exog_names)
        for argument, name in self.beside.items():
            if isinstance(name, str) and name not in self.columns:
                raise DataError(
                    f"{argument}={name!r} is not a column of the new "
                    f"data{nearest(name, self.columns, 'its columns are')}"
                )
        self.needed = needed
        self.names = [v for v in self.beside.values() if isinstance(v, str)]

    @cached_property
    def n(self):
        """Rows; where only reading tells, they are read for it."""
        if self.source is None:
            return len(self.table)
        if self.source.rows is not None:
            return self.source.rows
        one = self.columns[:1]
        return sum(len(chunk) for chunk in self.source.chunks(columns=one))

    def frames(self, size):
        """Tables of `size` rows, the last one of the rest; columns that are not needed are left
        out of those that are read.
        """
        if self.source is None:
            for start in range(0, self.n, size):
                part = slice(start, start + size)
                yield self.table[part] if self.design else self.table.iloc[part]
            return
        read = [name for name in dict.fromkeys([*self.needed, *self.names]) if name in self.columns]
        held, waiting = [], 0
        for chunk in self.source.chunks(columns=read or self.columns[:1]):
            held.append(chunk)
            waiting += len(chunk)
            while waiting >= size:
                joined = held[0] if len(held) == 1 else pd.concat(held, ignore_index=True)
                yield joined.iloc[:size].reset_index(drop=True)
                held, waiting = [joined.iloc[size:]], waiting - size
        if waiting:
            yield pd.concat(held, ignore_index=True)

    def parts(self, size):
        """Triples of the number of the first row, a table, and what is beside it, as arrays."""
        start = 0
        for frame in self.frames(size):
            span = slice(start, start + len(frame))
            beside = {name: self.part(name, one, frame, span) for name, one in self.beside.items()}
            yield start, frame[self.needed] if self.narrow else frame, beside
            start = span.stop
        if start != self.n:
            raise DataError(f"the new data had {self.n} rows and have {start} now: read them again")

    @property
    def narrow(self):
        """Whether the table is a design among other columns."""
        return not self.design and all(name in self.columns for name in self.needed)

    def part(self, name, values, frame, span):
        """What is beside some rows: the column of that name, or the numbers."""
        if values is None or np.ndim(values) == 0 and not isinstance(values, str):
            return values
        if isinstance(values, str):
            return frame[values].to_numpy()
        if len(values) != self.n:
            raise ArgumentError(
                f"{name} has {len(values)} values, the new data have {self.n} rows; give one value "
                "a row, or the name of a column"
            )
        return np.asarray(values)[span]
