"""Draws of effects as a table."""

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import fraction
from sgmc.arguments.types import Floats, Frame
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.predicted.prediction import moments_and_ends

NUMBERS = ["estimate", "std_error", "conf_low", "conf_high"]
DRAWS_KEPT = 1 << 27  # bytes of the draws of a table


class EffectTable(pd.DataFrame):
    """A table of effects, with their draws.

    Attributes
    ----------
    draws : array (row, draw)
    draw_weights : array (draw,) or None
    """

    _held = None, None

    def __repr__(self) -> str:
        return "\n".join(filter(None, [super().__repr__(), self.attrs.get("note")]))

    def _repr_html_(self) -> str | None:
        table, note = super()._repr_html_(), self.attrs.get("note")
        return f"{table}<p>{escape(note)}</p>" if table and note else table

    @property
    def draws(self) -> Floats:
        """Draws (row, draw) of what the rows estimate; in other tables made of this one, lost."""
        if self._held[0] is None:
            raise ArgumentError(
                "draws are with the table that the method returned, of at most "
                f"{DRAWS_KEPT >> 20} MB: give fewer rows, or take averages"
            )
        return self._held[0]

    @property
    def draw_weights(self) -> Floats | None:
        """Weights of the draws, or None."""
        return self._held[1]


class Summaries:
    """Rows of a table, collected block by block.

    Parameters
    ----------
    probability : float
        Of the intervals.
    """

    def __init__(self, probability: float) -> None:
        alpha = 1 - fraction("level", probability, advice="give e.g. 0.95")
        self.ends = [alpha / 2, 1 - alpha / 2]
        self.columns, self.numbers, self.draws, self.size = [], [], [], 0
        self.places, self.weights, self.labelled = [], None, False

    def add(
        self,
        columns: Frame,
        draws: Floats,
        weights: Floats | None,
        place: int = 0,
        labelled: bool = False,
    ) -> None:
        """Rows with their columns, a DataFrame, and draws (row, draw); those of a lower place come
        first in the table.  It has their index where they are `labelled`.
        """
        self.labelled = labelled
        self.places.append(place)
        self.columns.append(columns)
        with np.errstate(invalid="ignore"):
            self.numbers.append(moments_and_ends(draws, self.ends, weights))
        self.weights, self.size = weights, self.size + draws.nbytes
        self.draws = self.draws + [draws] if self.size <= DRAWS_KEPT else []

    def table(self) -> EffectTable:
        """All rows, an `EffectTable`: the columns that name an effect, numbers, other columns."""
        order = sorted(range(len(self.places)), key=self.places.__getitem__)
        columns = pd.concat([self.columns[k] for k in order], ignore_index=not self.labelled)
        numbers = np.concatenate([self.numbers[k] for k in order])
        numbers = pd.DataFrame(numbers, columns.index, NUMBERS)
        first = [name for name in ("rowid", "term", "contrast", "group") if name in columns]
        rest = [name for name in columns if name not in first]
        out = EffectTable(pd.concat([columns[first], numbers, columns[rest]], axis=1))
        whole = self.size <= DRAWS_KEPT
        kept = np.concatenate([self.draws[k] for k in order]) if whole else None
        object.__setattr__(out, "_held", (kept, self.weights))
        return out


def beside(frame: Frame, taken: Sequence[str]) -> Frame:
    """Columns of the data that stand beside the numbers; those whose names are taken get one more
    word.
    """
    return frame.rename(columns={name: f"data_{name}" for name in taken if name in frame})
