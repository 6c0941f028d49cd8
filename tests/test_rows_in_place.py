"""Rows of a table at their places, and products of some of them, against numpy."""

import numpy as np
import pytest

from sgmc.core.designs.design import design, products, scatter
from sgmc.models.regression.rows.prepare import dense_moments

N = 203  # more than one fetch, and a rest


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 11, 40])
def test_rows_are_scattered(dtype, d):
    random = np.random.default_rng(d)
    block = random.normal(size=(N, d)).astype(dtype)
    places = random.permutation(3 * N)[:N]
    out = np.full((3 * N, d), np.nan, dtype)
    expected = out.copy()
    expected[places] = block
    scatter(out, places, block)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("rows", [slice(0, N), slice(7, 7), slice(5, 150), slice(N - 1, N)])
def test_products_of_some_rows(rows):
    random = np.random.default_rng(1)
    X, theta = random.normal(size=(N, 9)), random.normal(size=9)
    found = products(design(X), theta, rows.start, rows.stop - rows.start)
    np.testing.assert_allclose(found, X[rows] @ theta, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_in_chunks_of_any_size(weighted):
    """Far from zero, where plain sums of squares would lose all digits."""
    random = np.random.default_rng(2)
    X = 1e8 + random.normal(size=(N, 3))
    X[:, 1] = 5.0
    w = random.integers(0, 3, N).astype(float) if weighted else None
    repeated = X if w is None else np.repeat(X, w.astype(int), axis=0)
    for chunk in (1, 10, N, 1000):
        mean, sd = dense_moments(X, w, chunk)
        np.testing.assert_allclose(mean, repeated.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(sd, repeated.std(axis=0, ddof=1), rtol=1e-7)
        assert sd[1] == 0
