"""The table of a fit, which effects vary: by reference, as long as results have their data."""

from typing import NamedTuple

import numpy as np
import pandas as pd


class Kept(NamedTuple):
    """Rows of a fit as the user gave them.

    Attributes
    ----------
    frame : DataFrame, array (n, d) or CSR array
        The columns of a formula, or the design.
    rows : array or range
        Those that the fit used.
    weight, trials, offset : array (rows,) or None
        Frequency weights, trials of counts; offsets with logs of exposures, but for the part that
        the formula brings.
    """

    frame: object
    rows: object
    weight: np.ndarray | None
    trials: np.ndarray | None
    offset: np.ndarray | None

    @property
    def n(self):
        """Rows used."""
        return len(self.rows)

    @property
    def importance(self):
        """What rows count in averages: frequency weights times trials, or None."""
        parts = [one for one in (self.weight, self.trials) if one is not None]
        return np.prod(parts, axis=0) if parts else None

    def part(self, at, names):
        """A slice of the rows used as a DataFrame; `names` are those of a design's columns."""
        rows = self.rows[at]
        if isinstance(rows, range):
            rows = slice(rows.start, rows.stop)
        if isinstance(self.frame, pd.DataFrame):
            return self.frame.iloc[rows].reset_index(drop=True)
        part = self.frame[rows]
        return pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part, columns=names)


def kept_rows(data):
    """`Kept` of a `RegressionData`; None where its rows are not in memory as they were given.

    Parameters
    ----------
    data : RegressionData
    """
    source = data.source
    if hasattr(source, "path"):  # prepared: the columns of the formula are in other files
        return None
    if hasattr(source, "frame"):
        frame, rows = source.frame.copy(deep=False), source.rows
    else:
        frame, rows = source, range(data.n)
    return Kept(frame, rows, data.weight, data.trials, data.given_offset)
