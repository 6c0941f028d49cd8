"""Rows that are equal in all that the posterior depends on, as one row with a frequency weight."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc.prepared.first_pass.facts import Facts
from sgmc.prepared.first_pass.memory_source import TableSource
from sgmc.prepared.first_pass.selection import Selection

MOST_DIFFERENT = 1_000_000  # different rows that are worth keeping in memory
DIFFERENT_SHARE = 0.1  # of the rows, beyond which nothing is gained
SAMPLE, MOST_DISTINCT = 2000, 1000  # rows of a column of floats, and values that make it continuous
FREQUENCY = "_sgmc_frequency"


class Cells:
    """Different rows and their frequencies, as far as there are few.

    Parameters
    ----------
    columns : list of str
        All that the posterior depends on but for weights.
    weights : str or None
        Column of the weights that rows have already.
    """

    def __init__(self, columns, weights):
        self.columns, self.weights = list(dict.fromkeys(columns)), weights
        self.parts, self.waiting, self.abandoned = [], 0, False

    def add(self, frame):
        """Add complete rows."""
        if self.abandoned or not len(frame):
            return
        frame = self.plain(frame)
        self.parts.append(self.summed(frame))
        self.waiting += len(self.parts[-1])
        if self.waiting > MOST_DIFFERENT / 4:
            self.join()

    def try_out(self, frame):
        """Give up where a column of the first rows has more values than can be counted."""
        self.abandoned |= any(continuous(frame[name]) for name in self.columns)

    def plain(self, frame):
        """The columns, categories as labels: those of other chunks may differ."""
        part = frame[self.columns].copy()
        for name in self.columns:
            if isinstance(part[name].dtype, pd.CategoricalDtype):
                part[name] = part[name].astype(object)
        weights = 1.0 if self.weights is None else frame[self.weights].to_numpy(np.float64)
        part[FREQUENCY] = weights
        return part

    def summed(self, part):
        """Different rows, in the order in which they were met, and sums of their frequencies."""
        grouped = part.groupby(self.columns, sort=False, dropna=False)[FREQUENCY]
        return grouped.sum().reset_index()

    def join(self):
        """Make one of all parts."""
        whole = self.summed(pd.concat(self.parts, ignore_index=True))
        self.parts, self.waiting = [whole], 0
        self.abandoned = len(whole) > MOST_DIFFERENT
        if self.abandoned:
            self.parts = []

    def table(self, rows):
        """The different ones of so many rows, or None where they are too many to be worth it."""
        if self.abandoned or not self.parts:
            return None
        self.join()
        if self.abandoned or len(self.parts[0]) > DIFFERENT_SHARE * rows:
            return None
        return self.parts[0]


def continuous(column):
    """Whether a column of floats seems to have more values than can be counted."""
    if column.dtype.kind != "f":
        return False
    return column.iloc[:SAMPLE].nunique() > min(MOST_DISTINCT, 0.5 * len(column))


def compressed(found, table):
    """What was found of a source, as if it were its different rows; and these as a source.

    Parameters
    ----------
    found : scan.Found
    table : DataFrame
        See `Cells.table`.
    """
    chosen, n = found.selection, len(table)
    vectors = {**chosen.vectors, "weights": FREQUENCY}
    selection = Selection(chosen.terms, chosen.columns, vectors, None, chosen.specs)
    facts = Facts(rows=n, used=n, complete=n, missing=found.facts.missing)
    found = replace(found, selection=selection, facts=facts, compressed=True)
    return found, TableSource(table)
