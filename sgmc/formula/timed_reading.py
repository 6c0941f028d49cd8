"""Formulas read against tables within the time of a call: of some rows where all take too long."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime, limited
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.data.frames import as_frame
from sgmc.formula.reader import read

if TYPE_CHECKING:
    from sgmc.formula.designs.groups import Crossing, Grouping
    from sgmc.formula.evaluation.safe import SafeFormula
    from sgmc.formula.table import Table


SHARE_OF_READING = 0.5  # of the time that is left; writing the design takes about as long again
AT_LEAST = 0.25  # seconds for reading all rows, however little time is left
AT_LAST = 2.0  # the same for the fewest rows, after which there is nothing to return
ROWS_IN_TIME = 50_000  # of designs of few columns these are read in well under half a second
FEWER_ROWS = 5_000  # where these take too long, or there are not many more


def read_with_deadline(
    formula: "str | SafeFormula", data: Any, **how: Any
) -> "tuple[Table, Grouping | Crossing | None, str]":
    """A `Table`, its grouping or None, and what became of the rows where the time for reading was
    up, see `with_deadline`.

    Parameters
    ----------
    formula, data, **how
        See `read`.
    """
    frame = as_frame(data)

    def grouped(**most: Any) -> "tuple[Table, Grouping | Crossing | None]":
        table = read(formula, frame, **most, **how)
        return table, table.grouping()

    return with_deadline(grouped, len(frame))


def with_deadline(
    reading: "Callable[..., tuple[Table, Grouping | Crossing | None]]", n: int
) -> "tuple[Table, Grouping | Crossing | None, str]":
    """What some reading returns, and what became of the rows where the time for it was up: empty,
    or a clause.

    With a time limit reading may take half of the time that is left.  After that it begins anew
    with some of the rows, evenly spaced, and if need be with fewer: of these there is a posterior,
    which is no one to trust.  Should they not do, such as for want of outcomes that vary, all rows
    are read after all.

    Parameters
    ----------
    reading : callable
        ``reading(most=None)`` returns a `Table` of at most so many rows, and its grouping.
    n : int
        Rows of the data.

    Raises
    ------
    ArgumentError
        Where the fewest rows take too long.
    """
    end = deadline.current()
    if not end.set:
        return *reading(), ""
    fewer = [most for most in (ROWS_IN_TIME, FEWER_ROWS) if n > 2 * most]
    attempts: list[int | None] = [None, *(fewer or (None,))]  # of few rows all are read once more
    for number, most in enumerate(attempts, 1):
        wanted = SHARE_OF_READING * end.left() if number == 1 else end.left()
        least = AT_LAST if number == len(attempts) else AT_LEAST
        try:
            with deadline.suspended(), limited(max(wanted, least)):
                table, grouping = reading(most=most)
        except OutOfTime:
            continue
        except DataError:
            if most is None:
                raise
            break
        if most is None:
            return table, grouping, ""
        if np.ptp(table.y, axis=0).any():
            rows = f"{len(table.rows):,} of {n:,} rows are used"
            return table, grouping, f"the reading of the table, of which {rows}"
        break
    else:
        raise ArgumentError(
            f"time_limit ended before the formula was read, even of {attempts[-1] or n:,} rows: "
            "give more time, or a formula with fewer columns"
        )
    with deadline.suspended():
        return *reading(), ""
