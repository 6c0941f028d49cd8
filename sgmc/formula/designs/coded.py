"""Designs whose factors stay codes: a dense block of numbers, and a cell of a table for each row
of each categorical term.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.types import Array, Bools, Floats, Ints, Sparse


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A design of n rows and d columns that is never made dense.

    A row of the design is its numbers, each in its column, and for each categorical term a row of
    the table `cells`, which holds the contrasts: one number per row under treatment coding.  A
    term with numbers (``g:x``) multiplies its cell by them.

    Attributes
    ----------
    numbers : array (n, p)
        float64 or float32.
    places : array (p,) of int
        Their columns.
    codes : array (n, t) of int16 or int32
        The cell of each categorical term.
    cells : csr_array (k, d)
        What a cell adds to a row, for the cells of all terms.
    factors : array (n, v) of float64
        What cells are multiplied by.
    by : array (t,) of int32
        The column of `factors` of each categorical term; -1: none.
    ones : int
        A column that is one in every row, of which nothing is stored; -1: none.
    """

    numbers: np.ndarray
    places: np.ndarray
    codes: np.ndarray
    cells: sparse.csr_array
    factors: np.ndarray
    by: np.ndarray
    ones: int = -1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.codes), self.cells.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""
        return self.numbers.dtype

    @property
    def arrays(self) -> list[Array]:
        """Everything that it is made of."""
        cells = self.cells
        return [
            self.numbers,
            self.places,
            self.codes,
            cells.indptr,
            cells.indices,
            cells.data,
            self.factors,
            self.by,
        ]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self.arrays)

    @property
    def tips(self) -> Ints:
        """Columns of the largest term of which no row has more than one number: their block of any
        X' W X is diagonal.
        """
        return self.tip_term[1]

    @property
    def tip_term(self) -> tuple[int, Ints]:
        """The number of that term, -1 where there is none, and its columns."""
        entries, term, found = np.diff(self.cells.indptr), -1, np.empty(0, dtype=int)
        for t in range(len(self.by)):
            used = np.flatnonzero(self.counted(t))
            columns = np.flatnonzero(self.held(used))
            if len(columns) > len(found) and (entries[used] <= 1).all():
                term, found = t, columns
        return term, found

    def held(self, cells: Ints) -> Bools:
        """Which columns some cells have numbers in, (d,)."""
        held = np.zeros(self.shape[1], dtype=bool)
        held[self.cells[cells].indices] = True
        return held

    def without(self, t: int, columns: Ints) -> "CodedTable":
        """The design without a categorical term and its columns."""
        left = np.delete(np.arange(self.shape[1]), columns)
        terms = np.delete(np.arange(len(self.by)), t)
        return replace(
            self,
            places=np.searchsorted(left, self.places),
            codes=np.ascontiguousarray(self.codes[:, terms]),
            cells=sparse.csr_array(self.cells[:, left]),
            by=self.by[terms],
            ones=int(np.searchsorted(left, self.ones)) if self.ones >= 0 else -1,
        )

    def part(self, terms: list[int], numbers: Ints, ones: bool = False) -> "CodedTable":
        """The design with some of the categorical terms and numbers alone, and the column of ones
        or not; other columns stay, and are zero.
        """
        return replace(
            self,
            numbers=np.ascontiguousarray(self.numbers[:, numbers]),
            places=self.places[numbers],
            codes=np.ascontiguousarray(self.codes[:, terms]),
            by=self.by[terms],
            ones=self.ones if ones else -1,
        )

    def __getitem__(self, rows: Any) -> "CodedTable":
        """Some rows: a slice, an array of their places, or of bool."""
        return replace(
            self, numbers=self.numbers[rows], codes=self.codes[rows], factors=self.factors[rows]
        )

    def __matmul__(self, B: Floats) -> Floats:
        """X B for an array B (d,) or (d, k)."""
        B = np.asarray(B)
        out = self.numbers @ B[self.places]
        if self.ones >= 0:
            out = out + B[self.ones]
        for t, column in enumerate(self.by):
            # only the cells that these rows are in
            part = self.cells[self.codes[:, t]] @ B
            if column >= 0:
                part *= self.factors[:, column].reshape(-1, *[1] * (B.ndim - 1))
            out = out + part
        return out

    def rmatvec(self, v: Floats) -> Floats:
        """X' v for an array v (n,)."""
        out = np.zeros(self.shape[1])
        out[self.places] = v @ self.numbers
        if self.ones >= 0:
            out[self.ones] = v.sum()
        for t in range(len(self.by)):
            out += self.term(t).T @ v
        return out

    def term(self, t: int) -> Sparse:
        """Rows of one categorical term, as a CSR array (n, d)."""
        rows = self.cells[self.codes[:, t]]
        if self.by[t] < 0:
            return rows
        return sparse.csr_array(sparse.diags_array(self.factors[:, self.by[t]]) @ rows)

    def toarray(self) -> Floats:
        """The dense design, of float64."""
        out = np.zeros(self.shape)
        out[:, self.places] = self.numbers
        if self.ones >= 0:
            out[:, self.ones] = 1.0
        for t in range(len(self.by)):
            out += self.term(t).toarray()
        return out

    def counted(self, t: int, weight: Array | None = None) -> Array:
        """Sum of the weights (default 1) of the rows in each cell, for one categorical term."""
        if weight is None:
            return self.counts[t]
        return self.summed(t, weight)

    @cached_property
    def counts(self) -> list[Ints]:
        """Numbers of rows in each cell, for each categorical term; of a table that is written."""
        total = [np.zeros(self.cells.shape[0], int) for _ in self.by]
        for a in range(0, len(self.codes), CHUNK_ROWS):  # one pass over the rows for all terms
            codes = self.codes[a : a + CHUNK_ROWS]
            for t, count in enumerate(total):
                count += np.bincount(codes[:, t], minlength=len(count))
        return total

    def summed(self, t: int, weight: Array | None = None) -> Floats:
        """`counted`, by a pass over the rows."""
        total = np.zeros(self.cells.shape[0], int if weight is None else float)
        for a in range(0, len(self.codes), CHUNK_ROWS):  # codes become long integers
            rows = slice(a, a + CHUNK_ROWS)
            some = None if weight is None else weight[rows]
            total += np.bincount(self.codes[rows, t], some, len(total))
        return total

    def moments(self, weight: Array | None = None) -> tuple[Floats, Floats]:
        """Means and standard deviations (n - 1) of the columns, (d,) each; weights count rows.

        Numbers are left out: zeros stand in their columns.
        """
        n, d = self.shape
        first, second = np.zeros(d), np.zeros(d)
        for t, column in enumerate(self.by):
            if column < 0:
                sums = squares = self.counted(t, weight)
            else:
                by, w = self.factors[:, column], 1.0 if weight is None else weight
                sums, squares = self.counted(t, w * by), self.counted(t, w * by**2)
            used = np.flatnonzero(self.counted(t))
            cells = self.cells[used]
            first += cells.T @ sums[used]
            second += cells.multiply(cells).T @ squares[used]
        total = n if weight is None else weight.sum()
        if self.ones >= 0:
            first[self.ones] = second[self.ones] = total
        spread = np.maximum(second - first**2 / total, 0.0)
        return first / total, np.sqrt(spread / max(total - 1, 1))

    def first_place(self, bad: Callable[[Array], Bools]) -> tuple[int, int] | None:
        """(row, column) of the first number, else multiplier, for which `bad` is true, or None.

        Parameters
        ----------
        bad : callable
            From an array of numbers to one of bools.
        """
        for part in (self.numbers, self.factors):
            found = bad(part)
            if not found.any():
                continue
            row, at = (int(i) for i in np.argwhere(found)[0])
            if part is self.numbers:
                return row, int(self.places[at])
            return row, int(self.term(np.flatnonzero(self.by == at)[0]).indices[0])
        return None


def beside(X: Any, columns: Array) -> Any:
    """A design with some more columns behind its own."""
    if not isinstance(X, CodedTable):
        return np.concatenate([np.asarray(X), columns], axis=1)
    d, k = X.shape[1], columns.shape[1]
    numbers = np.ascontiguousarray(np.concatenate([X.numbers, columns], axis=1))
    places = np.concatenate([X.places, np.arange(d, d + k)])
    return replace(X, numbers=numbers, places=places, cells=grown(X.cells, d + k))


def grown(cells: Sparse, width: int) -> Sparse:
    """The same cells in a wider design."""
    parts = cells.data, cells.indices, cells.indptr
    return sparse.csr_array(parts, shape=(cells.shape[0], width))
