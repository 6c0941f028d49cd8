"""Steps that vary: weights, warnings and the sampling threshold."""

import warnings

import numpy as np
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    DivergenceWarning,
)
from sgmc.fit import tolerance

from .cases import fit, header, noise_at, pilot_points

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- varying steps -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampler, time",
    [("sgld", lambda h: h), ("vsgbd", lambda s: 1.01 * s * s), ("baoab", lambda e: 2 * e)],
)
def test_draws_weigh_the_time_of_their_steps(sampler, time):
    schedule = sgmc.Polynomial.between(0.4, 0.05, 600)
    results = fit(sampler, step_size=schedule, thin=5, warmup=50)
    np.testing.assert_allclose(
        results.weights, [time(schedule(50 + 5 * (k + 1) - 1)) for k in range(100)], rtol=1e-12
    )
    mean = np.average(results.draws.mean(axis=0), axis=0, weights=results.weights)
    np.testing.assert_allclose(results.params, mean, rtol=1e-9)


@pytest.mark.extended
def test_warnings_are_of_the_steps_at_which_draws_were_kept():
    """The first steps, of 0.9, would widen sgld's draws by 13 %; the kept ones do not."""
    with warnings.catch_warnings(record=True):
        calm = fit(
            "sgld", step_size=lambda t: 0.9 if t < 200 else 0.05, warmup=300, thin=80, draws=500
        )
        wild = fit(
            "sgld", step_size=lambda t: 0.9 if t < 5000 else 0.05, warmup=300, thin=8, draws=500
        )
    assert "StepSizeWarning" not in {w.code for w in calm.warnings}
    assert "StepSizeWarning" in {w.code for w in wild.warnings}


@pytest.mark.extended
def test_the_threshold_is_where_alpha_is_passed():
    schedule = sgmc.Polynomial.between(0.5, 0.002, 5000)
    how = dict(step_size=schedule, subsample="uniform", batch_size=50, thin=1)
    results = fit(**how, warmup="threshold")
    warmup = int(header(results)["Warmup/Draws"].split("/")[0])
    widest = np.linalg.eigvalsh(noise_at(results, pilot_points(results), "simple", 50))[-1]
    assert schedule(warmup) / 4 * widest == pytest.approx(
        tolerance.NOISE_SHARE, rel=0.1
    )  # as above
    assert (
        results.sampling_threshold
        <= tolerance.NOISE_SHARE
        < fit(**how, warmup=warmup - 1).sampling_threshold
    )
    np.testing.assert_array_equal(results.draws, fit(**how, warmup=warmup).draws)
    derived = fit(warmup="threshold")  # steps that pass from the first: as many as without
    np.testing.assert_array_equal(derived.draws, fit().draws)


@pytest.mark.parametrize(
    "how, message",
    [
        (
            dict(step_size=0.5, batch_size=50),
            r"warmup='threshold': alpha, the gradient's noise over the noise injected, is \d",
        ),
        (
            dict(sampler="mala"),
            "warmup='threshold' does not apply to mala: its gradients have no noise",
        ),
        (dict(sampler="ula"), "warmup='threshold' does not apply to ula"),
        (
            dict(warmup="treshold"),
            "warmup='treshold' must be 'threshold', or a whole number of steps",
        ),
        (dict(warmup=0, batch_size="adaptive"), "batch_size='adaptive' learns the size in warmup"),
        (dict(sampler="hmc", batch_size="adaptive"), "batch_size='adaptive' does not apply to hmc"),
        (dict(batch_size="adaptiv"), "batch_size='adaptiv' must be a whole number, at least 1"),
        (
            dict(strata="g"),
            "strata does not apply to subsample='block'; give subsample='stratified'",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        fit(**{"warmup": "threshold", **how} if "threshold'" in message else how)


@pytest.mark.extended
def test_a_chain_that_diverges_says_where_and_what_to_try():
    with pytest.warns(
        DivergenceWarning,
        match=(
            r"with step size 1: chain 0 at step \d+ \('(a|b|Intercept|g.*)' "
            r"first\).*step_size=0.25"
        ),
    ):
        results = fit(
            "sgld", step_size=lambda t: 1.0 if t < 300 else 40.0, warmup=0, thin=1, draws=3000
        )
    assert results.draws.shape[1] >= 300
    assert np.isfinite(results.draws).all()
    assert np.isfinite(results.bse).all()
