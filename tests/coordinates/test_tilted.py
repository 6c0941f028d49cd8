"""A prior with a tilt: its density, its gradient, and what is refused of it."""

import numpy as np
import pytest

from sgmc.cluster.surrogate import Tilt, TiltedTerms
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.priors.tilted import Tilted
from sgmc.core.expansion import of_prior
from sgmc.errors import NotSupported

random = np.random.default_rng(2)
CENTRE, SLOPE = random.normal(size=(2, 3))
ROOT = random.normal(size=(3, 3))
CURVATURE = ROOT + ROOT.T  # indefinite
INNER = Separable([FAMILIES["normal"], FAMILIES["student_t"], 0], [0, 1, 0], [1, 2, 1], [0, 4, 0])
PLACES = 2 * random.normal(size=(5, 3))


def tilt(at):
    """What is added to the log density."""
    moved = at - CENTRE
    return SLOPE @ moved - 0.5 * moved @ CURVATURE @ moved


@pytest.mark.parametrize("at", PLACES)
def test_density_and_gradient(at):
    prior = Tilted(INNER, CENTRE, SLOPE, CURVATURE)
    value, gradient = of_prior(prior, at)[:2]
    inner, slope = of_prior(INNER, at)[:2]
    assert value == pytest.approx(inner + tilt(at), rel=1e-12)
    np.testing.assert_allclose(gradient, slope + SLOPE - CURVATURE @ (at - CENTRE), rtol=1e-12)


@pytest.mark.parametrize("at", PLACES)
def test_terms_for_searches_are_the_same(at):
    terms = TiltedTerms(lambda theta: (0.0, np.zeros(3), np.eye(3)), Tilt(CENTRE, SLOPE, CURVATURE))
    value, gradient, precision = terms(at)
    assert value == pytest.approx(tilt(at), rel=1e-12)
    np.testing.assert_allclose(gradient, SLOPE - CURVATURE @ (at - CENTRE), rtol=1e-12)
    np.testing.assert_allclose(precision, np.eye(3) + CURVATURE)
    step = 1e-6 * np.eye(3)
    slopes = [(tilt(at + e) - tilt(at - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)


def test_bounds_of_events_are_refused():
    with pytest.raises(NotSupported, match="rows that a reservoir stands for"):
        Tilted(INNER, CENTRE, SLOPE, CURVATURE).ridges()
