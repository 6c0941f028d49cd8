"""Covariance matrices of draws, against their definition."""

import numpy as np
import pytest

from sgmc.diagnostics.chains import moments


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_has_the_squares_of_sds(weighted):
    random = np.random.default_rng(0)
    draws = random.normal(size=(3, 40, 4)) @ random.normal(size=(4, 4)) + 100.0
    w = random.uniform(0.1, 1, 40) if weighted else None
    centre, found = moments.covariance(draws, w)
    np.testing.assert_allclose(centre, moments.mean(draws, w), rtol=1e-14)
    np.testing.assert_allclose(np.sqrt(np.diag(found)), moments.sd(draws, w), rtol=1e-12)
    v = random.normal(size=4)  # and so it has along any direction
    along = moments.sd((draws @ v)[..., None], w)[0]
    np.testing.assert_allclose(np.sqrt(v @ found @ v), along, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_are_known_once_sorted(weighted):
    random = np.random.default_rng(3)
    draws = random.normal(size=(2, 50, 4))
    weights = random.random(50) if weighted else None
    known = moments.Quantiles(draws, (0.1, 0.5, 0.9), weights)
    for q in ((0.9, 0.1), (0.5,)):
        wanted = moments.quantile(draws, q, weights)
        np.testing.assert_array_equal(known(q), wanted)
        np.testing.assert_array_equal(known.of(slice(1, 3))(q), wanted[:, 1:3])
    with pytest.raises(KeyError):
        known((0.2,))


@pytest.mark.parametrize("weighted", [False, True])
def test_share_above_a_limit(weighted):
    random = np.random.default_rng(4)
    draws = random.normal(size=(2, 50, 4))
    w = random.random(50) if weighted else np.ones(50)
    wanted = ((draws > 0.3) * w[:, None]).sum(axis=(0, 1)) / (2 * w.sum())
    found = moments.share_above(draws, 0.3, w if weighted else None)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
