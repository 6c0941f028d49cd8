"""Rows that are computed at every step: the set that costs least, found without sorting."""

from types import SimpleNamespace

import numpy as np
import pytest

from sgmc.fit import noise
from sgmc.fit.tolerance import VARIANCE_TOLERANCE

ROTATED = SimpleNamespace(rotated=True, map=None, inner=None)


def cheapest(s, w):
    """The rows of least cost by trying every number of them, largest shares first."""
    n, wild = len(s), s > noise.MAX_EXPANDED_SD
    share = 0.75 * n * (np.exp(2 * np.minimum(s, noise.MAX_EXPANDED_SD)) * w * s**3) ** 2
    share[wild] = 0.0
    order = np.argsort(-share, kind="stable")[: int(noise.MAX_EXACT_SHARE * n) + 1]
    rest = share.sum() - np.concatenate([[0.0], np.cumsum(share[order])])
    cost = np.arange(len(order) + 1) + np.maximum(rest, 0.0) / (3 * VARIANCE_TOLERANCE)
    return np.union1d(np.flatnonzero(wild), order[: int(np.argmin(cost))])


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_cheapest_set(monkeypatch, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 4000))
    s = np.exp(random.normal(random.uniform(-6, 1), random.uniform(0.1, 2), n))
    w = np.exp(random.normal(-2, 1, n))
    monkeypatch.setattr(noise, "leverages", lambda *_: (s.copy(), w.copy()))
    found = noise.high_leverage(SimpleNamespace(n=n, width=1), ROTATED, None)
    np.testing.assert_array_equal(found, cheapest(s, w))
