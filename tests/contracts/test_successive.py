"""Successive batches are independent of one another, where schemes promise it, and rows are met
once a sweep where they do not.
"""

from itertools import combinations

import numpy as np
import pytest
from _ext.probes import draw
from scipy import stats

from .cases import SCHEMES, stream

N, M, DRAWS = 6, 2, 12_000


def batches(name, count=DRAWS):
    """Sets of rows of successive draws."""
    rows, rng = SCHEMES[name](N, M), stream(13)
    return [frozenset(draw(rows, rng)[0].rows) for _ in range(count)]


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_batches_without_replacement_are_independent(lag):
    """All 225 pairs of sets of two rows are equally likely: chi-squared."""
    found = batches("uniform")
    every = [frozenset(one) for one in combinations(range(N), M)]
    place = {one: k for k, one in enumerate(every)}
    pairs = [place[a] * len(every) + place[b] for a, b in zip(found, found[lag:])]
    assert stats.chisquare(np.bincount(pairs, minlength=len(every) ** 2)).pvalue > 1e-4


def test_sweeps_meet_each_row_once():
    found = batches("symmetric", 6 * N)
    for first in range(0, len(found), N // M):
        assert frozenset.union(*found[first : first + N // M]) == frozenset(range(N))
