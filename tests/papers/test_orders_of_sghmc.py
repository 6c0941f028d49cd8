"""The orders of drift and kick of sghmc: variances on N(0, 1) by formulas derived by hand.

With a = 1 - e C and kicks of variance q = 2 e C + e^2 V, positions are AR(2):

- drift first (Chen, Fox & Guestrin 2014, Algorithm 2): x'' = (1 + a - e^2) x' - a x + e xi;
- both at once (explicit Euler, as in the software of Coullon, South & Nemeth 2023):
  x'' = (1 + a) x' - (a + e^2) x + e xi.
"""

import math
from functools import cache

import pytest

import sgmc

from ..contracts.predicted import simulated

E, C, V = 0.5, 1.0, 1.0  # a long step, at which the orders differ by tens of per cent
STEPS = 8_000  # of 64 coordinates: a Monte Carlo error of a variance of about 0.4 %
WITHIN = 0.015


def autoregressive(first, second, noise):
    """Variance of x'' = first x' + second x + noise of that variance."""
    return (1 - second) * noise / ((1 + second) * ((1 - second) ** 2 - first**2))


def drift_first(e, C, V):
    a, q = 1 - e * C, 2 * e * C + e * e * V
    return autoregressive(1 + a - e * e, -a, e * e * q)


def together(e, C, V):
    a, q = 1 - e * C, 2 * e * C + e * e * V
    return autoregressive(1 + a, -(a + e * e), e * e * q)


def in_between(e, C, V):
    """Read in the middle of a drift: no bias of the step."""
    return 1 + e * V / (2 * C)


CLOSED = {"published": drift_first, "euler": together, "leapfrog": in_between}


def spec(order, **how):
    return sgmc.SGHMC(leapfrog=1, friction=C, integrator=order, **how)


@cache
def variance(order):
    """Of a chain of the package, with steps of E."""
    one = spec(order)
    return (simulated(one, one.langevin_time(E), V, STEPS) ** 2).mean()


@pytest.mark.parametrize("order", CLOSED)
def test_the_variance_is_that_of_the_formula(order):
    one = spec(order)
    for noise in (0.0, V):
        stated = one.inflation(one.langevin_time(E), noise)
        assert stated == pytest.approx(CLOSED[order](E, C, noise) - 1, rel=1e-9, abs=1e-12)
    assert variance(order) == pytest.approx(CLOSED[order](E, C, V), rel=WITHIN)


@pytest.mark.mistake("taken for the order {name}")
@pytest.mark.parametrize("order, name", [(a, b) for a in CLOSED for b in CLOSED if a != b])
def test_another_order_has_another_variance(order, name):
    assert variance(order) != pytest.approx(CLOSED[name](E, C, V), rel=2 * WITHIN)


def test_the_formulas_at_small_steps():
    """1 + e^2 / (4 - 2 e C - e^2) and about 1 / (1 - e / C), as the documentation states."""
    for e in (0.01, 0.3):
        assert drift_first(e, C, 0) == pytest.approx(1 + e * e / (4 - 2 * e * C - e * e))
    assert together(0.01, C, 0) == pytest.approx(1 / (1 - 0.01 / C), rel=1e-3)


def test_euler_is_refused_where_it_is_not_stable():
    one = spec("euler")
    assert one.inflation(one.langevin_time(1.01 * C), 0.0) == math.inf
    assert one.inflation(one.langevin_time(0.99 * C), 0.0) < math.inf


def test_fresh_momenta_cost_variance_where_a_drift_ends():
    """1/(L - 1) of it as steps go to zero, and nothing where draws are read in between."""
    for leaps in (5, 10):
        how = dict(leapfrog=leaps, friction=1e-6, resample=True)
        cost = {
            order: sgmc.SGHMC(integrator=order, **how).inflation(2e-9 * leaps, 0.0)
            for order in CLOSED
        }
        for order in ("published", "euler"):
            assert cost[order] == pytest.approx(1 / (leaps - 1), rel=1e-3)
        assert abs(cost["leapfrog"]) < 1e-3
