"""From the blocks of a design to a table in which factors stay codes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from sgmc.arguments.types import Array, Ints
from sgmc.errors import DataError
from sgmc.formula.designs.coded import CodedTable

if TYPE_CHECKING:
    from sgmc.formula.designs.blocks import Block


MOST_CELLS = 1 << 31  # that codes can number
FEW_CELLS = 1 << 15  # that codes of two bytes can


class Coding:
    """Where the blocks of a design are in a `CodedTable`.

    Parameters
    ----------
    blocks : list of Block
    width : int
        Columns of the design.

    Attributes
    ----------
    intercept : int
        Its column, -1 where there is none.
    """

    def __init__(self, blocks: "list[Block]", width: int) -> None:
        self.dense = [block for block in blocks if not block.categorical]
        self.places = np.array(
            [j for block in self.dense for j in range(block.columns.start, block.columns.stop)],
            dtype=np.intp,
        )
        self.intercept = next((b.columns.start for b in self.dense if not b.factors), -1)
        self.terms, cells, count = [], [], 0
        for block in blocks:
            if not block.categorical:
                continue
            matrix, choices = block.cells()
            for choice, columns in choices:
                self.terms.append((block, choice, count))
                parts = (matrix.data, columns[matrix.indices], matrix.indptr)
                cells.append(sparse.csr_array(parts, shape=(matrix.shape[0], width)))
                count += matrix.shape[0]
        if count >= MOST_CELLS:
            raise DataError(
                f"the factors of the design have {count:,} combinations of levels, more than can "
                "be numbered; leave an interaction out, or merge levels"
            )
        # the last cell is that of rows with something missing
        missing = sparse.csr_array(([np.nan], [0], [0, 1]), shape=(1, width))
        self.cells = sparse.csr_array(sparse.vstack([*cells, missing]))
        multiplied = [bool(choice) for _, choice, _ in self.terms]
        self.by = np.where(multiplied, np.cumsum(multiplied) - 1, -1).astype(np.int32)

    def columns(self, t: int) -> Ints:
        """Columns of a categorical term, those of combinations that do not occur included."""
        first = self.terms[t][2]
        last = self.terms[t + 1][2] if t + 1 < len(self.terms) else self.cells.shape[0] - 1
        held = np.zeros(self.cells.shape[1], dtype=bool)
        held[self.cells.indices[slice(*self.cells.indptr[[first, last]])]] = True
        return np.flatnonzero(held)

    @property
    def numbers(self) -> Ints:
        """Columns of which numbers are stored: all dense ones but the intercept."""
        return self.places[self.places != self.intercept]

    @property
    def code_type(self) -> np.dtype[Any]:
        """The type of codes: as few bytes as hold the number of a cell."""
        return np.dtype(np.int16 if self.cells.shape[0] <= FEW_CELLS else np.int32)

    def row_bytes(self, dtype: np.dtype[Any]) -> int:
        """Bytes of a row of a table that stores every number."""
        multipliers = self.by.max() + 1
        code = self.code_type.itemsize
        return len(self.places) * dtype.itemsize + code * len(self.terms) + 8 * multipliers

    def empty(self, n: int, dtype: DTypeLike = np.float64, ones: int = -1) -> CodedTable:
        """A table of n rows, all of them missing; of the column of `ones` it stores nothing."""
        places = self.places[self.places != ones]
        return CodedTable(
            np.full((n, len(places)), np.nan, dtype),
            places,
            np.full((n, len(self.terms)), self.cells.shape[0] - 1, self.code_type),
            self.cells,
            np.full((n, self.by.max() + 1), np.nan),
            self.by,
            ones,
        )

    def write(
        self,
        table: CodedTable,
        rows: Any,
        values: Mapping[Any, Array],
        change: Callable[[Array], Array] | None = None,
    ) -> None:
        """Fill in some rows.

        Parameters
        ----------
        table : CodedTable
        rows : array of int
        values : dict
            Of each `Factor`, its numbers or codes in these rows.
        change : callable, optional
            From the numbers, in float64, to what is written of them.
        """
        numbers = np.empty((len(rows), len(table.places)))
        done = 0
        for block in self.dense:
            if block.columns.start == table.ones:
                continue
            size = block.columns.stop - block.columns.start
            numbers[:, done : done + size] = block.product(values)
            done += size
        with np.errstate(over="ignore"):  # infinite in float32: for the caller to report
            table.numbers[rows] = numbers if change is None else change(numbers)
        for t, (block, choice, first) in enumerate(self.terms):
            table.codes[rows, t] = first + block.joint(values)
            if choice:
                table.factors[rows, self.by[t]] = block.multiplier(values, choice)
