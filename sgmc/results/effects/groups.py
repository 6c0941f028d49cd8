"""Groups of rows that averages are taken by, and sums over them."""

import numpy as np
import pandas as pd

from sgmc.errors import ArgumentError
from sgmc.results.outcomes.data.rows import ROWS_MEMORY


class Groups:
    """Weighted sums of parts of rows by group.

    Parameters
    ----------
    names : list of str
        Columns whose combinations are groups; of none, all rows are one.

    Attributes
    ----------
    places : dict
        Key of a group, a tuple -> its place.
    total : list of array (part, kind, draw)
    weight : list of float
    draw_weights : array (draw,) or None
    """

    def __init__(self, names):
        self.names = names
        self.places, self.total, self.weight, self.draw_weights = {}, [], [], None

    def codes(self, by):
        """The place of each row's group, (row,); `by` has the columns of `names`."""
        code, keys = np.zeros(len(by), dtype=np.intp), [()]
        for name in self.names:
            of_column, levels = pd.factorize(by[name])
            levels = levels.tolist()
            both = code * len(levels) + of_column
            code, found = pd.factorize(both)
            keys = [(*keys[one // len(levels)], levels[one % len(levels)]) for one in found]
        if not len(by):
            return code
        places = [self.places.setdefault(key, len(self.places)) for key in keys]
        return np.array(places, dtype=np.intp)[code]

    def add(self, code, weight, parts):
        """Add rows: places of their groups, weights, and arrays (kind, row, draw)."""
        if len(self.places) > len(self.total):
            self.refuse_many(sum(one.shape[0] * one.shape[2] for one in parts))
            more = len(self.places) - len(self.total)
            self.total += [0.0] * more
            self.weight += [0.0] * more
        here, code = np.unique(code, return_inverse=True)
        share = np.zeros((len(here), len(weight)))
        share[code, np.arange(len(weight))] = weight
        sums = np.stack([share @ part for part in parts])  # (part, kind, group, draw)
        for k, place in enumerate(here):
            self.total[place] = self.total[place] + sums[:, :, k]
            self.weight[place] += share[k].sum()

    def refuse_many(self, numbers):
        """ArgumentError for more groups than memory should hold, of so many numbers each."""
        if 8 * len(self.places) * numbers > ROWS_MEMORY:
            raise ArgumentError(
                f"by: {len(self.places):,} groups and more are too many to average by; cut the "
                "column into intervals, or take predictions() row by row"
            )
