"""Fits whose number of draws is left open go on while Monte Carlo error alone keeps them from being
trusted; their draws are those of a longer run, and their stated errors hold.
"""

import re

import numpy as np
import pytest

import sgmc
from sgmc.arguments.declared.keywords import FirstDraws
from sgmc.core.system import phases
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, InterruptedWarning, LowESSWarning
from sgmc.fit import chains, check_settings, stopping
from sgmc.results import results as summarising

from ..runs.cases import FRAME, fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
SLOW = dict(sampler="sgld", thin=1)  # draws of 1000 steps are worth 50 independent ones
FIRST, LAST = 1000, 8000


@pytest.fixture(scope="module")
def found():
    return fit("auto", **SLOW)


def number(text):
    return int(re.search(r"draws=(\d+)\.", text)[1])


def test_a_fit_goes_on_until_it_is_trusted(found):
    """To the draws of a run of as many, bit for bit, whatever the threads."""
    assert found.verdict.trustworthy and found.draws.shape[1] == LAST
    assert not fit(FIRST, **SLOW).verdict.trustworthy
    whole = fit(LAST, **SLOW)
    np.testing.assert_array_equal(found.draws, whole.draws)
    # as text: a NaN is not equal to itself
    assert repr(found._chains) == repr(whole._chains) and found.ksd() == whole.ksd()
    assert same(found, sgmc.logit("y ~ a + b", FRAME, seed=3, threads=1, **SLOW))


def test_the_summary_tells_that_chains_were_extended(found):
    text = " ".join(str(found.summary(details=True)).split())
    assert "4 x 8,000 (extended)" in text and "Draws of each chain at first: 1000" in text
    assert "(extended)" not in str(fit(FIRST, **SLOW).summary())


def test_progress_tells_what_chains_go_on_for(monkeypatch):
    begun = []
    monkeypatch.setattr(phases, "begin", begun.append)
    fit("auto", **SLOW)
    told = [name for name in begun if name.startswith("going on: ")]
    assert told[0].startswith("going on: R-hat of ")
    fit("auto", chains=1, **SLOW)
    told = [name for name in begun if name.startswith("going on: Monte Carlo error of the ")]
    assert told and all(re.search(r"(mean|sd|end) of (Intercept|a|b)$", name) for name in told)


def test_what_is_trusted_at_first_stays_as_it_is():
    assert same(fit("auto"), fit(FIRST))


def test_a_given_number_is_kept():
    assert fit(FIRST, **SLOW).draws.shape[1] == FIRST
    with pytest.raises(ArgumentError, match="draws='more' must be 'auto', or a whole number"):
        fit("more")


def test_warnings_and_verdict_advise_one_number(found):
    """Of a number that was given; a fit that went on has no such warning."""
    few = fit(FIRST, chains=1, **SLOW)
    warned = [one for one in few.warnings if isinstance(one, LowESSWarning)]
    assert [number(one.advice) for one in warned] == [number(few.verdict.text)]
    assert not any(isinstance(one, LowESSWarning) for one in found.warnings)


def test_limits_of_counted_work_end_a_run(monkeypatch):
    """The number that would do is then advised, by verdict and warning."""
    monkeypatch.setattr(stopping, "MOST_WORK", 0.015)
    short = fit("auto", chains=1, **SLOW)
    assert FIRST < short.draws.shape[1] < LAST and not short.verdict.trustworthy
    warned = [one for one in short.warnings if isinstance(one, LowESSWarning)]
    assert [number(one.advice) for one in warned] == [number(short.verdict.text)]
    monkeypatch.setattr(stopping, "MOST_WORK", 1e-4)
    assert same(fit("auto", **SLOW), fit(FIRST, **SLOW))


def test_what_no_limit_would_cure_is_not_begun(monkeypatch):
    """By R-hat, 5.4 times as many draws would do, more than twice the limit."""
    monkeypatch.setattr(stopping, "MOST_GROWN", 2)
    monkeypatch.setattr(stopping, "FORECAST_ERROR", 2.0)
    assert fit("auto", seed=1, **SLOW).draws.shape[1] == FIRST


@pytest.mark.parametrize("before", [60, 1500, LAST])
def test_checkpoints_go_on_to_the_same_draws(found, before, tmp_path):
    """Wherever the run was; the first look that it has gone beyond is not taken again."""
    fit(before, checkpoint=tmp_path / "run", **SLOW)
    again = fit("auto", checkpoint=tmp_path / "run", **SLOW)
    assert same(again, found) and same(fit("auto", checkpoint=tmp_path / "run", **SLOW), found)


def test_a_run_that_was_interrupted_while_it_went_on_ends_as_if_it_had_not_been(
    found, tmp_path, monkeypatch
):
    whole = chains.ChainTask.chunk

    def chunk(task):
        if task.chain.recorder.kept > 2500:
            raise OutOfTime
        task.length = 100
        return whole(task)

    monkeypatch.setattr(chains.ChainTask, "chunk", chunk)
    part = fit("auto", threads=1, **SLOW)
    assert 2500 < part.draws.shape[1] < 4000 and part.interrupted == chains.TIME_LIMIT
    monkeypatch.undo()
    part.save(tmp_path / "part")
    assert same(part.resume(), found)
    assert same(sgmc.load(tmp_path / "part").resume(data=FRAME), found)
    assert same(part.resume(LAST + 100 - part.draws.shape[1]), fit(LAST + 100, **SLOW))


def test_a_whole_run_is_resumed_by_as_many_draws(found):
    assert found.resume(50).draws.shape[1] == LAST + 50
    assert found.resume().draws.shape[1] == 2 * LAST


def test_without_time_to_go_on_it_is_said(monkeypatch):
    monkeypatch.setattr(summarising, "RESERVED", 1e9)
    with pytest.warns(InterruptedWarning, match="time_limit left no time to go on after 1000"):
        found = fit("auto", time_limit=60, **SLOW)
    np.testing.assert_array_equal(found.draws, fit(FIRST, **SLOW).draws)


def test_later_looks_allow_for_luck(found):
    """In Monte Carlo errors, and in the index of a tail that may be without an sd."""
    done = found._fit
    assert stopping.next_look(done, True, 0.9) == 2 * LAST
    assert stopping.next_look(done, True, 0.75) == 0
    assert stopping.next_look(done, True, 0.5, tail=0.4) == 2 * LAST
    assert stopping.next_look(done, True, 0.5, tail=0.3) == 0
    first = fit("auto")._fit
    assert stopping.next_look(first, True, 0.95, tail=0.4) == 0


def test_a_last_look_that_is_forecast_to_do_may_be_beyond_the_limit_of_work(found, monkeypatch):
    """Twice as far, and no further: other limits hold, and so does this one for two more looks."""
    done = found._fit
    work = stopping.counted_work(done)
    monkeypatch.setattr(stopping, "MOST_WORK", 1.1 * work)
    assert stopping.next_look(done, False, 1.5) == 2 * LAST
    assert stopping.next_look(done, False, 1.9) == 0  # with its error more than twice as many
    monkeypatch.setattr(stopping, "MOST_WORK", 0.9 * work)
    assert stopping.next_look(done, False, 1.5) == 0
    monkeypatch.setattr(stopping, "MOST_WORK", 1.1 * work)
    monkeypatch.setattr(stopping, "MOST_GROWN", LAST / FIRST)
    assert stopping.next_look(done, False, 1.5) == 0


def test_samplers_in_continuous_time_keep_their_draws():
    """The spacing of these follows from their number."""
    short = fit("auto", sampler="zigzag", chains=1, warmup=20)
    assert short.draws.shape[1] == FIRST
    assert stopping.next_look(short._fit, False, 2.0) == 0
    other = fit("auto", chains=1)
    assert stopping.next_look(other._fit, False, 2.0) == 2 * FIRST
    assert stopping.next_look(other._fit, False, None) == 0


RAILS = {  # travel times of ultrasound in six rails (Devore 2000)
    "y": [55, 53, 54, 26, 37, 32, 78, 91, 85, 92, 100, 96, 49, 51, 50, 80, 85, 83],
    "g": [name for name in "ABCDEF" for _ in range(3)],
}


def test_independent_draws_go_on():
    """Of three groups the sd has a long tail, of which more draws tell; no rows are read."""
    rails = {name: values[:9] for name, values in RAILS.items()}
    found = sgmc.ols("y ~ 1 + (1 | g)", rails, seed=1)
    draws = found.draws.shape[1]
    assert found.sampler.name == "direct" and draws > FIRST and found.verdict.trustworthy
    np.testing.assert_array_equal(
        found.draws, sgmc.ols("y ~ 1 + (1 | g)", rails, seed=1, draws=draws).draws
    )


def test_numbers_that_runs_begin_with():
    """Those of classes of models are left open, those that are given are not."""
    for given, numbers in (
        ({}, (1000, 1000)),
        ({"draws": "auto"}, (1000, 1000)),
        ({"draws": 1000}, (1000, 0)),
        ({"draws": FirstDraws(2000)}, (2000, 2000)),
        ({"accuracy": 0.05}, (20_000, 0)),
        ({"accuracy": 0.05, "draws": "auto"}, (20_000, 0)),
        ({"accuracy": 0.05, "draws": 300}, (300, 0)),
    ):
        settings = check_settings(**given)
        assert (settings.draws, settings.begun) == numbers


class Normal(sgmc.Model):
    """Rows with a mean, with draws that models of this class begin with."""

    parameters, n, defaults = {"mu": ()}, 20, {"draws": FirstDraws(100)}

    def log_lik(self, theta, rows):
        return -0.5 * float(np.sum((np.arange(self.n)[rows] / 10 - theta["mu"]) ** 2))


def test_a_class_of_models_has_draws_to_begin_with():
    how = dict(seed=1, sampler="mala", chains=2)
    found = Normal().fit(draws="auto", **how)
    draws = found.draws.shape[1]
    assert draws > 100 and found.verdict.trustworthy
    np.testing.assert_array_equal(found.draws, Normal().fit(draws=draws, **how).draws)
    np.testing.assert_array_equal(found.draws, Normal().fit(**how).draws)
    assert Normal().fit(draws=100, **how).draws.shape[1] == 100
