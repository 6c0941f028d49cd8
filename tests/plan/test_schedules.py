"""Public schedules, and draws of cyclical steps."""

import numpy as np
import pytest

import sgmc
from sgmc.core.schedules import Constant, Cyclical, Polynomial

from .cases import frame


def test_public_schedules():
    assert sgmc.Constant is Constant and sgmc.Polynomial is Polynomial
    assert sgmc.Cyclical is Cyclical
    assert Polynomial(2.0, 3.0, 0.5)(6) == pytest.approx(2 / 3, rel=1e-15)
    assert Constant(0.3)(10**9) == 0.3


@pytest.mark.parametrize("gamma", [0.33, 0.55, 1.0])
@pytest.mark.parametrize("start, end, steps", [(1.0, 0.1, 1000), (0.3, 0.29, 7), (5, 1e-3, 10**6)])
def test_a_schedule_between_two_steps(start, end, steps, gamma):
    schedule = Polynomial.between(start, end, steps, gamma)
    assert isinstance(schedule, Polynomial) and schedule.gamma == gamma
    assert schedule(0) == pytest.approx(start, rel=1e-9)
    assert schedule(steps) == pytest.approx(end, rel=1e-9)
    assert start > schedule(steps // 2) > end > schedule(2 * steps)


@pytest.mark.parametrize("period", [1, 2, 7, 1000])
def test_cycles_of_steps(period):
    """h/2 (cos(pi u) + 1) at midpoints u of the cycle's steps: their mean is h/2, none is zero, and
    every cycle is the same.
    """
    steps = np.array([Cyclical(0.8, period)(t) for t in range(3 * period)])
    assert steps[:period] == pytest.approx(
        0.4 * (np.cos(np.pi * (np.arange(period) + 0.5) / period) + 1), rel=1e-12
    )
    assert steps.mean() == pytest.approx(0.4, rel=1e-12)
    assert (steps > 0).all()
    assert (np.diff(steps[:period]) < 0).all()
    assert np.array_equal(steps, np.tile(steps[:period], 3))
    assert Cyclical(0.8, period)(10**15 * period) == steps[0]


def test_draws_of_cyclical_steps_are_weighted():
    """Means and sds of a posterior by an exact sampler: within 0.1 sd and 6 %, of which Monte Carlo
    error is about a third.
    """
    df, how = frame(2000), dict(seed=1, draws=4000)
    exact = sgmc.logit("y ~ a + b", df, sampler="mala", **how)
    results = sgmc.logit(
        "y ~ a + b",
        df,
        sampler="lmsgld",
        step_size=sgmc.Cyclical(1.0, 50),
        thin=7,
        warmup=100,
        **how,
    )
    assert results._fit.weights.std() > 0.1
    assert (np.abs(results.params - exact.params) < 0.1 * exact.bse).all()
    assert (np.abs(results.bse / exact.bse - 1) < 0.06).all()
