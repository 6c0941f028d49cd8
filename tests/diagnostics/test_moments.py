"""Covariance matrices of draws, against their definition."""

import numpy as np
import pytest

from sgmc.diagnostics import moments


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
