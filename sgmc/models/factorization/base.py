"""The base of factorisations of a table of ratings."""

from functools import cached_property, partial

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_number, whole
from sgmc.models.bases.model import Model

ORDER = 7  # seed of the order of the ratings, which is no choice of a user's

MAX_DIM = 1000
LEAST_BATCH = 2000  # least ratings of a batch: of few, a step with all is hardly dearer


class Factorization(Model):
    """Base of `BPMF` and `PPMF`: ratings, pairs to predict, and what is kept of the draws."""

    scaled = False
    shuffled = True
    counts = biases = False
    centre = 0.0

    def __init__(self, ratings, columns, dim, test, clip):
        from sgmc.models.factorization.data import (  # they need pandas
            pair_table,
            rating_table,
        )

        self.columns, self.dim = columns, whole("dim", dim, 1, MAX_DIM)
        table = rating_table(ratings, columns)
        order = np.random.Generator(np.random.PCG64(ORDER)).permutation(len(table.value))
        self.ratings = (table.user[order], table.item[order], table.value[order])
        self.users, self.items, self.known = table.users, table.items, table
        self.test = None if test is None else pair_table(test, columns, table, "test")
        self.low, self.high = self.span(clip)

    @property
    def n(self):
        """Ratings."""
        return len(self.ratings[2])

    def span(self, clip):
        """The least and the largest prediction."""
        if clip is True:
            return float(self.ratings[2].min()), float(self.ratings[2].max())
        if clip is None or clip is False:
            return -np.inf, np.inf
        if not isinstance(clip, (tuple, list)) or len(clip) != 2 or not all(map(is_number, clip)):
            wanted = "True (the range of the ratings), False, or a pair such as (1, 5)"
            raise must_be("clip", clip, wanted)
        low, high = map(float, clip)
        if not low < high:
            raise must_be("clip", clip, "a pair of which the first number is below the second")
        return low, high

    @cached_property
    def places(self):
        """The layout, which takes a while to make."""
        return Model.layout(self)

    def layout(self):
        """See `Model`."""
        return self.places

    def at(self, name):
        """Where a parameter begins in theta."""
        return self.places.slices[name].start

    def form(self):
        """How predictions are made of theta; see `Rated`."""
        means = tuple(
            self.at(f"mu_{name}") if f"mu_{name}" in self.places.slices else -1
            for name in ("U", "V", "a", "b")
        )
        return {
            "sizes": (len(self.users), len(self.items), self.dim),
            "biases": self.biases,
            "means": means,
            "centre": self.centre,
            "low": self.low,
            "high": self.high,
            "counts": self.counts,
        }

    def recorder_class(self):
        """See `Model`: one that also sums up predictions of the test pairs."""
        from sgmc.models.factorization.recorder import Rated

        none = np.empty(0, dtype=np.int32)
        pairs = (none, none, np.empty(0))
        if self.test is not None:
            value = self.test.value
            pairs = (
                self.test.user,
                self.test.item,
                np.full(len(self.test.user), np.nan) if value is None else value,
            )
        return partial(Rated, pairs=pairs, form=self.form())

    @property
    def batch(self):
        """Ratings of a default batch: a fifth."""
        return min(self.n, max(LEAST_BATCH, self.n // 5))

    @property
    def most(self):
        """The largest number of ratings of a user, or of an item."""
        return max(np.bincount(self.known.user).max(), np.bincount(self.known.item).max())

    def result_class(self):
        """See `Model`."""
        from sgmc.models.factorization.results import FactorResults

        return FactorResults

    def info(self):
        """See `Model`."""
        from sgmc.models.factorization.results import FactorInfo

        return FactorInfo(self)
