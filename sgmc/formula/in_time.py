"""Formulas read against tables within the time of a call: of some rows where all take too long."""

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
    up: empty, or a clause.

    With a time limit reading may take half of the time that is left.  After that it begins anew
    with some of the rows, evenly spaced: of these there is a posterior, which is no one to trust.
    Should they not do, such as for want of one of two outcomes, all rows are read after all.

    Parameters
    ----------
    formula, data, **how
        See `read`.
    """
    frame, end = as_frame(data), deadline.current()
    if not end.set or len(frame) <= 2 * ROWS_IN_TIME:
        with deadline.suspended():
            table = read(formula, frame, **how)
            return table, table.grouping(), ""
    try:
        with limited(max(SHARE_OF_READING * end.left(), 1e-9)):
            table = read(formula, frame, **how)
            return table, table.grouping(), ""
    except OutOfTime:
        pass
    with deadline.suspended():
        try:
            table = read(formula, frame, most=ROWS_IN_TIME, **how)
            rows = f"{len(table.rows):,} of {len(frame):,} rows are used"
            return table, table.grouping(), f"the reading of the table, of which {rows}"
        except DataError:
            table = read(formula, frame, **how)
            return table, table.grouping(), ""
