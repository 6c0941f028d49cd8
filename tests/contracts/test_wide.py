"""Products of wide tables by BLAS, against numpy's."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.core.designs.design import design, rotate
from sgmc.core.engine import full, full_many
from sgmc.core.expansion import expand, row_noise
from sgmc.fit.settings import check_settings
from sgmc.models.regression.families.cauchit import BernoulliCauchit
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, estimator, make_map, normal_prior, regression, stream, table

N, D = 5000, 70  # rows of three blocks, the last one shorter
# of sums of 5,000 terms, relative to the largest: in float64, in float32, and of float32 columns
ROUNDING = {"float64": 1e-12, "single": 1e-5, "float32": 1e-5}


def tables(seed=1):
    """Columns, outcomes and a place."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, D)), rng.integers(0, 2, N).astype(float), rng.normal(size=D) / 4


def stored(X, kind):
    """A design of one of the kinds of ROUNDING."""
    return design(X.astype(np.float32) if kind == "float32" else X, kind == "single")


def curvatures(y, eta):
    """-d2 log p / d eta2 of the Cauchy link: negative in many rows."""
    p = np.where(y == 1, stats.cauchy.cdf(eta), stats.cauchy.sf(eta))
    slope = stats.cauchy.pdf(eta) * np.where(y == 1, 1, -1)
    bend = -2 * eta / (np.pi * (1 + eta**2) ** 2) * np.where(y == 1, 1, -1)
    return (slope / p) ** 2 - bend / p


@pytest.mark.parametrize("kind", ROUNDING)
def test_curvature_is_the_weighted_sum_of_squares(kind):
    """Rows of either sign; a sum that forgot signs would be far off."""
    X, y, theta = tables()
    hessian = expand(BernoulliCauchit(stored(X, kind), y), theta)[2]
    w = curvatures(y, X @ theta)
    assert (w < 0).mean() > 0.1
    expected = (X * w[:, None]).T @ X
    largest = np.abs(expected).max()
    np.testing.assert_allclose(hessian / largest, expected / largest, atol=ROUNDING[kind])
    assert np.abs(hessian - (X * np.abs(w)[:, None]).T @ X).max() > 0.1 * largest


@pytest.mark.parametrize("rows", [0, 3000, "listed"])
def test_noise_is_of_the_rows_that_are_named(rows):
    """All, the first, and a list of them."""
    X, y, theta = tables()
    posterior = sgmc.Logit(y, X).problem(None, check_settings(seed=1))
    gradient = posterior.gradient("simple", FullBatch(N), stream(1))
    listed = np.random.default_rng(2).choice(N, 2500, replace=False)
    chosen = {0: np.arange(N), 3000: np.arange(3000), "listed": listed}[rows]
    found = row_noise(gradient, theta, listed if rows == "listed" else rows)[1]
    kernel = posterior.model
    eta = kernel.X.table @ theta + np.asarray(kernel.offset)
    z = (np.asarray(kernel.y) - 1 / (1 + np.exp(-eta)))[:, None] * kernel.X.table
    expected = N**2 * np.cov(z[chosen].T, bias=True)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_table_is_rotated(kind):
    X, L = tables()[0].astype(kind), np.random.default_rng(3).normal(size=(D, D))
    expected = X.astype(float) @ L
    rotate(X, L)
    np.testing.assert_allclose(X, expected, atol={"float64": 1e-12, "float32": 2e-5}[kind])


def test_a_curvature_that_is_not_a_number_shows():
    X, y, theta = tables()
    X[4321, 5] = np.nan
    assert np.isnan(expand(BernoulliCauchit(stored(X, "float64"), y), theta)[2]).any()


# ---- points that are reflections of others -------------------------------------------------------


def exact(kind):
    """All rows of a logit model with offsets, behind a map."""
    model = regression(
        "logit", table(N, 5), "dense64", offset=np.random.default_rng(1).normal(size=N) / 3
    )
    return estimator(
        GRADIENTS["simple"],
        model,
        FullBatch(N),
        stream(1),
        prior=normal_prior(model.dim),
        map=make_map(kind, model.dim),
    )


@pytest.mark.parametrize("nudge", [0.0, 1e-6])
@pytest.mark.parametrize("kind", ["none", "affine"])
def test_reflected_points_have_the_values_of_each(kind, nudge):
    """Products with the second half are told by those with the first; by themselves where a point
    is beside its reflection, be it by a millionth.
    """
    gradient = exact(kind)
    half = np.random.default_rng(2).normal(size=(4, gradient.dim))
    points = np.concatenate([half, -half])
    points[6, 1] += nudge
    value, slope = full_many(gradient, points)
    alone = [full(gradient, point) for point in points]
    np.testing.assert_allclose(value, [v for v, _ in alone], rtol=1e-13)
    largest = np.abs(slope).max()
    np.testing.assert_allclose(slope / largest, [g / largest for _, g in alone], atol=1e-13)
    assert np.array_equal(full_many(gradient, points, slopes=False)[0], value)
