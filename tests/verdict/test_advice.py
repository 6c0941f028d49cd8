"""The draws that a verdict advises are enough, and are not many more than that."""

import re

import pytest

from sgmc.results.report import verdict

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
