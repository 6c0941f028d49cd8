"""A formula read against data: outcomes, rows, and the design's recipe, which writes it out."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text
from sgmc.arguments.tables import CHUNK_ROWS
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.cells import unseen
from sgmc.formula.design import DesignSpec
from sgmc.formula.groups import grouped
from sgmc.formula.spreads import of_rows


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
    left_out: dict
    frame: pd.DataFrame
    bars: tuple = ()
    effects: tuple = ()
    smooths: tuple = ()
    groups: np.ndarray | None = None
    given_offset: np.ndarray | None = None
    notes: tuple = ()
    arguments: dict = field(default_factory=dict)

    @property
    def index(self):
        """Index labels of the rows kept."""
        return (
            self.frame.index if len(self.rows) == len(self.frame) else self.frame.index[self.rows]
        )

    def scales(self, sd, weight):
        """What autoscaled priors of the columns are divided by, (d,), see `sgmc.formula.spreads`;
        `sd` (d,) are those of the columns, `weight` (n,) or None counts the rows.
        """
        return of_rows(self.spec, self.frame, self.rows, weight)(sd)

    def unseen(self):
        """Combinations of levels that no row has, see `sgmc.formula.cells`."""
        return unseen(self.spec, self.frame, self.rows, self.weights)

    @property
    def columns(self):
        """Names of the columns that the right side of the formula needs."""
        specs = [
            self.spec,
            *self.effects,
            *(one for _, *both in self.smooths for one in both if one),
        ]
        grouped = [name for bar in self.bars for name in bar.columns]
        return list(dict.fromkeys([*(name for one in specs for name in one.columns), *grouped]))

    def grouping(self):
        """The `Grouping` or `Crossing` of the rows; None without group terms and smooths."""
        return grouped(self) if self.bars or self.smooths else None

    def fill(self, out, position=None, chunk=CHUNK_ROWS):
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

    def blocks(self, dtype, chunk=CHUNK_ROWS, change=None):
        """Pairs of a slice of the rows and their part of the design, which the next overwrites; see
        `fill`.  ``change(block, span)``, if given, makes what is written of each block of float64.
        """
        read = dtype if change is None else np.float64
        for span, block in self.spec.blocks(self.frame, self.rows, chunk, read):
            block = block if change is None else change(block, span)
            if not np.isfinite(block).all():
                raise self._infinite(span, block)
            yield span, block

    def design_bytes(self, dtype):
        """Bytes of the design, with factors as codes where there are many levels."""
        n, coding = len(self.rows), self.spec.coding
        if coding is None:
            return float(n) * len(self.spec.exog_names) * dtype.itemsize
        return float(n) * (coding.row_bytes(dtype) - (coding.intercept >= 0) * dtype.itemsize)

    def coded(self, position, dtype, whole=False, change=None):
        """The design with its factors as codes, row i at ``position[i]``; see `fill`.  Of the
        intercept nothing is stored, unless `whole`; `change` is of the numbers, see `blocks`.

        Returns
        -------
        CodedTable
        """
        coding = self.spec.coding
        out = coding.empty(len(self.rows), dtype, -1 if whole else coding.intercept)
        for span, found in self.spec.values(self.frame, self.rows):
            coding.write(out, position[span], found, change and partial(change, span=span))
        place = out.first_place(lambda numbers: ~np.isfinite(numbers))
        if place is not None:
            row = np.flatnonzero(position == place[0])[0]
            raise self._not_finite(row, place[1])
        return out

    def _infinite(self, span, block):
        row, column = np.argwhere(~np.isfinite(block))[0]
        return self._not_finite(span.start + row, column)

    def _not_finite(self, row, column):
        where = self.frame.index[self.rows[row]]
        name = self.spec.exog_names[column]
        return DataError(
            f"predictor {name!r} is not finite at row {label_text(where)}; drop or change such rows"
        )
