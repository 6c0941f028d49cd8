"""Densities and gradients at many points at once, against those of one point after the other."""

import numpy as np
import pytest
from _ext.toys import GaussianLocation

from sgmc.core.engine import full, full_many

from .cases import (
    GRADIENTS,
    REGRESSIONS,
    SCHEMES,
    STORAGE,
    estimator,
    make_map,
    normal_prior,
    regression,
    stream,
    table,
)

N, POINTS = 700, 7  # rows of three tiles, the last one shorter
# sums of 700 terms in another order; of float32 tables one of the two sums is in float32
ROUNDING = {"dense64": 1e-13, "dense32": 2e-6, "csr": 1e-13}


def exact(model, kind="none"):
    """All rows of a model with a prior, behind a map."""
    return estimator(
        GRADIENTS["simple"],
        model,
        SCHEMES["block"](model.n, model.n),
        stream(1),
        prior=normal_prior(model.dim),
        map=make_map(kind, model.dim),
    )


def compare(gradient, rounding):
    """Values and gradients of `full_many` and of `full`, relative to the largest."""
    points = np.random.default_rng(1).normal(size=(POINTS, gradient.dim)) / 2
    value, slope = full_many(gradient, points)
    alone = [full(gradient, point) for point in points]
    np.testing.assert_allclose(value, [v for v, _ in alone], rtol=rounding)
    largest = np.abs(slope).max()
    np.testing.assert_allclose(slope / largest, [g / largest for _, g in alone], atol=rounding)
    assert np.array_equal(full_many(gradient, points, slopes=False)[0], value)


@pytest.mark.cover(2)
@pytest.mark.parametrize("kind", ["none", "affine", "positive"])
@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("name", REGRESSIONS)
def test_many_points_have_the_values_and_gradients_of_each(name, storage, kind):
    rng = np.random.default_rng(1)
    offset = None if name == "mnlogit" else rng.normal(size=N) / 3
    more = {} if name == "known sigma" else dict(offset=offset, weight=rng.random(N) + 0.5)
    compare(exact(regression(name, table(N, 5), storage, **more), kind), ROUNDING[storage])


def test_models_without_products_of_their_own_have_them_point_by_point():
    compare(exact(GaussianLocation(np.random.default_rng(2).normal(size=(N, 3)), 0.7)), 1e-13)


def test_rows_touched_are_those_of_all_points():
    gradient = exact(regression("logit", table(N, 5)))
    full_many(gradient, np.zeros((POINTS, 5)))
    assert gradient.touched == POINTS * N


def test_a_point_does_not_depend_on_the_others_of_its_block():
    """So that draws do not depend on what else is proposed; the last bits may."""
    gradient = exact(regression("logit", table(N, 5)))
    points = np.random.default_rng(3).normal(size=(64, 5))
    value = full_many(gradient, points)[0]
    points[1:] *= 3
    assert full_many(gradient, points)[0][0] == pytest.approx(value[0], rel=1e-14)


@pytest.mark.parametrize("name", ["logit", "ols", "mnlogit"])
def test_opposite_points_have_the_values_and_gradients_of_each(name):
    """Whose products with the table are computed once; offsets of the rows keep their signs."""
    offset = None if name == "mnlogit" else np.random.default_rng(1).normal(size=N) / 3
    gradient = exact(regression(name, table(N, 5), offset=offset))
    half = np.random.default_rng(4).normal(size=(3, gradient.dim)) / 2
    points = np.concatenate([half, -half])
    value, slope = full_many(gradient, points)
    for k, point in enumerate(points):
        alone, g = full(gradient, point)
        assert value[k] == pytest.approx(alone, rel=1e-13)
        np.testing.assert_allclose(slope[k], g, rtol=1e-11, atol=1e-11)
