"""Products with curvatures that are diagonal but for a border, against the whole matrix."""

import numpy as np
import pytest

from sgmc.core.targets.bordered import FEWEST_RESTING, Bordered, independent

REST, BORDER = FEWEST_RESTING + 6, 5


def curvature(rest=REST, border=BORDER, seed=0):
    """X' W X of dummies of a factor among columns of numbers, in any order."""
    random = np.random.default_rng(seed)
    rows = 40 * rest
    X = np.column_stack(
        [np.eye(rest)[random.integers(0, rest, rows)], random.normal(size=(rows, border))]
    )
    X[:, -1] *= X[:, :9].any(axis=1)  # zero in most levels
    X = X[:, random.permutation(rest + border)]
    return X.T @ (random.uniform(0.1, 1, rows)[:, None] * X)


@pytest.mark.parametrize("border", [0, 1, BORDER])
def test_it_is_the_matrix(border):
    H = curvature(border=max(border, 1))
    if border == 0:
        H = np.diag(np.diag(H))
    found, v = Bordered(H), np.random.default_rng(1).normal(size=len(H))
    assert len(found.rest) >= REST - 1
    np.testing.assert_allclose(found @ v, H @ v, rtol=1e-12, atol=1e-12 * np.abs(H).max())


def test_small_and_full_ones_stay_whole():
    few, full = curvature(rest=10), np.full((200, 200), 0.1) + np.eye(200)
    for H in (few, full):
        found, v = Bordered(H), np.random.default_rng(2).normal(size=len(H))
        assert not len(found.rest)
        np.testing.assert_allclose(found @ v, H @ v, rtol=1e-12)


def test_rows_of_the_rest_have_nothing_in_common():
    H = curvature()
    rest = independent(H)
    block = H[np.ix_(rest, rest)]
    assert (block == np.diag(np.diag(block))).all()
    assert (block[0] == 0).sum() == len(rest) - 1


def test_an_entry_between_levels_is_seen():
    """What two levels have in common is not left out."""
    H = curvature()
    j, k = independent(H)[[3, 7]]
    H[j, k] = H[k, j] = 1.0
    v = np.random.default_rng(3).normal(size=len(H))
    np.testing.assert_allclose(Bordered(H) @ v, H @ v, rtol=1e-12, atol=1e-12 * np.abs(H).max())
