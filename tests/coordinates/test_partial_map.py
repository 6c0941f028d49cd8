"""A map of some coordinates against the map of all that it is."""

import numpy as np
import pytest
from _ext import probes

from sgmc.coordinates.transforms.maps import Affine
from sgmc.coordinates.transforms.partial_map import PartialMap

PLACES, DIM = np.array([3, 0]), 5


@pytest.fixture
def both():
    """The map, and the same as a matrix."""
    rng = np.random.default_rng(0)
    centre, matrix = rng.normal(size=2), rng.normal(size=(2, 2))
    whole, place = np.eye(DIM), np.zeros(DIM)
    whole[np.ix_(PLACES, PLACES)], place[PLACES] = matrix, centre
    return PartialMap(DIM, PLACES, Affine(centre, matrix)), Affine(place, whole)


def test_it_is_the_map_of_all(both):
    part, whole = both
    x, v = np.random.default_rng(1).normal(size=(2, DIM))
    for one, other in zip(probes.mapped(part, x, v), probes.mapped(whole, x, v)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(part.pulled(x, v), whole.pulled(x, v), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(part.jacobian(x), whole.jacobian(x), atol=1e-15)
    many = np.random.default_rng(2).normal(size=(2, 3, DIM))
    np.testing.assert_allclose(part(many), whole(many), atol=1e-14)
    np.testing.assert_allclose(part.inverse(part(many)), many, atol=1e-12)


def test_as_many_places_as_the_inner_map_has():
    with pytest.raises(ValueError, match="2 coordinates at 1 places"):
        PartialMap(DIM, [1], Affine(np.zeros(2), np.eye(2)))
