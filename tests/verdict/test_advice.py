"""The draws that verdicts and warnings advise are enough, and are not many more than that."""

import re

import numpy as np
import pytest

from sgmc.results.report import draws, verdict

NOTHING = verdict.Worst(0.0, 0.0, 0.0)


def judged(draws, per_draw, end=NOTHING):
    """The verdict where each of so many draws is worth `per_draw` independent ones."""
    errors = verdict.Errors(NOTHING, NOTHING, end)
    return verdict.by_effective_draws(errors, 2 * [draws * per_draw], "", draws)


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
    errors = verdict.Errors(NOTHING, NOTHING, NOTHING)
    assert "may be 0.11 posterior sd" in verdict.by_effective_draws(errors, [1e6, 40], "", 99).text
    assert "may be 0.16 posterior sd" in verdict.by_effective_draws(errors, [40, 1e6], "", 99).text


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
