"""What the papers show of their samplers on small problems, as numbers;
benchmarks/README.md has the whole tables.

Skewness: Mauri & Zanella, section 5.0.1.  Thermostats: Ding et al. 2014; review,
section 3.  Scales: Mauri & Zanella, section 5.1.1.
Monte Carlo errors are said where they matter; the figures in comments are those of the long runs.
"""

import os
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _ext.probes import Shaken
from _ext.toy_densities import Noisy, SkewNormal
from _ext.toys import GaussianLocation
from scipy import special

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain, evaluate
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, SAMPLERS, stream
from .montecarlo import LIMIT, standard_errors

DIM = 64


def draws(model, sampler, step, steps, thin, tau=None):
    """Kept positions (n, DIM) of a chain from zero,
    with noise of sd tau on the gradient, after 2,000 steps.
    """
    rng = stream(1)
    rest = (model, Prior(DIM), FullBatch(1), rng)
    gradient = GRADIENTS["simple"](*rest) if tau is None else Noisy(tau, *rest)
    chain = Chain(np.zeros(DIM), sampler, gradient, rng, Constant(step))
    chain.run(2000, False)
    chain.recorder = FullRecorder(steps // thin, DIM, thin)
    chain.run(steps)
    return np.asarray(chain.recorder.draws)


def test_noise_added_to_gradients_is_what_it_is_said_to_be():
    """Means over 4,000 estimates at one place, sds as told, and fresh each time."""
    rng, tau = stream(2), np.array([0.0, 1.0, 10.0])
    gradient = Noisy(tau, GaussianLocation(np.zeros((1, 3)), 1.0), Prior(3), FullBatch(1), rng)
    found = np.array([evaluate(gradient, [1.0, 2.0, 3.0], rng, True) for _ in range(4000)])
    assert (found[:, 1] == tau).all() and (found[:, 0, 0] == -1).all()
    noise = (found[:, 0, 1:] - [-2.0, -3.0]) / tau[1:]
    assert standard_errors(np.hstack([noise, noise**2]), [0, 0, 1, 1]).max() < LIMIT
    assert standard_errors((noise[:-1:2] * noise[1::2]), 0).max() < LIMIT


# ---- skewness ------------------------------------------------------------------------------------


def relative_bias(name, slant, size=0.5, noise=0.0):
    """Of the mean of a skew normal, for increments and gradient noise in units of its sd: its own
    error is about 0.02.
    """
    mean = slant / np.sqrt(1 + slant**2) * np.sqrt(2 / np.pi)
    sd = np.sqrt(1 - mean**2)
    step = (size * sd) ** 2 if name == "sgld" else size * sd
    sampler, tau = SAMPLERS[name]().build(DIM, step), np.full(DIM, noise * sd) if noise else None
    return draws(SkewNormal(DIM, slant), sampler, step, 8000, 4, tau).mean() / mean - 1


@pytest.mark.parametrize("noise", [0, 1])
def test_skewness_throws_langevin_and_not_barker(noise):
    """sigma half of the sd: the bias of sgld's mean is 1 % at slant 1, as large as the mean at 20,
    nearly twenty times it at 100; that of vsgbd stays within 15 % (9 %, and the error).  Noise as
    large as the target's sd changes nothing in that.
    """
    slants = (1, 20, 100)
    langevin, barker = (
        [relative_bias(name, slant, noise=noise) for slant in slants] for name in ("sgld", "vsgbd")
    )
    assert abs(langevin[0]) < 0.1 and langevin[1] > 0.8 and langevin[2] > 10
    assert np.abs(barker).max() < 0.15


def test_short_steps_help_langevin_up_to_a_slant():
    """sigma a tenth of the sd: at slant 5 both are right within 10 %, at 100 sgld is off by 29 %,
    its error being 2 %.
    """
    assert abs(relative_bias("sgld", 5, 0.1)) < 0.1 and abs(relative_bias("vsgbd", 5, 0.1)) < 0.1
    assert relative_bias("sgld", 100, 0.1) > 0.15 > 0.1 > abs(relative_bias("vsgbd", 100, 0.1))


def test_the_correction_takes_the_noise_out_of_barker():
    """Noise of ten sds, sigma half of the sd, slant 20:
    19 % with vsgbd, 3 % with csgbd (figure 9b).
    """
    vanilla, corrected = (relative_bias(name, 20, noise=10) for name in ("vsgbd", "csgbd"))
    assert vanilla > 0.12 and abs(corrected) < 0.08


# ---- thermostats ---------------------------------------------------------------------------------

STEP, LOUD = 0.02, 10.0
SAME, HALF = np.full(DIM, LOUD), np.repeat([0.0, LOUD], DIM // 2)


def spread(name, tau, **options):
    """Squares of the draws of N(0, I), averaged over each half of the coordinates."""
    spec = SAMPLERS[name](**options)
    x = draws(
        GaussianLocation(np.zeros((1, DIM)), 1.0), spec.build(DIM, STEP), STEP, 200_000, 10, tau
    )
    return (x**2).reshape(len(x), 2, -1).mean(axis=2)


def inflation(name, tau):
    """What the specification documents."""
    spec = SAMPLERS[name]()
    return spec.inflation(spec.langevin_time(STEP), tau**2)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["sgnht", "msgnht", "badodab"])
def test_thermostats_take_out_noise_of_which_they_are_not_told(name):
    """The variance is 1 but for 3 % (2 % at this step, documented), where that of sghmc is 1.5."""
    found = spread(name, SAME)
    assert standard_errors(found, 1, 0.03).max() < LIMIT
    assert standard_errors(found, 1 + inflation(name, LOUD), 0.01).max() < LIMIT
    assert standard_errors(found, 1 + inflation("sghmc", LOUD), 0.03).min() > LIMIT


def test_sghmc_keeps_noise_of_which_it_is_not_told():
    """The variance is 1 + e V / (2 C) = 1.5; with the noise told, 1."""
    assert inflation("sghmc", LOUD) == pytest.approx(0.5)
    found = spread("sghmc", SAME, leapfrog=1)
    assert standard_errors(found, 1.5).max() < LIMIT < standard_errors(found, 1).min()
    assert standard_errors(spread("sghmc", SAME, leapfrog=1, corrected=True), 1).max() < LIMIT


@pytest.mark.extended
def test_one_friction_for_all_cannot_serve_two_kinds_of_noise():
    """z settles at A + e mean(V)/2 = 1.5: variances 1/1.5 and 2/1.5, to 5 % at this step; one
    friction a coordinate: 1 and 1.
    """
    assert standard_errors(spread("sgnht", HALF), np.array([1 / 1.5, 2 / 1.5]), 0.05).max() < LIMIT
    for name in ("msgnht", "badodab"):
        assert standard_errors(spread(name, HALF), 1, 0.03).max() < LIMIT
    assert standard_errors(spread("sgnht", HALF), 1, 0.03).min() > LIMIT


def test_a_thermostat_does_not_take_out_noise_of_positions():
    """Planted: noise added to theta, not to the gradient; friction cannot answer for it."""
    spec = SAMPLERS["msgnht"]()
    sampler = Shaken(spec.build(DIM, STEP), spec.langevin_time(STEP))
    x = draws(GaussianLocation(np.zeros((1, DIM)), 1.0), sampler, STEP, 50_000, 10)
    assert standard_errors((x**2).mean(axis=1)[:, None], 1, 0.03).max() > LIMIT


# ---- unlike scales -------------------------------------------------------------------------------

NAMES = ["age", "sex", "episode", "const"]
needs_sepsis = pytest.mark.skipif(
    not (Path(os.environ.get("SGMC_DATA", "/nowhere")) / "sepsis").is_dir(),
    reason="the sepsis data are not here: SGMC_DATA names no folder that has them",
)


@cache
def sepsis():
    """Design as it comes, outcomes, and the mean and sds of the posterior under N(0, I) by the
    normal approximation at the mode.

    With 110,204 rows sds agree with importance sampling to 2 %, which is little beside the factors
    below.
    """
    data = sgmc.datasets.load("sepsis")
    X = np.column_stack(
        [
            data[["age_years", "sex_0male_1female", "episode_number"]].to_numpy(float),
            np.ones(len(data)),
        ]
    )
    y = data["hospital_outcome_1alive_0dead"].to_numpy(float)
    theta = np.zeros(4)
    for _ in range(20):
        p = special.expit(X @ theta)
        H = (X.T * (p * (1 - p))) @ X + np.eye(4)
        theta = theta + np.linalg.solve(H, X.T @ (y - p) - theta)
    return X, y, theta, np.sqrt(np.diag(np.linalg.inv(H)))


PUBLISHED = {"esgbd": sgmc.ESGBD(noise="batch")}


@cache
def raw(sampler, size):
    """Errors of the means in sds, and ratios of the sds, without preconditioning;
    sigma = `size` sds of age.
    """
    X, y, mean, sd = sepsis()
    sigma = size * sd[0]
    with warnings.catch_warnings():
        # of few effective draws and of noise, which are what is shown
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        results = sgmc.Logit(y, X, names=NAMES).fit(
            sampler=PUBLISHED.get(sampler, sampler),
            gradient="simple",
            subsample="uniform",
            batch_size=len(y) // 100,
            precondition=None,
            prior=dict.fromkeys(NAMES, sgmc.normal(0, 1)),
            step_size=sigma**2 if sampler == "sgld" else sigma,
            init=mean,
            chains=1,
            draws=2000,
            thin=20,
            warmup=400,
            seed=1,
        )
    # of the draws themselves: the table keeps back the mean of chains that drift
    draws = results.draws.reshape(-1, len(sd))
    return (draws.mean(0) - mean) / sd, draws.std(0) / sd


@pytest.mark.extended
@needs_sepsis
def test_one_step_for_unlike_scales_fails_langevin_and_not_barker():
    """sigma three sds of age, less than a sixth of the other sds: sgld is hundreds of sds away in
    every coordinate.  vsgbd has the means within 1.5 sds (a few dozen effective draws), age too
    wide by less than 4, the others right within a factor 2.
    """
    (shift, ratio), (barker_shift, barker_ratio) = raw("sgld", 3.0), raw("vsgbd", 3.0)
    assert np.abs(shift).min() > 100 and ratio.min() > 50
    assert np.abs(barker_shift).max() < 1.5
    assert 1 < barker_ratio[0] < 4 and barker_ratio[1:].min() > 0.5 and barker_ratio[1:].max() < 2


@pytest.mark.extended
@needs_sepsis
def test_a_longer_step_costs_barker_little():
    """From sigma of one sd of age to twenty: the sd of age grows less than the step, that of the
    others at most fourfold; means stay within 2 sds.  sgld is lost at one sd already.
    """
    (_, short), (shift, long) = raw("vsgbd", 1.0), raw("vsgbd", 20.0)
    assert 3 < long[0] / short[0] < 12 and (long / short)[1:].max() < 4 and np.abs(shift).max() < 2
    assert np.abs(raw("sgld", 1.0)[0]).max() > 100


@pytest.mark.extended
@needs_sepsis
@pytest.mark.parametrize("sampler", ["sgld", "vsgbd", "csgbd", "esgbd"])
def test_a_step_that_suits_age_does_not_move_the_others(sampler):
    """A tenth of the sd of age is less than a 150th of the others': 40,000 steps go nowhere, and
    age, correlated with the constant, has to wait for it: sds are too small by half.
    """
    assert np.median(raw(sampler, 0.1)[1]) < 0.6


@pytest.mark.extended
@needs_sepsis
def test_beyond_the_breaking_point_the_correction_is_the_extreme_rule():
    """tau |z| > 1.702 in every coordinate: csgbd makes the very draws of esgbd."""
    for corrected, extreme in zip(raw("csgbd", 10.0), raw("esgbd", 10.0)):
        assert np.array_equal(corrected, extreme)
    assert not np.array_equal(raw("csgbd", 1.0)[1], raw("esgbd", 1.0)[1])
