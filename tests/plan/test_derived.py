"""Step, batch, thinning and warmup are derived where the user leaves them open."""

import numpy as np
import pytest

import sgmc
from sgmc.core.schedules import Constant
from sgmc.errors import (
    ArgumentError,
)
from sgmc.fit import plan as planning
from sgmc.fit import tolerance
from sgmc.fit.tolerance import Noise

from .cases import STOCHASTIC, frame, planned

# ---- step and batch ------------------------------------------------------------------------------


@pytest.mark.parametrize("one_row", [0.01, 5.0, 300.0, 2e4])
@pytest.mark.parametrize("spec", STOCHASTIC, ids=repr)
def test_derived_step_and_batch_keep_the_tolerance(spec, one_row):
    n = 100_000
    plan = planned(spec, one_row, n)
    h = spec.langevin_time(plan.schedule(0))
    noise = one_row / plan.batch * (1 - plan.batch / n)

    def off(h):  # errors are not to cancel, nor to rest on a correction alone
        return max(
            abs(spec.inflation(h, noise)),
            abs(spec.inflation(h, 0.0)) / 3,
            spec.noise_ratio(h, noise) * tolerance.VARIANCE_TOLERANCE / tolerance.NOISE_SHARE,
        )

    assert plan.step_origin == "derived" and isinstance(plan.schedule, Constant)
    assert h == pytest.approx(plan.langevin_time, rel=1e-12)
    assert 0 < h <= spec.largest_step * (1 + 1e-12)
    assert off(h) <= tolerance.VARIANCE_TOLERANCE * (1 + 1e-9)
    if h < spec.largest_step:  # not more careful than needed
        assert off(1.01 * h) > tolerance.VARIANCE_TOLERANCE
    besides = tolerance.OVERHEAD + spec.rows_besides(n, 3)
    cost = (plan.batch + besides) / h
    # nor costlier; msgld errs to both sides
    for other in (plan.batch // 2, 2 * plan.batch) if spec.name != "msgld" else ():
        if tolerance.SMALLEST_BATCH <= other <= n:
            assert cost <= 1.02 * (other + besides) / tolerance.largest_h(
                spec, Noise(one_row, 0), other, n
            )


@pytest.mark.parametrize(
    "spec", [s for s in STOCHASTIC if s.name not in ("msgld", "psgld")], ids=repr
)
def test_inflation_grows_with_step_and_noise(spec):
    """But for msgld, which errs to both sides, and psgld,
    which short steps let follow the chain.
    """
    steps, noises = np.linspace(0.01, 0.3, 20) * spec.largest_step, [0.0, 0.1, 1.0, 3.0]
    table = np.abs([[spec.inflation(h, v) for h in steps] for v in noises])
    assert np.isfinite(table).all()
    assert (np.diff(table, axis=0) >= -1e-15).all()
    assert (np.diff(table, axis=1) >= -1e-15).all()


def test_inflation_of_langevin_steps_is_the_closed_form():
    h, v = 0.3, 2.0  # x' = (1 - h/2) x + h/2 e + sqrt(h) xi, Var e = v
    variance = (h + h * h / 4 * v) / (1 - (1 - h / 2) ** 2)
    assert sgmc.SGLD().inflation(h, v) == pytest.approx(variance - 1, rel=1e-12)
    assert sgmc.LMSGLD().inflation(h, v) == pytest.approx(
        h * h / 4 * v / (1 - (1 - h / 2) ** 2), rel=1e-12
    )


def test_the_batch_of_a_given_step_and_the_step_of_a_given_batch():
    spec, n, noise = sgmc.SGLD(), 100_000, 300.0
    small_step = planned(spec, noise, n, step_size=0.01)
    assert small_step.step_origin == "given" and small_step.schedule(0) == 0.01
    added = spec.inflation(0.01, noise / small_step.batch) - spec.inflation(0.01, 0.0)
    assert (
        0.9 * tolerance.VARIANCE_TOLERANCE
        < added
        <= tolerance.VARIANCE_TOLERANCE * (1 + small_step.batch / n)
    )
    assert planned(spec, noise, n, step_size=0.02).batch > small_step.batch
    given = planned(spec, noise, n, batch_size=500)
    assert given.batch == 500
    assert spec.inflation(given.langevin_time, noise / 500 * (1 - 500 / n)) == pytest.approx(
        tolerance.VARIANCE_TOLERANCE, rel=1e-6
    )


@pytest.mark.parametrize("spec", STOCHASTIC, ids=repr)
def test_thin_and_warmup_follow_the_step(spec):
    plan = planned(spec, 5.0)
    assert plan.thin == int(np.ceil(4 / plan.langevin_time))
    assert plan.warmup == int(np.ceil(20 / plan.langevin_time))
    given = planned(spec, 5.0, thin=7, warmup=0)
    assert (given.thin, given.warmup) == (7, 0)


def test_exact_samplers_keep_every_step_unless_chosen_by_auto():
    assert (planned(sgmc.MALA(), 0.0).thin, planned(sgmc.MALA(), 0.0).warmup) == (
        1,
        planning.METROPOLIS_WARMUP,
    )
    chosen = planned(sgmc.MALA(), 0.0, 100, sampler=None)
    assert chosen.thin == int(np.ceil(4 / sgmc.MALA().first_step(3)))
    assert planned(sgmc.Laplace(), 0.0).warmup == 0


@pytest.mark.parametrize("argument", [dict(batch_size=401), dict(batch_size=10**9)])
def test_batches_beyond_the_rows_are_refused(argument):
    with pytest.raises(
        ArgumentError, match=rf"batch_size={argument['batch_size']} exceeds the 400 rows"
    ):
        sgmc.logit("y ~ a", frame(), sampler="sgld", **argument)


@pytest.mark.parametrize("sampler", ["mala", "laplace"])
def test_batches_do_not_apply_to_samplers_of_all_rows(sampler):
    with pytest.raises(ArgumentError, match=f"batch_size does not apply to {sampler}"):
        sgmc.logit("y ~ a", frame(), sampler=sampler, batch_size=10)
