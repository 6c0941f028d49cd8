"""Kernels against their own stationary law by quadrature, on a target that is not Gaussian: the
bias itself, not only its order.

The transition of one coordinate is a matrix on functions, given by their values at NODES Chebyshev
points of [-REACH, REACH]; Gauss quadrature has the noise.  Its invariant measure gives the moments
of the draws for any step, with their bias, to eight digits.  The update is written here a second
time, from the papers.
"""

from functools import cache

import numpy as np
import pytest
from _ext.toy_densities import Noisy, Wavy
from numpy.polynomial.hermite_e import hermegauss
from scipy.integrate import quad
from scipy.special import expit

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import SAMPLERS, stream
from .montecarlo import LIMIT, standard_errors

DIM, NODES, REACH = 256, 200, 7.0
XI, WEIGHT = hermegauss(40)
WEIGHT = WEIGHT / WEIGHT.sum()
MOMENTS = [np.square, lambda x: np.square(np.square(x)), lambda x: np.cos(3 * x)]
ANGLES = np.pi * (2 * np.arange(NODES) + 1) / (2 * NODES)
POINTS, BARYCENTRIC = -REACH * np.cos(ANGLES), (-1.0) ** np.arange(NODES) * np.sin(ANGLES)


def g(x):
    """Gradient of log p = -x^2/2 + cos 1.5 x."""
    return -x - 1.5 * np.sin(1.5 * x)


# Each: where the draw is read and where the chain goes to, with what probability, from POINTS
# (down) with noise XI (across).


def euler(h, tau):
    """theta + h/2 g + sqrt(h) xi; the noise of the gradient is normal, too."""
    at = POINTS[:, None]
    return at + 0 * XI, [(1 + 0 * XI, at + h / 2 * g(at) + np.sqrt(h + h * h * tau * tau / 4) * XI)]


def leimkuhler_matthews(h, tau):
    """With y = theta - sqrt(h)/2 xi_k, the step is y + h/2 g(y + sqrt(h)/2 xi) + sqrt(h) xi, read
    at y + sqrt(h)/2 xi.
    """
    read = POINTS[:, None] + np.sqrt(h) / 2 * XI
    return read, [(1 + 0 * XI, POINTS[:, None] + h / 2 * g(read) + np.sqrt(h) * XI)]


def barker(bimodal):
    """theta + b z, b = 1 with probability 1 / (1 + exp(-z (g + tau xi))), else -1."""

    def moves(h, tau):
        z = np.sqrt(h / 1.01) * (1 + 0.1 * XI) if bimodal else np.sqrt(h) * XI
        up = WEIGHT @ expit(z * (g(POINTS)[:, None, None] + tau * XI[:, None]))
        at = POINTS[:, None]
        return at + 0 * XI, [(up, at + z), (1 - up, at - z)]

    return moves


CASES = {
    "sgld": (SAMPLERS["sgld"](), euler, 0.2, 0.0),
    "sgld, noise": (SAMPLERS["sgld"](), euler, 0.2, 2.0),
    "lmsgld": (SAMPLERS["lmsgld"](), leimkuhler_matthews, 0.5, 0.0),
    "vsgbd": (SAMPLERS["vsgbd"](), barker(True), 0.2, 0.0),
    "vsgbd, normal": (SAMPLERS["vsgbd"](increment="normal"), barker(False), 0.2, 0.0),
    "vsgbd, noise": (SAMPLERS["vsgbd"](), barker(True), 0.2, 2.0),
}


def values_at(x):
    """The matrix that takes values at POINTS to values at x,
    for each of them (barycentric interpolation).
    """
    away = np.clip(x, -REACH, REACH)[..., None] - POINTS
    away[away == 0] = 1e-300
    share = BARYCENTRIC / away
    return share / share.sum(axis=-1, keepdims=True)


@cache
def stationary(moves, h, tau=0.0):
    """MOMENTS of the draws."""
    read, ways = moves(h, tau)
    transition = sum(((WEIGHT * p)[..., None, :] @ values_at(x))[:, 0] for p, x in ways)
    conditions = np.vstack([(transition - np.eye(NODES)).T, np.ones(NODES)])
    law = np.linalg.lstsq(conditions, np.r_[np.zeros(NODES), 1.0], rcond=None)[0]
    return np.array([law @ (f(read) @ WEIGHT) for f in MOMENTS])


def exact():
    """MOMENTS of the target."""
    above = [
        quad(lambda x: f(x) * np.exp(-x * x / 2 + np.cos(1.5 * x)), -9, 9, epsabs=1e-13)[0]
        for f in [np.ones_like, *MOMENTS]
    ]
    return np.array(above[1:]) / above[0]


def departure(name, stretch=1.0):
    """Largest departure of a chain's moments from the predicted ones, in Monte Carlo errors; its
    step is `stretch` as long.
    """
    spec, moves, h, tau = CASES[name]
    step, rng = spec.from_langevin(stretch * h), stream(3)
    gradient = Noisy(np.full(DIM, tau), Wavy(DIM), Prior(DIM), FullBatch(1), rng)
    chain = Chain(np.zeros(DIM), spec.build(DIM, step), gradient, rng, Constant(step))
    chain.run(500, False)
    chain.recorder = FullRecorder(40_000, DIM, 1)
    chain.run(40_000)
    x = np.asarray(chain.recorder.draws)
    return standard_errors(
        np.column_stack([f(x).mean(axis=1) for f in MOMENTS]), stationary(moves, h, tau)
    ).max()


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_moments_are_those_of_the_transition(name):
    assert departure(name) < LIMIT


@pytest.mark.extended
@pytest.mark.mistake("transition: step {stretch} as long")
@pytest.mark.parametrize("stretch", [0.8, 1.25])
@pytest.mark.parametrize("name", CASES)
def test_another_step_is_caught(name, stretch):
    assert departure(name, stretch) > LIMIT


@pytest.mark.parametrize(
    "moves, order", [(euler, 1), (leimkuhler_matthews, 2), (barker(True), 1), (barker(False), 1)]
)
def test_the_transitions_have_the_orders_of_theory(moves, order):
    """From h = 0.05 to 0.025, without any Monte Carlo error; the next order adds up to 0.1."""
    long, short = (np.abs(stationary(moves, h) - exact()) for h in (0.05, 0.025))
    assert np.log2(long / short) == pytest.approx(np.full(len(MOMENTS), order), abs=0.1)
