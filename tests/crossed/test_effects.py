"""Densities and maps of effects among the parameters, against differences and plain numpy."""

import numpy as np
import pytest

from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.core.expansion import of_prior
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.effects_prior import Blocks, EffectsPrior, Loaded

STEP = 1e-6  # of central differences, whose errors are about its square and rounding over it
NEAR = dict(rtol=1e-6, atol=1e-6)


@pytest.fixture(params=["noncentred", "partly centred"])
def blocks(request):
    """Two correlated effects of five levels, and one of four."""
    made = Blocks(Loading([(2, True), (1, False)], [0.5, 0.3, 0.2]), 2, [5, 4], [2, 1], 1)
    if request.param == "noncentred":
        return made
    rng = np.random.default_rng(3)
    centring, row_precision, estimate = rng.uniform(size=(3, made.effects))
    centring[1:10:2] = 0.0  # the second effect of each level
    centring[10:] = row_precision[:10] = estimate[:10] = 0.0  # a smooth behind them
    return made.replaced(
        centring=centring,
        row_precision=20 * row_precision,
        estimate=estimate,
        typical=[0.4, 1.0, 0.3, 0.2],
    )


@pytest.fixture
def prior(blocks):
    """With standard normal coefficients, phi and logs."""
    k = blocks.size - blocks.effects
    fixed = Separable([FAMILIES["normal"]] * k, np.zeros(k), np.ones(k), np.ones(k), log_params=1)
    return EffectsPrior(blocks, fixed)


@pytest.fixture
def x(blocks):
    return np.random.default_rng(0).normal(size=blocks.size)


def differences(function, x):
    """The gradient by central differences."""
    return np.array(
        [(function(x + STEP * e) - function(x - STEP * e)) / (2 * STEP) for e in np.eye(len(x))]
    )


def test_the_prior_has_its_gradient(prior, blocks, x):
    theta = Loaded(blocks)(x)
    found = differences(lambda at: of_prior(prior, at)[0], theta)
    np.testing.assert_allclose(of_prior(prior, theta)[1], found, **NEAR)


def test_the_prior_is_that_of_normal_effects(prior, blocks, x):
    """Up to the constants that Gaussian densities have."""
    theta = Loaded(blocks)(x)
    root = blocks.loading.root(theta[blocks.phi])
    value = 0.0
    for t, span in enumerate([slice(0, 2), slice(2, 3)]):
        L = root[span, span]
        v = np.linalg.solve(L, theta[blocks.of_term(t)].T)
        value -= 0.5 * (v**2).sum() + v.shape[1] * np.log(np.abs(np.diag(L))).sum()
    rest = of_prior(prior.fixed, theta[blocks.places])[0]
    assert of_prior(prior, theta)[0] == pytest.approx(value + rest, rel=1e-12)


def test_the_map_goes_back(blocks, x):
    found = Loaded(blocks)
    np.testing.assert_allclose(found.inverse(found(x)), x, rtol=1e-12)


def test_the_map_has_its_gradient_and_jacobian(prior, blocks, x):
    """Of the density in the map's coordinates."""
    found = Loaded(blocks)

    def jacobian(at):
        root, narrow, _ = blocks.loads(at)
        return np.repeat(np.log(np.abs(np.diag(root))), [5, 5, 4]).sum() + np.log(narrow).sum()

    def density(at):
        return of_prior(prior, found(at))[0] + jacobian(at)

    matrix = [(found(x + STEP * e) - found(x - STEP * e)) / (2 * STEP) for e in np.eye(len(x))]
    assert jacobian(x) == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-7)

    pulled = found.pulled(x, of_prior(prior, found(x))[1])
    np.testing.assert_allclose(pulled, differences(density, x), **NEAR)


def test_no_density_at_sds_of_zero(prior, blocks, x):
    theta = Loaded(blocks)(x)
    theta[blocks.phi.start] = 0.0
    assert of_prior(prior, theta)[0] == -np.inf
