"""A formula read against data: outcomes, rows, and the design's recipe, which writes it out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.messages import label_text
from sgmc.arguments.types import Array, Floats, Index, Ints
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.designs.cells import unseen
from sgmc.formula.designs.design import DesignSpec
from sgmc.formula.designs.groups import grouped
from sgmc.formula.designs.spreads import of_rows

if TYPE_CHECKING:
    from sgmc.formula.designs.coded import CodedTable
    from sgmc.formula.designs.groups import Crossing, Grouping


@dataclass(frozen=True, eq=False)
class Table:
    """A formula read against data; the design itself is written by `fill`.

    Parameters
    ----------
    spec : DesignSpec
    y : ndarray of float64, shape (n,)
    trials : ndarray of float64, shape (n,), or None
        Successes and failures together, y being the successes.
    weights, offset, exposure, se, strata, groups : ndarray of float64, shape (n,), or None
    rows : ndarray of int64, shape (n,), or range
        Positions in the data of the rows kept; a range where these are all.
    dropped : int
        Rows lost to missing values, not to the subset.
    left_out : dict
        Columns that the dot left out -> reason.
    notes : tuple of SGMCWarning
        What was warned of when the formula was read.
    frame : pandas.DataFrame
        The data.
    bars : tuple of Bar
        The formula's group terms.
    effects : tuple of DesignSpec
        What each of them has left of the bar.
    smooths : tuple of (SmoothCall, DesignSpec, DesignSpec or None)
        Smooth terms, the designs of their covariates and of what they are multiplied by.
    given_offset : ndarray of float64, shape (n,), or None
        What of `offset` was given as an argument, where the formula has an offset of its own.
    arguments : dict
        What a prepared file was made with, such as the names of the columns of weights and offset.
    """

    spec: DesignSpec
    y: np.ndarray
    trials: np.ndarray | None
    weights: np.ndarray | None
    offset: np.ndarray | None
    exposure: np.ndarray | None
    se: np.ndarray | None
    strata: np.ndarray | None
    rows: np.ndarray | range
    dropped: int
    left_out: dict[Any, Any]
    frame: pd.DataFrame
    bars: tuple[Any, ...] = ()
    effects: tuple[Any, ...] = ()
    smooths: tuple[Any, ...] = ()
    groups: np.ndarray | None = None
    given_offset: np.ndarray | None = None
    notes: tuple[Any, ...] = ()
    arguments: dict[Any, Any] = field(default_factory=dict)

    @property
    def index(self) -> Index:
        """Index labels of the rows kept."""
        return (
            self.frame.index if len(self.rows) == len(self.frame) else self.frame.index[self.rows]
        )

    def scales(self, sd: Floats, weight: Floats | None) -> Floats:
        """What autoscaled priors of the columns are divided by, (d,), see
        `sgmc.formula.designs.spreads`; `sd` (d,) are those of the columns, `weight` (n,) or None
        counts the rows.
        """
        return of_rows(self.spec, self.frame, self.rows, weight)(sd)

    def unseen(self) -> tuple[list[str], list[str]]:
        """Combinations of levels that no row has, see `sgmc.formula.designs.cells`."""
        return unseen(self.spec, self.frame, self.rows, self.weights)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the right side of the formula needs."""
        specs = [
            self.spec,
            *self.effects,
            *(one for _, *both in self.smooths for one in both if one),
        ]
        grouped = [name for bar in self.bars for name in bar.columns]
        return list(dict.fromkeys([*(name for one in specs for name in one.columns), *grouped]))

    def grouping(self) -> "Grouping | Crossing | None":
        """The `Grouping` or `Crossing` of the rows; None without group terms and smooths."""
        return grouped(self) if self.bars or self.smooths else None

    def fill(self, out: Array, position: Ints | None = None, chunk: int = CHUNK_ROWS) -> None:
        """Write the design, row i into ``out[position[i]]``.

        Parameters
        ----------
        out : ndarray of float64 or float32, shape (n, d)
        position : array of int, shape (n,), optional
            A permutation of the rows; as they come when None.
        chunk : int
            Rows evaluated at a time, at most.

        Raises
        ------
        ArgumentError
            If `out` has another shape.
        DataError
            If a predictor is infinite, also in the precision of `out`.
        """
        shape = (len(self.rows), len(self.spec.exog_names))
        if out.shape != shape:
            raise ArgumentError(f"the design has shape {shape}, out has {out.shape}")
        for span, block in self.blocks(out.dtype, chunk):
            out[span if position is None else position[span]] = block

    def blocks(
        self,
        dtype: DTypeLike,
        chunk: int = CHUNK_ROWS,
        change: Callable[[Array, slice], Array] | None = None,
    ) -> Iterator[tuple[slice, Array]]:
        """Pairs of a slice of the rows and their part of the design, which the next overwrites; see
        `fill`.  ``change(block, span)``, if given, makes what is written of each block of float64.
        """
        read = dtype if change is None else np.float64
        for span, block in self.spec.blocks(self.frame, self.rows, chunk, read):
            block = block if change is None else change(block, span)
            if not np.isfinite(block).all():
                raise self._infinite(span, block)
            yield span, block

    def design_bytes(self, dtype: np.dtype[Any]) -> float:
        """Bytes of the design, with factors as codes where there are many levels."""
        n, coding = len(self.rows), self.spec.coding
        if coding is None:
            return float(n) * len(self.spec.exog_names) * dtype.itemsize
        return float(n) * (coding.row_bytes(dtype) - (coding.intercept >= 0) * dtype.itemsize)

    def coded(
        self,
        position: Ints,
        dtype: DTypeLike,
        whole: bool = False,
        change: Callable[..., Array] | None = None,
    ) -> "CodedTable":
        """The design with its factors as codes, row i at ``position[i]``; see `fill`.  Of the
        intercept nothing is stored, unless `whole`; `change` is of the numbers, see `blocks`.

        Returns
        -------
        CodedTable
        """
        coding: Any = self.spec.coding
        out = coding.empty(len(self.rows), dtype, -1 if whole else coding.intercept)
        for span, found in self.spec.values(self.frame, self.rows):
            coding.write(out, position[span], found, change and partial(change, span=span))
        place = out.first_place(lambda numbers: ~np.isfinite(numbers))
        if place is not None:
            row = np.flatnonzero(position == place[0])[0]
            raise self._not_finite(row, place[1])
        return out

    def _infinite(self, span: slice, block: Array) -> DataError:
        row, column = np.argwhere(~np.isfinite(block))[0]
        return self._not_finite(span.start + row, column)

    def _not_finite(self, row: int, column: int) -> DataError:
        where = self.frame.index[self.rows[row]]
        name = self.spec.exog_names[column]
        return DataError(
            f"predictor {name!r} is not finite at row {label_text(where)}; drop or change such rows"
        )
