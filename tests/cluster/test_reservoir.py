"""The reservoir: uniform whatever the order of rows, the same for every retry and merge."""

import numpy as np
import pytest
from scipy import stats

from sgmc.cluster import reservoir
from sgmc.cluster.recipe import EncodedRows
from sgmc.cluster.sums import merged
from sgmc.formula.designs.moments import Moments


def rows_of(values):
    """Rows with one column."""
    values = np.asarray(values, dtype=float)
    return EncodedRows(values[:, None], values, None, None, None, None)


def drawn(seed, sizes, wanted, below=1.0):
    """A reservoir of rows numbered through partitions of such sizes."""
    edges = np.concatenate([[0], np.cumsum(sizes)])
    parts = [
        reservoir.ReservoirSample.of(
            rows_of(np.arange(a, b)), reservoir.keys(seed, k, b - a), k, below
        )
        for k, (a, b) in enumerate(zip(edges, edges[1:]))
    ]
    return merged(parts, reservoir.ReservoirSample.merge).smallest(wanted)


@pytest.mark.extended
def test_every_row_is_as_likely_as_any_other():
    """4,000 reservoirs of 10 of 50 rows: inclusions have mean 800; chi-square, false alarm 1e-4."""
    counts = np.zeros(50)
    for seed in range(4000):
        counts[drawn(seed, [5, 25, 1, 19], 10).rows.y.astype(int)] += 1
    # inclusions of a sample without replacement: variance n p (1 - p), negatively correlated
    chi = ((counts - 800) ** 2).sum() / (4000 * 0.2 * 0.8) * 49 / 50
    assert stats.chi2.sf(chi, 49) > 1e-4 and stats.chi2.cdf(chi, 49) > 1e-4


@pytest.mark.extended
def test_neighbours_are_no_more_often_together_than_others():
    together = sum(
        {3, 4} <= set(drawn(seed, [5, 25, 1, 19], 10).rows.y.astype(int)) for seed in range(4000)
    )
    expected = 4000 * 10 * 9 / (50 * 49)  # 147, sd 12
    assert abs(together - expected) < 4 * np.sqrt(expected)


def test_a_bound_leaves_enough_and_changes_nothing():
    below = reservoir.bound(200, 5000)
    few, all_rows = (drawn(7, [1000] * 5, 200, b) for b in (below, 1.0))
    assert len(few) == 200 and (few.keys == all_rows.keys).all()


def test_weights_stand_for_all_rows():
    sample = drawn(1, [50, 50], 30)
    exact = sample.among(np.arange(30) < 4)
    rows, scale = reservoir.surrogate_rows(exact, sample, 100)
    assert len(rows) == 30 and scale.sum() == pytest.approx(100)
    assert (scale[:4] == 1).all() and np.unique(scale[4:]) == pytest.approx(96 / 26)
    assert (rows.weight == scale).all() and sorted(rows.y) == sorted(sample.rows.y)


def test_moments_of_partitions_are_those_of_all_rows():
    random = np.random.default_rng(0)
    X, w = 1e6 + random.normal(size=(1000, 3)), random.integers(0, 3, 1000).astype(float)
    for weight in (None, w):
        parts = [
            Moments.of(X[a:b], None if weight is None else weight[a:b])
            for a, b in ((0, 10), (10, 10), (10, 600), (600, 1000))
        ]
        found = merged(parts, Moments.merge)
        whole = X if weight is None else np.repeat(X, w.astype(int), axis=0)
        np.testing.assert_allclose(found.mean, whole.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(found.sd, whole.std(axis=0, ddof=1), rtol=1e-9)
    assert (Moments.of(np.full((5, 2), 0.1)).sd == 0).all()


def test_sums_have_one_order():
    """A tree of neighbours: what it is does not depend on the number of parts alone by chance."""
    assert merged(list("abcdefg"), lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"
