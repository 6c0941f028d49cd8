"""Steps, coordinates and starts as the user gives them."""

import numpy as np
import pytest

import sgmc
from sgmc.diagnostics.chains import moments
from sgmc.errors import (
    SGMCWarning,
)

from .cases import frame

# ---- steps as the user gives them ----------------------------------------------------------------


def test_a_number_is_a_constant_step():
    results = sgmc.logit("y ~ a", frame(), sampler="sgld", step_size=0.05, thin=20, seed=1)
    assert results.step_size == 0.05 and results.weights is None
    assert "0.05 (given)" in results.summary(details=True).as_text()


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "schedule, f",
    [
        (sgmc.Polynomial(1.0, 1000, 0.25), lambda t: (1000 + t) ** -0.25),
        (lambda t: 0.15 / (1 + 1e-4 * t), lambda t: 0.15 / (1 + 1e-4 * t)),
    ],
    ids=["Polynomial", "callable"],
)
def test_decreasing_steps_weigh_the_draws(schedule, f):
    results = sgmc.logit(
        "y ~ a", frame(), sampler="sgld", step_size=schedule, thin=20, warmup=50, draws=4000, seed=1
    )
    last = 50 + 20 * np.arange(1, 4001) - 1  # the step that led to each kept draw
    np.testing.assert_allclose(results.weights, [f(int(t)) for t in last], rtol=1e-12)
    np.testing.assert_allclose(
        results.params, moments.mean(results.draws, results.weights), rtol=1e-12
    )
    assert abs(results.params / results.draws.mean(axis=(0, 1)) - 1).max() > 1e-4
    exact = sgmc.logit("y ~ a", frame(), sampler="mala", draws=3000, seed=1)
    error = np.hypot(exact.mcse(), results.mcse())
    assert (abs(results.params - exact.params) < 0.1 * exact.bse + 4 * error).all()
    assert "decaying" in results.summary(details=True).as_text()


@pytest.mark.parametrize("preconditioner", ["mode", "dense", "diag", None])
def test_step_sizes_are_in_the_samplers_coordinates(preconditioner):
    """Chains forget as fast with a step of 0.1 whitened as with 0.1 / (posterior precision)
    in the user's coordinates.
    """
    df = frame(2000)
    one_sd = float(sgmc.logit("y ~ 0 + a", df, seed=1).bse.iloc[0])
    step = 0.1 if preconditioner else 0.1 * one_sd**2
    results = sgmc.logit(
        "y ~ 0 + a",
        df,
        sampler="sgld",
        step_size=step,
        precondition=preconditioner,
        draws=20_000,
        thin=1,
        seed=1,
    )
    assert results.step_size == step
    lag_one = np.corrcoef(results.draws[0, 1:, 0], results.draws[0, :-1, 0])[0, 1]
    assert abs(lag_one - 0.95) < 0.01  # 1 - h/2; its Monte Carlo error is 0.002


@pytest.mark.parametrize("gradient", ["cv", "taylor"])
def test_control_values_are_at_the_mode_in_any_coordinates(gradient):
    shares = []
    for precondition in ("mode", "diag", None):
        results = sgmc.logit(
            "y ~ 0 + a",
            frame(2000),
            sampler="lmsgld",
            gradient=gradient,
            precondition=precondition,
            draws=2000,
            batch_size=64,
            seed=1,
        )
        shares.append(float(dict(results.header[0])["Grad-noise share"]))
    np.testing.assert_allclose(shares, shares[0], rtol=0.2)  # printed with two digits
    assert 0 < shares[0] < 0.01


def test_draws_start_at_init():
    start = [5.0, -5.0]
    with pytest.warns(SGMCWarning):  # two draws do not suffice for anything
        results = sgmc.logit(
            "y ~ a",
            frame(),
            sampler="sgld",
            init=start,
            step_size=1e-10,
            warmup=0,
            thin=1,
            draws=2,
            seed=1,
        )
    np.testing.assert_allclose(results.draws, np.broadcast_to(start, (4, 2, 2)), atol=1e-3)
    each = np.arange(8.0).reshape(4, 2)
    with pytest.warns(SGMCWarning):
        results = sgmc.logit(
            "y ~ a",
            frame(),
            sampler="sgld",
            init=each,
            step_size=1e-10,
            warmup=0,
            thin=1,
            draws=2,
            seed=1,
        )
    np.testing.assert_allclose(results.draws[:, 0], each, atol=1e-3)
