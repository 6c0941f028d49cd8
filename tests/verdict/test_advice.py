"""The draws that verdicts and warnings advise are enough, and are not many more than that."""

import re

import numpy as np
import pytest

from sgmc.results.report import draws, verdict

NOTHING = verdict.Worst(0.0, 0.0, 0.0)


def judged(draws, per_draw, end=NOTHING):
    """The verdict where each of so many draws is worth `per_draw` independent ones."""
    errors = verdict.Errors(NOTHING, NOTHING, end)
    return verdict.by_effective_draws(errors, 2 * [draws * per_draw], "", verdict.Length(draws))


@pytest.mark.parametrize("per_draw", [0.001, 0.02, 0.11])
def test_the_advised_draws_are_enough_for_means_and_sds(per_draw):
    """Errors fall as the root of the number of draws."""
    few = judged(500, per_draw)
    assert not few.trustworthy
    wanted = int(re.search(r"Take draws=(\d+)\.", few.text)[1])
    assert judged(wanted, per_draw).trustworthy
    assert not judged(wanted - 200, per_draw).trustworthy


def test_the_advised_draws_are_enough_for_ends():
    """Monte Carlo errors of ends that are 4 times too large take 16 times as many draws."""
    error = 4 * verdict.TRUSTED_END
    few = judged(1000, 1.0, verdict.Worst(0.0, 0.0, error))
    assert "intervals not exact enough" in few.text and "Take draws=16000." in few.text
    assert judged(16000, 1.0, verdict.Worst(0.0, 0.0, error / 4)).trustworthy


def test_sds_of_independent_draws_are_off_by_the_root_of_half_their_number():
    """The relative error of an sd of n normal draws is 1 / sqrt(2 n): of 40 it is 11 %."""
    errors, length = verdict.Errors(NOTHING, NOTHING, NOTHING), verdict.Length(99)
    for ess, off in (([1e6, 40], 0.11), ([40, 1e6], 0.16)):
        found = verdict.by_effective_draws(errors, ess, "", length)
        assert f"may be {off} posterior sd" in found.text


def test_one_number_is_advised_where_a_warning_asks_for_more():
    """And where it asks for fewer; how far errors are from the limits is another question."""
    errors, ess = verdict.Errors(NOTHING, NOTHING, NOTHING), [25, 1e6]
    for wanted, number in ((9.0, 9000), (2.0, 4000)):
        found = verdict.by_effective_draws(errors, ess, "", verdict.Length(1000, wanted))
        assert f"Take draws={number}." in found.text
        assert found.shortfall == pytest.approx(4.0)


@pytest.mark.parametrize("size", [np.inf, np.nan])
def test_no_number_is_advised_by_errors_that_are_none(size):
    ends = verdict.Worst(0.0, 0.0, size)
    errors = verdict.Errors(NOTHING, NOTHING, ends)
    found = verdict.by_comparison(errors, "", 0.2, "scores", 1.0, verdict.Length(1000))
    assert "Take" in found.text and not found.trustworthy
    far = verdict.Errors(NOTHING, verdict.Worst(0.0, 0.0, np.inf), NOTHING)
    assert "Take more draws." in verdict.by_effective_draws(far, [9, 9], "", verdict.Length(9)).text


def test_what_more_draws_cure_is_told_apart():
    """Means that are off by 0.3 sd: by chance, of as few draws, or by the sampler."""
    off = verdict.Worst(0.3, 0.28, 0.32)
    errors = verdict.Errors(off, NOTHING, NOTHING)
    biased = verdict.by_comparison(errors, "Cure.", 0.02, "scores", 1.0)
    assert "means off" in biased.text and biased.shortfall is None
    few = verdict.by_comparison(errors, "Cure.", 0.02, "scores", 1.0, verdict.Length(1000))
    assert "Take draws=10300." in few.text and few.shortfall == pytest.approx(10.24)


def seen(ess, ess_sd, count=1000):
    """Draws of one parameter that are worth so many independent ones."""
    rest = [np.array([one]) for one in (ess, ess_sd, 1.0, 0.0)]
    return draws.Seen(["a"], np.zeros((4, count, 1)), None, *rest, None)


@pytest.mark.parametrize("shares", [(0.01, 1.0), (1.0, 0.02), (0.003, 0.004)])
def test_the_draws_that_a_warning_advises_end_it(shares):
    ess, ess_sd = 1000 * np.array(shares)
    (found,) = draws.too_few(seen(ess, ess_sd))
    wanted = int(re.search(r"Take draws=(\d+)\.", found.advice)[1])
    times = wanted / 1000
    assert not draws.too_few(seen(ess * times, ess_sd * times))
    times = (wanted - 200) / 1000
    assert draws.too_few(seen(ess * times, ess_sd * times))
