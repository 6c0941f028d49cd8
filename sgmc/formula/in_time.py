"""Formulas read against tables within the time of a call: of some rows where all take too long."""

from contextlib import suppress

import numpy as np

from sgmc.core import deadline
from sgmc.core.deadline import OutOfTime, limited
from sgmc.errors import DataError
from sgmc.formula.frames import as_frame
from sgmc.formula.reader import read

SHARE_OF_READING = (
    0.5  # of the time that is left, for reading: writing the design takes about as long again
)
ROWS_IN_TIME = (
    50_000  # read in well under half a second, or twice as many without a look at the clock
)


def read_in_time(formula, data, **how):
    """A `Table`, its grouping or None, and what became of the rows where the time for reading was
    up, see `in_time`.

    Parameters
    ----------
    formula, data, **how
        See `read`.
    """
    frame = as_frame(data)

    def grouped(**most):
        table = read(formula, frame, **most, **how)
        return table, table.grouping()

    return in_time(grouped, len(frame))


def in_time(reading, n):
    """What some reading returns, and what became of the rows where the time for it was up: empty,
    or a clause.

    With a time limit reading may take half of the time that is left.  After that it begins anew
    with some of the rows, evenly spaced: of these there is a posterior, which is no one to trust.
    Should they not do, such as for want of outcomes that vary, all rows are read after all.

    Parameters
    ----------
    reading : callable
        ``reading(most=None)`` returns a `Table` of at most so many rows, and its grouping.
    n : int
        Rows of the data.
    """
    end = deadline.current()
    if not end.set or n <= 2 * ROWS_IN_TIME:
        with deadline.suspended():
            return *reading(), ""
    try:
        with limited(max(SHARE_OF_READING * end.left(), 1e-9)):
            return *reading(), ""
    except OutOfTime:
        pass
    with deadline.suspended():
        with suppress(DataError):
            table, grouping = reading(most=ROWS_IN_TIME)
            if np.ptp(table.y, axis=0).any():
                rows = f"{len(table.rows):,} of {n:,} rows are used"
                return table, grouping, f"the reading of the table, of which {rows}"
        return *reading(), ""
