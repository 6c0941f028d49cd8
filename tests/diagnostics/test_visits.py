"""Chains that visit different places, or the same place a few times for long."""

import numpy as np
import pytest
from scipy.signal import lfilter

from sgmc.diagnostics import equal_visits, long_stays, rhat
from sgmc.diagnostics.chains.visits import batch_mcse
from sgmc.results.checks.visited import STAYS_MATTER
from sgmc.results.report.draws import RHAT, VISITS


def chains(rng, phi, reps, shape=(4, 1000)):
    """Stationary autoregressions."""
    noise = rng.normal(size=(shape[0], shape[1] + 400, reps))
    return lfilter([1], [1, -phi], noise, axis=1)[:, 400:]


def with_stays(rng, length, share, shape=(2, 2000)):
    """A normal law whose chains stay in a narrow second mode, in runs of `length` draws."""
    x = rng.normal(size=(*shape, 1))
    for _ in range(max(1, round(share * x.size / length))):
        c, a = rng.integers(shape[0]), rng.integers(shape[1] - length)
        x[c, a : a + length, 0] = 3.5 + 0.05 * rng.normal(size=length)
    return x


@pytest.mark.extended
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_false_alarms_are_rare(phi):
    """2,000 parameters of chains that are alike: p below 0.01 in at most 2 % (an autocorrelation of
    0.9 is not gone in a batch), below the limit of the summary in none; long stays that count in
    one of a thousand.
    """
    x = chains(np.random.default_rng(1), phi, 2000)
    p = equal_visits(x)
    assert (p < 0.01).mean() < 0.02 and (p >= VISITS).all()
    assert (long_stays(x)[0] > STAYS_MATTER).mean() <= 0.001


@pytest.mark.extended
def test_monte_carlo_errors_by_batches():
    """The mean over 2,000 autoregressions, against the spread of their means: 2 % for its own
    error, 5 % for what outlasts a batch.
    """
    x = chains(np.random.default_rng(2), 0.9, 2000)
    assert batch_mcse(x).mean() == pytest.approx(x.mean(axis=(0, 1)).std(), rel=0.07)


def test_one_chain_elsewhere_with_the_same_mean_is_seen():
    """Three chains of a normal law, one that is at +-2.2 a fifth of the time: R-hat is small."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 1000, 1))
    x[3] = np.sign(x[3]) * np.where(rng.uniform(size=(1000, 1)) < 0.2, 2.2, np.abs(x[3]))
    assert rhat(x)[0] < RHAT and equal_visits(x)[0] < VISITS


@pytest.mark.parametrize("length, share", [(20, 0.02), (40, 0.02), (40, 0.07), (100, 0.01)])
def test_few_long_stays_are_seen_where_r_hat_sees_nothing(length, share):
    """A mode with a tenth of the mass that has 1 to 7 % of the draws, in one to fourteen stays."""
    rng = np.random.default_rng(4)
    runs = [with_stays(rng, length, share) for _ in range(50)]
    assert np.median([rhat(x)[0] for x in runs]) < 1.1
    assert np.mean([long_stays(x)[0][0] > STAYS_MATTER for x in runs]) > 0.95


def test_a_mode_that_is_visited_often_is_no_place_of_few_stays():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 2000, 1))
    far = rng.uniform(size=x.shape) < 0.05
    assert long_stays(np.where(far, 3.5, x))[0][0] == 0


def test_short_chains_are_not_compared():
    assert np.isnan(equal_visits(np.random.default_rng(6).normal(size=(4, 150, 2)))).all()
