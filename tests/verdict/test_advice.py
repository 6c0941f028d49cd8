"""The draws that verdicts and warnings advise are enough, and are not many more than that: the
margin is that of the error with which they are known.
"""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.results.report import draws as draws_of
from sgmc.results.report import verdict

NOTHING = verdict.Worst(0.0, 0.0, 0.0)


def length(draws, ess=None, **known):
    """Of four chains of draws, which are independent if nothing is said."""
    return draws_of.Length(draws, 4 * draws, 4 * draws if ess is None else ess, **known)


def judged(draws, per_draw, end=NOTHING):
    """The verdict on chains of so many draws, each worth `per_draw` independent ones."""
    errors, ess = verdict.Errors(NOTHING, NOTHING, end), draws * per_draw
    return verdict.by_effective_draws(errors, 2 * [ess], "", length(draws, ess))


def advised(text):
    """The number of draws in a text."""
    return int(re.search(r"Take draws=(\d+)\.", text)[1])


@pytest.mark.parametrize("per_draw", [0.001, 0.02, 0.11])
def test_the_advised_draws_are_enough_for_means_and_sds(per_draw):
    """Errors fall as the root of the number of draws."""
    few = judged(500, per_draw)
    assert not few.trustworthy
    wanted, margin = advised(few.text), length(500, 500 * per_draw).margin
    assert judged(wanted, per_draw).trustworthy
    assert not judged(wanted / margin - 200, per_draw).trustworthy


def test_the_advised_draws_are_enough_for_ends():
    """Monte Carlo errors of ends that are 4 times too large take 16 times as many draws."""
    error = 4 * verdict.TRUSTED_END
    few = judged(1000, 1.0, verdict.Worst(0.0, 0.0, error))
    assert "intervals not exact enough" in few.text
    assert 16000 <= advised(few.text) <= 16000 * length(1000, 1000).margin + 100
    assert judged(16000, 1.0, verdict.Worst(0.0, 0.0, error / 4)).trustworthy


def test_fewer_effective_draws_know_less_well_what_is_needed():
    """The margin is two standard errors: of an autocorrelation time, whose estimate by 4,000
    independent draws is off by 6 %, by draws that are worth 100 by 35 %, and of the square of an
    error by 40 batches, 22 %.
    """
    independent, worth = length(1000), length(1000, 100)
    assert independent.margin == pytest.approx(1 + 2 * np.hypot(0.06, 0.224), abs=0.01)
    assert worth.margin == pytest.approx(1 + 2 * np.hypot(0.35, 0.224), abs=0.01)


def test_fewer_draws_than_by_default_are_never_advised():
    assert length(60).take(2.0) == "Take draws=1000."


def test_few_draws_leave_their_number_to_the_package():
    """Where it could be left open."""
    few, more = (length(one, open=True) for one in (999, 1000))
    assert few.take(2.0) == "Use draws='auto'; it may take draws=3000."
    assert more.take(2.0) == "Take draws=3000."


def test_no_number_is_advised_that_nobody_would_make():
    """Beyond what the work or the memory of a fit allows, of its own sampler or another."""
    assert length(1000, affordable=4000).take(2.0) == "Take draws=3000."
    assert length(1000, affordable=4000).take(100.0) == draws_of.TOO_MANY
    assert "draws=" not in draws_of.TOO_MANY
    left = length(1000, affordable=4000, instead="Use sampler='auto'")
    assert left.take(1e4) == "Use sampler='auto'."


def test_as_many_draws_again_are_always_advised():
    """Of a fit of a million gradients at a million rows, hours by counted work; and of few."""
    rows = SimpleNamespace(cells=1e7, repeated=1.0)
    model = SimpleNamespace(n=10**6, nanoseconds=2.0)
    plan = SimpleNamespace(spec=SimpleNamespace(all_rows=True))

    def done(passes):
        return SimpleNamespace(
            x=np.empty((4, 1000, 10)),
            problem=SimpleNamespace(model=model, rows=rows, foreign=False),
            plan=plan,
            chains=[],
            passes=passes,
        )

    assert verdict.affordable_draws(done(1e6)) == verdict.FEW_TIMES * 1000
    # 0.042 s a pass: ten minutes are 14,286 of these, 1.4 times those of a draw each
    assert verdict.affordable_draws(done(100.0)) == pytest.approx(142_850, rel=1e-3)


def test_no_number_is_advised_where_another_sampler_is_better():
    """Than more draws than any fit goes on to by itself."""
    long = length(1000, instead="Use sampler='auto'")
    assert long.take(100.0).startswith("Use sampler='auto'; as it is, it may take draws=1")
    assert "sampler" not in long.take(3.0)


def test_no_number_is_advised_where_tails_are_too_long_for_one():
    """Of t laws with 6 and with 5 degrees of freedom."""
    light, heavy = (length(1000, tail=k).take(3.0) for k in (1 / 6, 1 / 5))
    assert "Take draws=" in light
    assert "Take" not in heavy and "medians" in heavy and "lighter tails" in heavy


def test_shorter_steps_are_advised_in_the_place_of_too_many_draws():
    """By which fewer may do; a call that only leaves something out is no other sampler."""
    shorter = " with sampler=sgmc.NUTS(target_accept=0.99), precondition=None"
    long = length(1000, besides=shorter, affordable=5000)
    assert long.take(100.0) == "Try sampler=sgmc.NUTS(target_accept=0.99), precondition=None."
    assert long.take(2.0).endswith(shorter + ".")
    other = length(1000, besides=" without accuracy=", affordable=5000)
    assert "over ten minutes" in other.take(100.0)


def test_a_run_that_ends_on_its_accuracy_is_told_to_leave_it_out():
    assert "without accuracy=" in length(1000, besides=" without accuracy=").take(3.0)


def test_chains_that_are_in_places_of_their_own_are_told_apart_from_short_ones():
    """Of four chains two are three sds away from the others, or all of them have hardly moved."""
    rng = np.random.default_rng(1)
    apart = rng.normal(size=(4, 1000, 1)) + np.array([0, 0, 3, 3])[:, None, None]
    slow = np.cumsum(rng.normal(size=(4, 1000, 1)), axis=1)
    for chains, mixed in ((apart, True), (slow, False)):
        ones = np.ones(1)
        (found,) = draws_of.disagreement(
            draws_of.Seen(["a"], chains, None, ones, ones, 1.5 * ones, 0 * ones, None)
        )
        assert "of 'a'" in found.message and ("place of its own" in found.advice) == mixed
        assert found.shortfall == pytest.approx(0.5 / 0.03)


def test_sds_of_independent_draws_are_off_by_the_root_of_half_their_number():
    """The relative error of an sd of n normal draws is 1 / sqrt(2 n): of 40 it is 11 %."""
    errors = verdict.Errors(NOTHING, NOTHING, NOTHING)
    for ess, off in (([1e6, 40], 0.11), ([40, 1e6], 0.16)):
        found = verdict.by_effective_draws(errors, ess, "", length(99, 40))
        assert f"may be {off} posterior sd" in found.text


def test_one_number_is_advised_where_a_warning_asks_for_more():
    """And where it asks for fewer; how far errors are from the limits is another question."""
    errors, ess = verdict.Errors(NOTHING, NOTHING, NOTHING), [25, 1e6]
    for wanted, times in ((9.0, 9), (2.0, 4)):
        long = length(1000, 25, wanted=wanted)
        found = verdict.by_effective_draws(errors, ess, "", long)
        assert advised(found.text) == pytest.approx(1000 * times * long.margin, abs=100)
        assert found.shortfall == pytest.approx(4.0)


@pytest.mark.parametrize("size", [np.inf, np.nan])
def test_no_number_is_advised_by_errors_that_are_none(size):
    ends = verdict.Worst(0.0, 0.0, size)
    errors = verdict.Errors(NOTHING, NOTHING, ends)
    found = verdict.by_comparison(errors, "", 0.2, "scores", 1.0, length(1000))
    assert "Take" in found.text and not found.trustworthy
    assert length(1000, np.nan).take(2.0) == "Take more draws."
    far = verdict.Errors(NOTHING, verdict.Worst(0.0, 0.0, np.inf), NOTHING)
    assert "Take more draws." in verdict.by_effective_draws(far, [9, 9], "", length(9)).text


def test_what_more_draws_cure_is_told_apart():
    """Means that are off by 0.3 sd: by chance, of as few draws, or by the sampler."""
    off = verdict.Worst(0.3, 0.28, 0.32)
    errors = verdict.Errors(off, NOTHING, NOTHING)
    biased = verdict.by_comparison(errors, "Cure.", 0.02, "scores", 1.0)
    assert "means off" in biased.text and biased.shortfall is None
    few = verdict.by_comparison(errors, "Cure.", 0.02, "scores", 1.0, length(1000))
    assert 10300 <= advised(few.text) <= 15100 and few.shortfall == pytest.approx(10.24)


def seen(ess, ess_sd, count=1000):
    """Draws of one parameter that are worth so many independent ones."""
    rest = [np.array([one]) for one in (ess, ess_sd, 1.0, 0.0)]
    return draws_of.Seen(["a"], np.zeros((4, count, 1)), None, *rest, None)


@pytest.mark.parametrize("shares", [(0.01, 1.0), (1.0, 0.02), (0.003, 0.004)])
def test_the_draws_that_a_warning_asks_for_end_it(shares):
    ess, ess_sd = 1000 * np.array(shares)
    (found,) = draws_of.too_few(seen(ess, ess_sd))
    more, fewer = 1.01 * found.shortfall, 0.99 * found.shortfall
    assert not draws_of.too_few(seen(ess * more, ess_sd * more))
    assert draws_of.too_few(seen(ess * fewer, ess_sd * fewer))


@pytest.mark.parametrize(("df", "said"), [(3, True), (30, False)])
def test_tails_that_a_prior_alone_decides_are_told_beside_any_advice(df, said):
    """A separated slope: its density falls as its prior, with a tail index of 1 / df; beyond 1/4
    no error of an sd can be told, by whichever sampler.
    """
    table = pd.DataFrame({"x": [1.0, 2, -1, -2], "y": [1, 1, 0, 0]})
    prior = {"x": sgmc.student_t(df, 0, 2.5)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sgmc.logit("y ~ 0 + x", table, prior=prior, sampler="laplace", seed=1).verdict
    assert not found.trustworthy and found.advice.startswith("Use sampler='auto'")
    assert ("Read medians and intervals" in found.advice) == said
    assert found.text.endswith(found.advice)


def test_what_priors_leave_is_of_separated_coefficients_alone():
    """A Cauchy prior of a slope that the outcomes bound is no reason to leave out a number."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.normal(size=60)})
    table["y"] = (random.random(60) < 0.5).astype(int)
    prior = {"x": sgmc.cauchy(0, 2.5)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sgmc.logit("y ~ x", table, prior=prior, sampler="sgld", step_size=1.0, seed=1)
    assert not found.verdict.trustworthy and "medians" not in found.verdict.text
