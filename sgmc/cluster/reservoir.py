"""One uniform sample of the rows of all partitions, which workers draw without a word to each
other.

Every row has a uniform random key that follows from the seed, the partition's number and the row's
place in it.  The rows with the smallest keys are a simple random sample without replacement: it can
be merged in any order, and a retry draws the same rows (Efraimidis & Spirakis 2006, Information
Processing Letters 97, 181-185, with equal weights).
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.cluster.recipe import EncodedRows
from sgmc.core.random.rng import seed_sequence

SPARE_SDS = 6  # of the number of keys below a bound: fewer than wanted are one in 1e9 surveys


def keys(seed, number, count):
    """The keys of a partition's rows, (count,)."""
    bits = np.random.PCG64(seed_sequence(seed, "reservoir", number))
    return np.random.Generator(bits).random(count)


def bound(wanted, rows):
    """A number below which there are at least `wanted` of the keys of so many rows, but for one
    survey in 1e9.
    """
    return (wanted + SPARE_SDS * np.sqrt(wanted)) / max(rows, 1)


@dataclass(frozen=True)
class ReservoirSample:
    """Rows with keys.

    Attributes
    ----------
    rows : Rows
    keys : array (m,)
    block, place : array (m,) of int
        Where they are from: number of the partition, and place among its complete rows.
    """

    rows: EncodedRows
    keys: np.ndarray
    block: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, rows, keys, number, below, places=None):
        """The rows of a partition whose keys are below a number."""
        kept = np.flatnonzero(keys < below)
        places = kept if places is None else places[kept]
        return cls(rows.among(kept), keys[kept], np.full(len(kept), number), places)

    def __len__(self):
        return len(self.keys)

    def merge(self, other):
        """The rows of both, in the order of partitions."""
        return ReservoirSample(
            EncodedRows.joined([self.rows, other.rows]),
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.block, other.block]),
            np.concatenate([self.place, other.place]),
        )

    def among(self, kept):
        """Some of them."""
        return ReservoirSample(
            self.rows.among(kept), self.keys[kept], self.block[kept], self.place[kept]
        )

    def smallest(self, count):
        """Those with the smallest keys, in the order that they have."""
        if len(self) <= count:
            return self
        return self.among(np.sort(np.argsort(self.keys, kind="stable")[:count]))

    def without(self, other):
        """Those that are not among others."""
        theirs = set(zip(other.block.tolist(), other.place.tolist()))
        mine = zip(self.block.tolist(), self.place.tolist())
        return self.among(np.array([one not in theirs for one in mine], dtype=bool))


def surrogate_rows(exact, sample, population):
    """The rows that stand for all: some that stand for themselves, then a sample of the others.

    Parameters
    ----------
    exact : Sample
    sample : Sample
        Uniform, of all rows.
    population : int
        Rows in all.

    Returns
    -------
    rows : Rows
        Weighted: each of the sample counts for as many as it stands for.
    scale : array (m,)
        For how many rows each stands.
    """
    others = sample.without(exact)
    rows = EncodedRows.joined([exact.rows, others.rows])
    times = (population - len(exact)) / max(len(others), 1)
    scale = np.concatenate([np.ones(len(exact)), np.full(len(others), times)])
    weight = scale if rows.weight is None else rows.weight * scale
    return replace(rows, weight=weight), scale
