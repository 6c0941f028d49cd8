"""Density and map of coefficients with learned scales, against scipy and differences."""

import numpy as np
import pytest
from _ext.probes import mapped
from scipy import stats

from sgmc.coordinates.approximations.propagation import Sites
from sgmc.coordinates.priors.densities import Separable
from sgmc.coordinates.shapes.separation_transform import GRID
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.maps import Warp
from sgmc.core.expansion import of_prior
from sgmc.models.regression.latent.shrunk.locals import Local
from sgmc.models.regression.latent.shrunk.propagation import shrunken
from sgmc.models.regression.latent.shrunk.shrinking import (
    LOCAL_KINDS,
    Shrunk,
    ShrunkMap,
    ShrunkPrior,
)

D, WHERE, REST = 6, [1, 2, 4, 5], [0, 3]
GROUP, LOCAL = [0, 0, 1, 1], ["half_cauchy", "half_cauchy", "root_gamma", "none"]
SHAPE, UNIT = np.array([0, 0, 0.3, 0]), np.array([1.0, 2.0, 0.5, 1.5])
SLAB, SHARE = np.array([2.0, 3.0, np.inf, 1.0]), np.array([1.0, 1.0, 0.5, 0.5])
NOISE = np.array([1.0, 1.0, 0.0, 1.0])


def shrunk():
    return Shrunk(
        D,
        2,
        1,
        where=WHERE,
        group=GROUP,
        local=[LOCAL_KINDS[kind] for kind in LOCAL],
        shape=SHAPE,
        unit=UNIT,
        slab=SLAB,
        share=SHARE,
        noise=NOISE,
    )


def prior():
    of = shrunk()
    flat = Separable([0] * of.size, [0.0] * of.size, [1.0] * of.size, [1.0] * of.size)
    return ShrunkPrior(of, flat)


def place(seed=0):
    return 0.7 * np.random.default_rng(seed).normal(size=shrunk().size)


def log_density(theta):
    """By scipy, up to a constant."""
    b, v, g, u = theta[WHERE], theta[6:9], theta[9:11], theta[11]
    log = SHARE * g[GROUP] + NOISE * u + np.append(v, 0.0)
    sd = 1 / np.sqrt(np.exp(-2 * log) / UNIT**2 + SLAB**-2.0)
    local = stats.halfcauchy.logpdf(np.exp(v[:2])).sum() + v[:2].sum()
    local += stats.gamma(SHAPE[2]).logpdf(np.exp(2 * v[2])) + 2 * v[2]
    return stats.norm.logpdf(b, 0, sd).sum() + local


def test_density_is_scipys():
    first, second = place(1), place(2)
    found = of_prior(prior(), first)[0] - of_prior(prior(), second)[0]
    assert found == pytest.approx(log_density(first) - log_density(second), abs=1e-10)


def test_gradient_is_that_of_differences():
    theta, h = place(), 1e-5
    slope = [
        (of_prior(prior(), theta + h * e)[0] - of_prior(prior(), theta - h * e)[0]) / (2 * h)
        for e in np.eye(len(theta))
    ]
    assert of_prior(prior(), theta)[1] == pytest.approx(slope, abs=1e-7)


def test_scales_of_nothing_are_finite():
    """Local scales below any number that is told from zero have density, slope and no NaN."""
    theta = place()
    theta[6:9], theta[WHERE] = -700.0, 0.0
    value, slope = of_prior(prior(), theta)
    assert np.isfinite(value) and np.isfinite(slope).all()


def shrunk_map():
    random = np.random.default_rng(4)
    return ShrunkMap(
        shrunk(),
        place=random.normal(size=4),
        cavity=random.random(4) + 0.2,
        root=np.linalg.cholesky(0.7 * np.eye(4) + 0.3),
        turn=[0.3, 0.5, 0.2],
        centre=[-0.1, 0.2],
        rest=REST,
        expected=random.normal(size=2),
        slope=random.normal(size=(2, 4)),
        own=np.array([[1.0, 0.0], [0.3, 0.6]]),
        auxiliary=np.array([[0.1, 0.4]]),
        power=1.0,
    )


def jacobian(f, x, h=1e-5):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]).T


def behind_quantiles():
    """The map behind quantiles of local scales and global parameters."""
    outer, of = shrunk_map(), shrunk()
    half, root = Local("half_cauchy", 0.0), Local("root_gamma", 0.3)
    tables = [
        half.quantiles(0.1, 1.0, 2.0, 0.5, 0.3),
        half.quantiles(0.1, 2.0, 3.0, 3.0, 0.3),
        root.quantiles(0.1, 0.5, np.inf, 0.1, 0.3),
    ]
    return Composed(outer, Warp(of.size, GRID, *(np.array(t) for t in zip(*tables))))


@pytest.mark.parametrize("made", [shrunk_map, behind_quantiles])
def test_map_gradients_and_jacobian(made):
    m, x, c = made(), place(5), np.random.default_rng(6).normal(size=shrunk().size)
    J = jacobian(m, x)
    pulled = m.pulled(x, c) - m.pulled(x, np.zeros_like(c))
    # quantiles are tables: their slopes are interpolated beside their values
    assert pulled == pytest.approx(J.T @ c, abs=1e-6)
    slope = jacobian(lambda x: np.linalg.slogdet(jacobian(m, x))[1], x, 1e-3)
    assert m.pulled(x, np.zeros_like(c)) == pytest.approx(slope, abs=1e-4)


def test_directions_are_those_of_the_jacobian():
    """Slopes along a direction, and the matrix that maps without one of their own have, against
    differences.
    """
    m, x, v = shrunk_map(), place(8), np.random.default_rng(9).normal(size=shrunk().size)
    J = jacobian(m, x)
    assert mapped(m, x, v)[2] == pytest.approx(J @ v, abs=1e-7)
    assert m.jacobian(x) == pytest.approx(J, abs=1e-7)


def test_map_inverse():
    m, x = shrunk_map(), place(7)
    assert m.inverse(m(x)) == pytest.approx(x, abs=1e-10)


@pytest.mark.parametrize("local", [Local("half_cauchy", 0.0), Local("root_gamma", 0.02)])
def test_nodes_have_the_mass_of_the_prior(local):
    v, log_mass = local.nodes()
    assert np.exp(log_mass).sum() == pytest.approx(1.0, abs=1e-9)
    law = stats.halfcauchy if local.kind == "half_cauchy" else stats.gamma(local.shape)
    power = 1 if local.kind == "half_cauchy" else 2
    at = 60
    edge = np.exp(power * 0.5 * (v[at] + v[at + 1]))
    assert np.exp(log_mass[: at + 1]).sum() == pytest.approx(law.cdf(edge), rel=1e-9)


def test_propagation_is_exact_for_normal_priors():
    random = np.random.default_rng(8)
    A = random.normal(size=(9, 5))
    precision, slope, where = A.T @ A, random.normal(size=5), np.array([1, 2, 4])
    variance = np.array([0.3, 1.0, 2.0])
    grid = variance[:, None], np.ones((3, 1)), np.zeros((3, 1)), np.zeros((3, 1))
    found = shrunken(precision, slope, where, grid, Sites(1 / variance, np.zeros(3)))
    full = precision.copy()
    full[where, where] += 1 / variance
    covariance = np.linalg.inv(full)
    mean = covariance @ slope
    assert found.mean == pytest.approx(mean, abs=1e-8)
    # the slope of the evidence by log s_j is E b_j^2 / s_j^2 - 1
    second = mean[where] ** 2 + np.diag(covariance)[where]
    assert found.by_scale == pytest.approx(second / variance - 1, abs=1e-6)
