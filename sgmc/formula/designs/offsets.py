"""The offset that stands in a formula, evaluated on any rows; it can be pickled."""

from typing import TYPE_CHECKING

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.types import Floats, Frame, Ints
from sgmc.errors import FormulaError
from sgmc.formula.data.chunks import Chunk, Gaps
from sgmc.formula.data.columns import is_missing, kind
from sgmc.formula.data.labels import cure_of_text
from sgmc.formula.designs import across
from sgmc.formula.designs.factors import Factor

if TYPE_CHECKING:
    from sgmc.formula.syntax.parser import Parsed


class Offset(Factor):
    """The sum of the ``offset()`` terms of a formula.

    Parameters
    ----------
    parsed : Parsed

    Raises
    ------
    FormulaError
        Where it calls what learns from all rows.
    """

    def __init__(self, parsed: "Parsed") -> None:
        self.code = parsed.offset
        self.label = f"offset({parsed.names.quoted(self.code)})"
        self.quoted = self.label
        self.inputs = parsed.names.inputs(self.code)
        self.is_column = self.code in self.inputs
        self.levels, self.width, self.transforms = None, 1, {}
        words = compile(self.code, "<formula>", "eval").co_names
        self.functions = {name: value for name, value in parsed.functions.items() if name in words}
        for name, value in self.functions.items():
            if hasattr(value, "__patsy_stateful_transform__"):
                raise parsed.error(
                    f"{self.label}: {name}() learns from all rows; make a column of it first"
                )

    @property
    def columns(self) -> list[str]:
        """Names of the columns that it needs."""
        return list(self.inputs.values())

    def settle(self, frame: Frame) -> None:
        """Make it one of each row, from the rows of the fit; see `across`."""
        if not self.is_column:
            across.settle(self, frame, self.complete(frame))

    def complete(self, frame: Frame) -> Ints:
        """Places of the rows that have all of its columns."""
        gaps = Gaps(len(frame))
        for name in self.columns:
            gaps.add(name, slice(None), is_missing(frame[name]))
        return gaps.complete()

    def values(self, columns: Chunk) -> Floats:
        # a column that holds no numbers is none in the fit either
        if self.is_column:
            name = self.inputs[self.code]
            if columns.numbers(name).dtype.kind not in "biuf":
                held = columns[name]
                raise FormulaError(
                    f"{self.label} must be a number in each row, it holds {kind(held)}"
                    f"{cure_of_text(held)}"
                )
        return super().values(columns)

    def of(self, frame: Frame) -> Floats:
        """Its value in each row of a frame, float64; NaN where a column of it is missing."""
        rows, out = self.complete(frame), np.full(len(frame), np.nan)
        for start in range(0, len(rows), CHUNK_ROWS):
            some = rows[start : start + CHUNK_ROWS]
            numbers = self.evaluate(Chunk(frame, some))
            if np.ndim(numbers) > 0:
                numbers = self.values(Chunk(frame, some))[:, 0]
            elif not isinstance(numbers, int | float):
                raise FormulaError(f"{self.label} must be a number in each row, not {numbers!r}")
            out[some] = numbers
        return out
