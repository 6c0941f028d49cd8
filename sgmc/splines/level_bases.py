"""Effects of levels as bases: what a curve's values are to numbers, these are to labels.

Labels are numbered 0, 1, ..., and a basis has an element for each, so that R has a row for each.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgmc.arguments.types import Bools, Floats
from sgmc.errors import FormulaError
from sgmc.splines.bases import Basis
from sgmc.splines.restored import numbers

MOST_STRUCTURED = 2_000  # columns of such a term are an array (rows, levels)


class LevelBasis(Basis):
    """A basis of the effects of levels.

    Attributes
    ----------
    low, high : float
        The first and the last number of a label.
    """

    flat = 1
    beyond = "has no levels"

    @property
    def elements(self) -> int:
        """See `Basis`."""
        return int(self.high) + 1

    def outside(self, x: Floats) -> Bools:
        """See `Basis`: other labels have no numbers."""
        return np.zeros(len(x), dtype=bool)

    def grid(self, count: int) -> Floats:
        """See `Basis`: all levels."""
        return np.arange(self.elements, dtype=float)

    def values(self, x: Floats) -> Floats:
        """See `Basis`."""
        return self.combined(x, np.eye(self.elements))

    def combined(self, x: Floats, root: Floats) -> Floats:
        """See `Basis`."""
        return root[np.asarray(x).astype(np.intp)]

    def blocks(self, roots: Floats) -> dict[str, slice]:
        """See `Basis`: all columns have one sd."""
        return {"": slice(0, roots.shape[1])}

    def sound(self) -> bool:
        """See `Basis`."""
        return bool(self.low == 0 and self.high % 1 == 0 and 1 <= self.high < MOST_STRUCTURED)


@dataclass(frozen=True)
class RootBasis(LevelBasis):
    """Effects of levels whose covariances are R R' times sd^2.

    Attributes
    ----------
    low, high : float
    root : array (levels, r)
        R.
    """

    low: float
    high: float
    root: np.ndarray

    def penalised(self) -> Floats:
        """See `Basis`."""
        return self.root

    def sound(self) -> bool:
        """See `Basis`."""
        return super().sound() and numbers(self.root, self.elements, None)


def ends_of(labels: tuple[Any, ...]) -> tuple[float, float]:
    """The first and the last number of some labels."""
    return 0.0, len(labels) - 1.0


def refuse_levels(labels: tuple[Any, ...], x: Floats, text: str, cure: str) -> None:
    """FormulaError for too many labels, or rows x (n,) of a single one."""
    if len(labels) > MOST_STRUCTURED:
        raise FormulaError(
            f"{text}: there are {len(labels):,} levels, at most {MOST_STRUCTURED:,}; {cure}"
        )
    if len(np.unique(x)) < 2:
        raise FormulaError(
            f"{text}: the rows have a single level, whose effect cannot be told from the "
            "intercept; leave the term out"
        )
