"""Ratios that are thinned by bounds of Taylor remainders (mhss): the bounds, the law of the draws
by exact rank tests, and mistakes that these must catch.
"""

import numpy as np
import pytest
from _ext.mistakes import SLIPS, Slipped

import sgmc
from sgmc.coordinates.transforms.maps import Affine
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain, full
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.models.regression.bases.known import with_known

from .cases import (
    REGRESSIONS,
    event_gradient,
    families,
    normal_prior,
    outcomes,
    regression,
    stream,
    table,
)
from .test_exact_rank import ALPHA, REPLICATES, rank_test

EXPANDED = {name: family for name, family in families().items() if family.expands}
KNOWN = {"ols": {"sigma": 1.3}, "rlm": {"sigma": 0.8}, "negativebinomial": {"alpha": 0.7}}
ROWS = 40


def model_of(name, X, weight=None, offset=None):
    """A regression with bounds of its remainders."""
    if name in EXPANDED:
        return regression(name, X, offset=offset, weight=weight)
    known = with_known(families()[name], KNOWN[name])
    return known.kernel(design(X), outcomes(name, len(X)), offset, weight)


# ---- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*EXPANDED, *KNOWN])
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_stay_below_their_bounds_and_come_near_them(name, order):
    """On predictors from -12 to 12, by differences of the compiled curvatures, whose error is below
    1e-3; somewhere on the grid the bound of some row is met to 2 %, but of constant zero.
    """
    grid = np.linspace(-12, 12, 1201)
    model = model_of(name, np.ones((ROWS, 1)))
    values = np.array([Anchor(model, [eta], True).curvature for eta in grid])
    found = np.abs(values if order == 1 else np.gradient(values, grid, axis=0)[1:-1])
    grid = grid if order == 1 else grid[1:-1]
    at = 0.3
    bound = model.remainder_bounds(order, np.full(ROWS, at))
    bound = bound * np.exp(model.growth * np.abs(grid - at))[:, None]
    assert (found <= bound * (1 + 1e-3) + 1e-3).all()
    if (name, order) != ("ols", 2):
        assert (found / bound).max() > 0.98


@pytest.mark.parametrize("name", [*EXPANDED, *KNOWN])
@pytest.mark.parametrize("order", [1, 2])
def test_remainders_stay_below_their_bounds(name, order):
    """Chains that evaluate thousands of candidates meet no remainder above its bound."""
    gradient = on_table(name, order)
    chain = Chain(np.full(2, 0.2), made(order, 1.0), gradient, gradient.rng, Constant(1.0))
    chain.recorder = FullRecorder(2000, 2, 1)
    assert chain.run(2000) == 2  # full
    if (name, order) == ("ols", 2):  # a parabola is its own polynomial
        assert gradient.touched == 0
    else:
        assert gradient.touched > 200


@pytest.mark.mistake("mhss: bounds a quarter")
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["mhss"])
def test_a_bound_that_is_too_low_is_a_status(name, order):
    """One predictor, so that |z . v| = |z| |v|, and its scale that of the bends."""
    kernel = REGRESSIONS["logit"]
    low = type("Low", (kernel,), {"curvature_bound": 1 / 16, "third_bound": 3**0.5 / 72})
    X, y = np.ones((ROWS, 1)), (np.arange(ROWS) % 4 == 0).astype(float)
    for cls, status in ((kernel, 2), (low, 3)):
        model = cls(design(X), y, None, None)
        spec = sgmc.MHSS(order=order)
        gradient = event_gradient(spec, model, normal_prior(1), stream(3), centre=np.zeros(1))
        chain = Chain(
            np.zeros(1), made(order, 0.1, walks=True, dim=1), gradient, gradient.rng, Constant(0.1)
        )
        chain.recorder = FullRecorder(3000, 1, 1)
        assert chain.run(3000) == status


# ---- the law of the draws ------------------------------------------------------------------------


def made(order, step, walks=False, slip="right", dim=2):
    """A transition; its order is that of the gradient's bounds."""
    return Slipped(dim, step, walks, slip)


def on_table(name, order, prior_scale=1.0):
    """A gradient on ROWS weighted rows with offsets, expanded at a place that is not the mode."""
    weight = np.arange(ROWS) % 3 * 0.75
    model = model_of(name, 2 * table(ROWS, 2), weight, np.linspace(-0.5, 0.5, ROWS))
    map = Affine(np.array([0.3, -0.2]), np.array([[0.5, 0.0], [0.2, 0.6]]))
    spec = sgmc.MHSS(order=order)
    return event_gradient(
        spec, model, normal_prior(2, prior_scale), stream(5), map=map, centre=np.array([0.15, -0.1])
    )


def exact_draws(name):
    """REPLICATES draws of the posterior in sampler coordinates, by rejection from a t law of 4
    degrees of freedom; what bounds the ratio on a grid is a tenth more than the largest there, and
    never exceeded.
    """
    rng, gradient = np.random.default_rng(9), on_table(name, 2)
    ends = np.linspace(-8, 8, 81)
    grid = np.stack(np.meshgrid(ends, ends), axis=-1).reshape(-1, 2)
    value = np.array([full(gradient, x)[0] for x in grid])
    p = np.exp(value - value.max())
    p /= p.sum()
    mean = p @ grid
    root = np.linalg.cholesky(np.einsum("i,ij,ik->jk", p, grid - mean, grid - mean))
    found, most = [], None

    def excess(x, log_density):
        square = (np.linalg.solve(root, (x - mean).T) ** 2).sum(axis=0)
        return log_density + 3 * np.log1p(square / 4)

    most = excess(grid, value).max() + 0.1
    while len(found) < REPLICATES:
        x = mean + rng.standard_normal((2000, 2)) @ root.T / np.sqrt(
            rng.chisquare(4, (2000, 1)) / 4
        )
        ratio = excess(x, np.array([full(gradient, one)[0] for one in x])) - most
        assert (ratio < 0).all()
        found.extend(x[rng.random(len(x)) < np.exp(ratio)])
    return np.array(found[:REPLICATES])


DRAWS = {}


def ranks(name, order, walks, slip="right"):
    """p-value of the rank test."""
    if name not in DRAWS:
        DRAWS[name] = exact_draws(name)
    gradient = on_table(name, order)
    moved, p = rank_test(
        made(order, 0.5 if walks else 1.0, walks, slip),
        gradient,
        gradient.rng,
        DRAWS[name],
        lambda k: None,
    )
    assert 0.05 < moved < 0.99
    return p


@pytest.mark.extended
@pytest.mark.parametrize("walks", [False, True])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["logit", "poisson"])
def test_ranks_are_uniform(name, order, walks):
    assert ranks(name, order, walks) > ALPHA


@pytest.mark.extended
@pytest.mark.mistake("mhss: {slip}")
@pytest.mark.parametrize("name", ["mhss"])
@pytest.mark.parametrize("slip", [slip for slip in SLIPS if slip != "right"])
def test_slips_are_caught(name, slip):
    order = 2 if slip == "second-order term left out" else 1
    assert ranks("logit", order, True, slip) < ALPHA
