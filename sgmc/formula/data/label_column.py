"""A column of labels as the covariate of a term of levels, such as ``car(region, graph)``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from sgmc.arguments.messages import labels_text
from sgmc.arguments.types import Array, Floats, Frame
from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.frames import as_frame
from sgmc.formula.data.levels import places_of

if TYPE_CHECKING:
    from sgmc.formula.syntax.smooths import SmoothCall

LABELS_SHOWN = 3


@dataclass(frozen=True)
class LabelColumn:
    """The number of each row's label among all that the term has: in a `Smooth` what `DesignSpec`
    is of numbers.

    Attributes
    ----------
    term : str
        ``"car(region)"``.
    name : str
        Of the column.
    labels : Index
        All that the term has.
    """

    term: str
    name: str
    labels: pd.Index
    categorical = False

    @classmethod
    def of(cls, call: "SmoothCall") -> "LabelColumn":
        """Of a term of levels."""
        kind: Any = call.kind
        return cls(call.label, str(call.column), pd.Index(kind.labels, tupleize_cols=False))

    @property
    def columns(self) -> list[str]:
        """See `DesignSpec`."""
        return [self.name]

    @property
    def exog_names(self) -> list[str]:
        """See `DesignSpec`."""
        return [self.name]

    def numbers(self, labels: Any, table: str | None = None) -> Floats:
        """The numbers of some labels, (n,), NaN where they are missing.

        Parameters
        ----------
        labels : array_like (n,)
        table : str, optional
            See `places_of`.

        Raises
        ------
        DataError
            For labels that the term does not have.
        """
        asked = pd.Index(labels, tupleize_cols=False)
        found = places_of(asked, self.labels, (self.name,), table, self.term)
        unknown = asked[found < 0].dropna().unique()
        if len(unknown):
            raise DataError(
                f"column {self.name!r} has labels that {self.term} does not have: "
                f"{labels_text(unknown, LABELS_SHOWN)}; add them to it, or leave such rows out"
            )
        return np.where(found < 0, np.nan, found)

    def matrix(self, data: Any) -> Floats:
        """The numbers of new rows, (n, 1).

        Raises
        ------
        FormulaError, DataError
            Where the column is not there, or has labels that the term does not have.
        """
        frame = as_frame(data)
        if self.name not in frame:
            raise FormulaError(f"the data have no column {self.name!r}, which {self.term} needs")
        return self.numbers(np.asarray(frame[self.name]), "df")[:, None]

    def blocks(
        self, frame: Frame, rows: Any, chunk: int = 0, dtype: DTypeLike = np.float64
    ) -> Iterator[tuple[slice, Array]]:
        """See `DesignSpec`: all rows at once."""
        yield slice(0, len(rows)), self.matrix(frame[[self.name]].iloc[rows]).astype(dtype)
