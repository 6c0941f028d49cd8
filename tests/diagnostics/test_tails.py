"""Tail indices of laws whose index is known."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from sgmc.diagnostics import tail_index
from sgmc.diagnostics.chains.pareto import tail_shape
from sgmc.diagnostics.chains.tails import largest_index


def draws(law, seed=0, reps=60):
    return law(np.random.default_rng(seed), (4, 1000, reps))


LAWS = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "t, 4": (lambda rng, size: rng.standard_t(4, size), 1 / 4),
    "t, 2": (lambda rng, size: rng.standard_t(2, size), 1 / 2),
    "Cauchy": (lambda rng, size: rng.standard_cauchy(size), 1.0),
    "Pareto": (lambda rng, size: 1 + rng.pareto(1.5, size), 1 / 1.5),
}


@pytest.mark.parametrize("name", LAWS)
def test_of_laws_with_a_known_index(name):
    """The mean of 60: the fit's own error is 0.13 / sqrt(60) = 0.017; second-order terms of the
    tails, the larger of two tails, and the pull of its prior towards 1/2 leave 0.15.
    """
    law, index = LAWS[name]
    assert abs(tail_index(draws(law)).mean() - index) < 0.15


def test_units_and_places_do_not_matter():
    x = draws(LAWS["t, 2"][0], reps=5)
    np.testing.assert_allclose(tail_index(1e-12 * x + 3), tail_index(x), rtol=1e-2)
    np.testing.assert_allclose(tail_index(-x), tail_index(x), rtol=1e-6)


def test_weights_count():
    """Draws without weight are not there: of a Cauchy none is left."""
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_cauchy((2, 500, 3)), rng.normal(size=(2, 2000, 3))], axis=1)
    weights = np.repeat([0.0, 1.0], [500, 2000])
    assert (tail_index(x) > 0.4).all() and (tail_index(x, weights) < 0.2).all()


def test_constants_and_infinities_have_none():
    x = draws(LAWS["normal"][0], reps=3)
    x[..., 0], x[0, 0, 1] = 2.0, np.inf
    assert np.isnan(tail_index(x)[:2]).all() and tail_index(x)[2] < 0.2


def test_more_draws_tell_heavier_tails():
    assert largest_index(100) == pytest.approx(0.5)
    assert largest_index(4000) == pytest.approx(0.7)
    assert largest_index(1e9) == 0.7


@pytest.mark.parametrize("shape", [(1, 200), (4, 1000), (2, 4001)])
@pytest.mark.filterwarnings("ignore")
def test_shapes_are_those_of_arviz(shape):
    """The same fit and the same size of the tail: to rounding, also of correlated draws and of
    draws with ties, whose first quartile may be where the tail begins.
    """
    rng = np.random.default_rng(4)
    heavy = rng.standard_t(2, size=shape)
    slow = np.cumsum(rng.normal(size=shape), axis=1)
    for one in (heavy, slow, np.round(heavy)):
        for upper, tail in ((False, "left"), (True, "right")):
            known = float(array_stats.pareto_khat(one, tail=tail))
            if np.isnan(known):  # some versions of ArviZ have none where draws are tied
                assert np.isfinite(tail_shape(one, upper))
                continue
            assert tail_shape(one, upper) == pytest.approx(known, rel=1e-9)


def test_a_tail_of_one_value_has_shape_zero():
    """arviz refuses it."""
    one = np.zeros((2, 500))
    one[0, 0] = -1.0
    assert tail_shape(one) == 0.0
