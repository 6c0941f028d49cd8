"""What the rows of a prepared file may hold, looked at once, before the first fit reads them.

Opening a file must not read its rows, which may be larger than memory; compiled code takes codes as
places and does not ask.  The pass is in order and cheap beside those of a fit.
"""

import os

import numpy as np

from sgmc.core.system.storage import spans
from sgmc.errors import DataError
from sgmc.formula.reader import VALID
from sgmc.prepared.file.schema import VECTORS


def check_rows(table):
    """Raise DataError where codes, outcomes or vectors of a `Prepared` are none of its recipe, or
    its numbers are not finite.
    """
    refuse_cut(table.path, table.nbytes)
    coding, levels = table.spec.coding, table.outcome_levels
    if coding is not None:
        first = [at for _, _, at in coding.terms]
        beyond = [*first[1:], coding.cells.shape[0] - 1]  # the last cell is of no row in a file
        check_codes(table.path, "codes of a factor", table.X.codes, first, beyond)
    if levels is not None:
        check_codes(table.path, "outcomes", table.y, 0, len(levels))
    check_codes(table.path, "places of rows", table.order, 0, np.inf)
    numbers = {"y": table.y, "trials": table.trials}
    numbers |= {"X": table.X} if coding is None else {"X": table.X.numbers, "by": table.X.factors}
    for name, values in numbers.items():
        if values is not None and not all(is_finite(values[rows]) for rows in spans(table.n)):
            raise damaged(table.path, f"{NAMES[name]} are not finite in some row")
    for name in VECTORS:
        values = getattr(table, name)
        if values is not None and name in VALID:
            try:
                VALID[name](name, np.array(extremes(values)))
            except DataError as error:
                raise damaged(table.path, str(error)) from error


NAMES = {
    "y": "outcomes",
    "trials": "trials",
    "X": "numbers of the design",
    "by": "numbers that multiply factors",
}


def check_codes(path, what, values, first, beyond):
    """DataError unless all are whole numbers, from the first to below another; of an array (n, t)
    for each column its own.
    """
    low, high = extremes(values)
    wrong = np.atleast_1d(~((low >= first) & (high < beyond)))
    if wrong.any():
        k = int(np.argmax(wrong))
        low, high, first, beyond = (
            np.atleast_1d(one)[k] for one in np.broadcast_arrays(low, high, first, beyond)
        )
        last = "" if beyond == np.inf else f" to {beyond - 1}"
        raise damaged(path, f"{what} must be from {first}{last}, and are from {low} to {high}")
    if values.dtype.kind == "f" and any((values[rows] % 1).any() for rows in spans(len(values))):
        raise damaged(path, f"{what} must be whole numbers")


def extremes(values):
    """The least and the largest of an array (n,), or of each column of another; NaN where one is
    that.
    """
    found = [(values[r].min(axis=0), values[r].max(axis=0)) for r in spans(len(values))]
    lows, highs = zip(*found)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def is_finite(numbers):
    """Whether all numbers are finite: as a rule, their sum is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.isfinite(numbers.sum()) or np.isfinite(numbers).all()


def refuse_cut(path, size):
    """DataError for a file that is shorter than when it was opened: what is mapped of it and is not
    there any more ends the process.
    """
    found = os.stat(path).st_size if os.path.exists(path) else size  # removed: it stays mapped
    if found < size:
        raise damaged(path, f"it has been cut to {found} of {size} bytes since it was opened")


def damaged(path, what):
    """The DataError of rows that `sgmc.prepare` does not write."""
    return DataError(f"{path} is damaged: {what}; prepare it again")
