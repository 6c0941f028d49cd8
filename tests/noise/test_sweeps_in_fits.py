"""Fits with ``subsample="symmetric"``: their steps, their posteriors, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, GradientNoiseWarning

# few draws
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 4))
    y = (rng.random(2000) < 1 / (1 + np.exp(-X @ [1, -0.5, 0.5, 0]))).astype(int)
    return pd.DataFrame(X, columns=list("abcd")).assign(y=y)


def fit(frame, sampler, **how):
    return sgmc.logit("y ~ .", frame, sampler=sampler, seed=1, **how)


@pytest.fixture(scope="module")
def exact(frame):
    return fit(frame, "mala", draws=4000)


@pytest.mark.extended
@pytest.mark.parametrize("name, longer", [("lmsgld", 5), ("baoab", 10), ("sghmc", 10)])
def test_steps_are_longer_and_posteriors_right(name, longer, frame, exact):
    """At batches of 100, `longer` times those of independent batches, whose noise a plan takes for
    what it is; means within 0.15 sd and sds within 8 %, four Monte Carlo errors of 1,000 draws.
    """
    how = dict(batch_size=100, draws=1000, chains=2)
    found = fit(frame, f"{name}-simple", subsample="symmetric", **how)
    plan = found._fit.plan
    short = fit(frame, f"{name}-simple", batch_size=100, draws=1, thin=1, warmup=0)._fit.plan
    assert plan.langevin_time > longer * short.langevin_time
    assert plan.thin * longer < short.thin or short.thin == 1
    assert (np.abs(found.params - exact.params) < 0.15 * exact.bse).all()
    assert (np.abs(found.bse / exact.bse - 1) < 0.08).all()


def test_what_is_left_of_the_noise_is_what_is_warned_of(frame):
    """At e = 0.03 batches of 100 have T = 0.6: 0.6 % of the variance, and independent ones 15 %."""
    how = dict(batch_size=100, step_size=0.03, draws=300, thin=20)
    noisy = fit(frame, "baoab-simple", subsample="uniform", **how)
    quiet = fit(frame, "baoab-simple", subsample="symmetric", **how)
    assert noisy._fit.felt_noise == noisy._fit.noise.worst
    assert quiet._fit.felt_noise < 0.1 * quiet._fit.noise.worst
    about = [any(isinstance(w, GradientNoiseWarning) for w in r.warnings) for r in (noisy, quiet)]
    assert about == [True, False]


def test_control_values_that_change_on_the_way_expect_all_of_the_noise(frame):
    done = fit(frame, "lmsgld-saga", subsample="symmetric", draws=50)._fit
    assert done.felt_noise == done.noise.worst


@pytest.mark.parametrize("sampler", ["csgld", "msgnht", "vsgbd", "psgld"])
def test_samplers_that_take_batches_for_independent_are_refused(sampler, frame):
    with pytest.raises(ArgumentError, match="subsample='symmetric' does not go with .*'baoab'"):
        fit(frame, sampler, subsample="symmetric", step_size=0.01)


@pytest.mark.parametrize("corrects", [dict(corrected=True), dict(resample=True)])
def test_forms_of_sghmc_that_do_so_are_refused(corrects, frame):
    with pytest.raises(ArgumentError, match="for independent"):
        fit(frame, sgmc.SGHMC(**corrects), subsample="symmetric", step_size=0.01)


def test_adaptive_batches_are_refused(frame):
    with pytest.raises(ArgumentError, match="batch_size='adaptive' does not go with subsample"):
        fit(frame, "lmsgld", subsample="symmetric", batch_size="adaptive")


def test_runs_go_on_within_a_sweep(frame):
    how = dict(subsample="symmetric", batch_size=300, step_size=0.05, thin=3, warmup=4)
    whole = fit(frame, "baoab-simple", draws=40, **how)
    parts = fit(frame, "baoab-simple", draws=23, **how).resume(draws=17)
    np.testing.assert_array_equal(parts.draws, whole.draws)
