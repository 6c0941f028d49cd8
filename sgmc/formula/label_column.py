"""A column of labels as the covariate of a term of levels, such as ``car(region, graph)``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from sgmc.arguments.messages import labels_text
from sgmc.arguments.types import Array, Floats, Frame, Index
from sgmc.errors import DataError, FormulaError
from sgmc.formula.frames import as_frame
from sgmc.formula.groups import MISSING, Levels
from sgmc.formula.levels import places_of

LABELS_SHOWN = 3


@dataclass(frozen=True)
class LabelColumn:
    """The number of each row's label among all that the term has: in a `Smooth` what `DesignSpec`
    is of numbers.

    Attributes
    ----------
    term : str
        ``"car(region)"``.
    known : Levels
        The column, and all labels of the term.
    """

    term: str
    known: Levels
    categorical = False

    @classmethod
    def of(cls, term: str, column: str, labels: Sequence[Any]) -> "LabelColumn":
        """Of a column and the labels of a term, in their order."""
        index = pd.Index(labels, tupleize_cols=False)
        return cls(term, Levels((column,), index))

    @property
    def columns(self) -> list[str]:
        """See `DesignSpec`."""
        return list(self.known.columns)

    @property
    def exog_names(self) -> list[str]:
        """See `DesignSpec`."""
        return list(self.known.columns)

    @property
    def labels(self) -> Index:
        """All labels."""
        return self.known.index

    def numbers(self, labels: Any) -> Floats:
        """Their numbers (n,); DataError for labels that the term does not have."""
        asked = pd.Index(labels, tupleize_cols=False)
        found = places_of(asked, self.labels, self.known.columns)
        self.refuse(asked[found < 0].unique())
        return found.astype(float)

    def refuse(self, unknown: Index) -> None:
        """DataError for labels that the term does not have."""
        if len(unknown):
            raise DataError(
                f"column {self.columns[0]!r} has labels that {self.term} does not have: "
                f"{labels_text(unknown, LABELS_SHOWN)}; add them to it, or leave such rows out"
            )

    def matrix(self, data: Any) -> Floats:
        """The numbers of new rows, (n, 1); NaN where a label is missing.

        Raises
        ------
        FormulaError, DataError
            Where the column is not there, or has labels that the term does not have.
        """
        frame = as_frame(data)
        if self.columns[0] not in frame:
            raise FormulaError(f"the data have no column {self.columns[0]!r}, which {self.term} needs")
        codes, new = self.known.codes(frame)
        self.refuse(new)
        return np.where(codes == MISSING, np.nan, codes)[:, None]

    def blocks(
        self, frame: Frame, rows: Any, chunk: int = 0, dtype: DTypeLike = np.float64
    ) -> Iterator[tuple[slice, Array]]:
        """See `DesignSpec`: all rows at once."""
        some = frame[self.columns].iloc[rows]
        yield slice(0, len(rows)), self.matrix(some).astype(dtype)
