"""Standard deviations of columns as functions of parameters of their own: their formulas, densities
and maps, against numpy and differences.
"""

import numpy as np
import pytest
from _ext import probes

from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.transforms.composed import Composed
from sgmc.core.expansion import of_prior
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.effects_prior import Blocks, EffectsPrior, Loaded
from sgmc.models.regression.latent.densities.overlapping import Overlapping
from sgmc.models.regression.latent.densities.spectrum import Spectrum

LEVELS, WAVES, REGIONS, D = 5, 7, 4, 2
STEP = 1e-6  # of central differences, whose errors are about its square and rounding over it
NEAR = dict(rtol=1e-6, atol=1e-6)
SQUARES = np.random.default_rng(0).uniform(0.1, 3, (2, WAVES))
VARIANCES = np.array([2.0, 1.0, 0.3, 0.0])
ETA = np.array([-0.4, 0.3, -0.2])  # of a share, then logs of two length scales


def numpy_ratios(eta):
    """f of all effects."""
    waves = np.exp(0.5 * (eta[1] + eta[2]))
    waves *= np.exp(-0.25 * np.exp(2 * eta[1:]) @ SQUARES)
    rho = 0.5 * (1 + np.tanh(eta[0]))
    return np.r_[np.ones(LEVELS), waves, np.sqrt(rho * VARIANCES + 1 - rho)]


@pytest.fixture
def spectrum():
    """Of the levels of a factor, waves of two covariates, and modes of a graph."""
    both = [(j + 1, "waves", one) for j, one in enumerate(SQUARES)]
    return Spectrum([[], both, [(0, "mixture", VARIANCES)]])


@pytest.fixture(params=["alone", "told one by one"])
def blocks(request, spectrum):
    made = Blocks(
        Loading([(1, False)] * 3, [0.5, 0.3, 0.2]),
        D,
        [LEVELS, WAVES, REGIONS],
        [1, 1, 1],
        1,
        spectrum=spectrum,
    )
    if request.param == "alone":
        return made
    precision, estimate = np.random.default_rng(3).uniform(size=(2, made.effects))
    return made.replaced(row_precision=20 * precision, estimate=estimate, typical=[0.4, 1.0, 0.3])


@pytest.fixture(params=[WAVES, WAVES - 2], ids=["all columns", "first columns"])
def overlapping(request, blocks):
    """The waves, or the first ones, of which rows tell three directions."""
    rng, columns = np.random.default_rng(4), request.param
    U, h, A = rng.normal(size=(columns, 3)), rng.normal(size=3), rng.normal(size=(D, columns))
    return Overlapping(blocks, 1, 2 * U, h, A)


@pytest.fixture(params=["loaded", "overlapping", "both"])
def map(request, blocks, overlapping):
    loaded = Loaded(blocks)
    known = {"loaded": loaded, "overlapping": overlapping, "both": Composed(loaded, overlapping)}
    return known[request.param]


@pytest.fixture
def x(blocks):
    x = np.random.default_rng(0).normal(size=blocks.size)
    x[blocks.eta] = ETA
    return x


@pytest.fixture
def prior(blocks):
    """With standard normal coefficients, phi, eta and logs."""
    k = blocks.size - blocks.effects
    fixed = Separable([FAMILIES["normal"]] * k, np.zeros(k), np.ones(k), np.ones(k), log_params=1)
    return EffectsPrior(blocks, fixed)


def differences(function, x):
    """Derivatives by central differences, a row for each place."""
    return np.array(
        [(function(x + STEP * e) - function(x - STEP * e)) / (2 * STEP) for e in np.eye(len(x))]
    )


def test_ratios_are_those_of_numpy(spectrum):
    counts = [LEVELS, WAVES, REGIONS]
    f, slopes = spectrum.at(ETA, counts)
    np.testing.assert_allclose(f, numpy_ratios(ETA), rtol=1e-12)
    found = differences(lambda eta: np.log(spectrum.at(eta, counts)[0]), ETA)
    np.testing.assert_allclose(slopes, found, atol=1e-8)


def test_columns_without_a_part_stay_numbers(spectrum):
    """Waves of a length scale of a thousand, whose sds would be zero."""
    f, slopes = spectrum.at([0.0, 7.0, 0.0], [LEVELS, WAVES, REGIONS])
    assert (f > 0).all()
    assert (slopes[1] == 0).all()


def test_parameters_belong_to_one_term():
    with pytest.raises(ValueError, match="at most two"):
        Spectrum([[(1, "rho", VARIANCES)]])


def test_the_prior_is_that_of_normal_effects(prior, blocks, x):
    """Up to the constants that Gaussian densities have."""
    theta = Loaded(blocks)(x)
    sds = np.asarray(blocks.loading.sds(theta[blocks.phi]))[blocks.number] * numpy_ratios(ETA)
    b = theta[D : D + blocks.effects]
    value = -0.5 * ((b / sds) ** 2).sum() - np.log(np.abs(sds)).sum()
    rest = of_prior(prior.fixed, theta[blocks.places])[0]
    assert of_prior(prior, theta)[0] == pytest.approx(value + rest, rel=1e-12)


def test_the_prior_has_its_gradient(prior, blocks, x):
    theta = Loaded(blocks)(x)
    found = differences(lambda at: of_prior(prior, at)[0], theta)
    np.testing.assert_allclose(of_prior(prior, theta)[1], found, **NEAR)


def test_maps_go_back(map, x):
    np.testing.assert_allclose(map.inverse(map(x)), x, rtol=1e-11, atol=1e-12)


def test_maps_have_their_derivatives(map, x):
    """The Jacobian's determinant, products with it, and with its transpose."""
    v, g = np.random.default_rng(1).normal(size=(2, len(x)))
    theta, log_jacobian, along = probes.mapped(map, x, v)
    J = differences(map, x).T
    np.testing.assert_allclose(theta, map(x))
    assert log_jacobian == pytest.approx(np.linalg.slogdet(J)[1], abs=1e-7)
    np.testing.assert_allclose(along, J @ v, **NEAR)
    found = differences(lambda at: g @ map(at) + probes.mapped(map, at, v)[1], x)
    np.testing.assert_allclose(map.pulled(x, g), found, **NEAR)


def test_overlapping_columns_have_the_posterior_that_rows_leave(blocks, overlapping, x):
    """Given all else v is N(m, (I + B B')^-1), m = (I + B B')^-1 B h."""
    sds = numpy_ratios(ETA)[LEVELS : LEVELS + overlapping.k]
    sds = sds * blocks.loading.sds(x[blocks.phi])[1]
    B = sds[:, None] * np.asarray(overlapping.U)
    covariance = np.linalg.inv(np.eye(overlapping.k) + B @ B.T)
    root, own = overlapping.root(x), slice(D, D + overlapping.k)
    np.testing.assert_allclose(root[own, own] @ root[own, own].T, covariance, atol=1e-12)
    place = x.copy()
    place[overlapping.places] = 0.0
    middle = overlapping(place)[overlapping.places]
    np.testing.assert_allclose(middle[own], covariance @ B @ overlapping.h, atol=1e-12)
    np.testing.assert_allclose(middle[:D], -np.asarray(overlapping.A) @ (sds * middle[own]))
