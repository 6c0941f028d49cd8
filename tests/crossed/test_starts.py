"""Starts of chains given as numbers, where effects are sampled beside what is printed."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
HELD = dict(draws=1, warmup=0, thin=1, step_size=1e-9, sampler="mala", chains=2, seed=1)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    data = dict(x=rng.normal(size=90), g=rng.integers(0, 6, 90), u=rng.integers(0, 7, 90))
    effects = rng.normal(size=6)[data["g"]] + 0.5 * rng.normal(size=7)[data["u"]]
    return data | dict(y=data["x"] + effects + rng.normal(size=90))


@pytest.mark.parametrize(
    "formula, start",
    [
        ("y ~ x + (1 | g) + (1 | u)", [0.3, 0.9, 1.4, 0.2, 1.1]),
        ("y ~ x + (x | g) + (1 | u)", [0.3, 0.9, 1.4, 0.1, 0.2, -0.6, 1.1]),
        ("y ~ s(x)", [0.3, 0.9, 0.4, 1.1]),
        ("y ~ s(x) + (1 | g)", [0.3, 0.9, 1.4, 0.02, 1.1]),
    ],
)
def test_chains_begin_at_what_is_printed(frame, formula, start):
    results = sgmc.ols(formula, frame, init=start, **HELD)
    # a step has an sd of sqrt(2e-9) = 4.5e-5 posterior sds, which are below 0.7 here: four of these
    assert np.allclose(results.draws, start, rtol=0, atol=1.5e-4)


def test_effects_begin_in_the_middle_of_what_they_are_given_the_sds(frame):
    """At a tenth of the sd the effects are smaller, too."""
    spread = {}
    for sd in (0.1, 1.0):
        start = [0.3, 0.9, sd, 0.2, 1.1]
        results = sgmc.ols("y ~ x + (1 | g) + (1 | u)", frame, init=start, **HELD)
        spread[sd] = results.ranef("g")["mean"].std()
    assert spread[0.1] < 0.5 * spread[1.0]


def test_correlations_that_no_matrix_has_are_refused(frame):
    with pytest.raises(ArgumentError, match="no correlation matrix"):
        sgmc.ols("y ~ x + (x | g)", frame, init=[0, 1, 1, 1, -1.2, 1], **HELD)
