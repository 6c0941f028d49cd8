"""Expressions as patsy evaluates them while it fits a design."""

from typing import Any

import patsy

from sgmc.core import deadline
from sgmc.formula.widths import declared


class Evaluated(patsy.EvalFactor):
    """An expression of a formula: the clock is looked at before each chunk of rows, and whatever a
    transform raises names its expression.

    Attributes
    ----------
    width : int
        Columns that it makes by the constants in it; 1 where it has none.
    """

    @property
    def width(self) -> int:
        """See the class."""
        return declared(self.code)

    def memorize_chunk(self, state: dict[str, Any], which_pass: int, data: Any) -> None:
        """Learn from a part of the rows, in time."""
        deadline.check()
        super().memorize_chunk(state, which_pass, data)

    def memorize_finish(self, state: dict[str, Any], which_pass: int) -> None:
        """End a pass over the rows; errors of the user's functions name the term."""
        deadline.check()
        try:
            super().memorize_finish(state, which_pass)
        except MemoryError:
            raise
        except Exception as error:
            raise patsy.PatsyError("Error evaluating factor", self) from error

    def eval(self, memorize_state: dict[str, Any], data: Any) -> Any:
        """Evaluate the term, in time."""
        deadline.check()
        return super().eval(memorize_state, data)
