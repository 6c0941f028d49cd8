"""Bands that bounces are proposed below: each against the regression that it is, in numpy; laws of
the path with each, on a normal and between two modes; planted mistakes.
"""

import math

import numpy as np
import pytest
from _ext.probes import Misscaled
from _ext.toys import TwoModes

import sgmc
from sgmc.errors import ArgumentError
from sgmc.samplers.bases.piecewise.band import Band, Drifting, height
from sgmc.samplers.bases.piecewise.local_bands import Fading, Process

from .cases import SCHEMES
from .montecarlo import LIMIT
from .noisy_normal import BATCH, N, inflation, travelled
from .test_predicted_rates import right

BANDS = {"published": Band, "drifting": Drifting, "fading": Fading, "process": Process}
K, MU, SD = 2.5, 1.3, 0.7
RATE = 0.05  # of gradient ascent
# of the variance between two modes, where a lost bounce may lead far: 0.004 by the worst band
MODES = 0.01


def looks(m=5, seed=2):
    """Times, rates and their variances, none a surprise; the line begins at the first look."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.random(m)) * 2
    return t - t[0], 0.4 * rng.normal(size=m) + 1, 0.1 + rng.random(m)


def predicted(t, rate, noise, at, weight=1.0, wiggle=None):
    """Mean and variance of the rate at a time: generalised least squares of a level and a slope
    N(MU, SD^2), noise / weight and perhaps a process besides.
    """
    X = np.column_stack([np.ones(len(t)), t])
    V = np.diag(noise / weight * np.ones(len(t)))
    x, across, own = np.array([1.0, at]), 0.0, 0.0
    if wiggle is not None:
        V, across, own = V + wiggle(t[:, None], t), wiggle(at, t), wiggle(at, at)
    W = np.linalg.inv(V)
    precision = X.T @ W @ X + np.diag([0, 1 / SD**2])
    beta = np.linalg.solve(precision, X.T @ W @ rate + [0, MU / SD**2])
    gap = x - across * np.ones(len(t)) @ W @ X
    mean = x @ beta + across * np.ones(len(t)) @ W @ (rate - X @ beta)
    kept = own - across * np.ones(len(t)) @ W @ (across * np.ones(len(t)))
    return mean, gap @ np.linalg.solve(precision, gap) + kept + noise[-1]


def edge(mean, variance):
    """k sds above."""
    return mean + K * math.sqrt(variance)


def process(log_wiggle):
    """Covariance of f; its length is two units of time."""
    return lambda t, u: np.exp(2 * log_wiggle - (t - u) ** 2 / 8)


def likelihood(mean, variance, rate):
    """Log density of an observation."""
    return -0.5 * math.log(variance) - 0.5 * (rate - mean) ** 2 / variance


# ---- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [2.0, 2.4, 5.0])
def test_the_published_band_is_that_of_bayesian_regression(at):
    t, rate, noise = looks()
    found = height(Band(K, 1.0, 1e-6), t, rate, noise, MU, SD, at)
    assert found == pytest.approx(edge(*predicted(t, rate, noise, at)), rel=1e-9)


@pytest.mark.parametrize("at", [2.0, 2.4, 5.0])
def test_drift_widens_the_band_by_the_time_since_the_last_look(at):
    t, rate, noise = looks()
    band = Drifting(K, 1.0, 1e-6)
    found = height(band, t, rate, noise, MU, SD, at)
    mean, variance = predicted(t, rate, noise, at)
    wide = variance + (math.exp(band.log_drift) * (at - t[-1])) ** 2
    assert found == pytest.approx(edge(mean, wide), rel=1e-9)


def test_only_the_drifting_band_has_a_least_noise():
    """With looks that have no noise the published band has no width on their line; the other is as
    wide as a hundredth of the rates.
    """
    t, rate = np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0, 3.0])
    none = np.zeros(3)
    assert height(Band(K, 1.0, 1.0), t, rate, none, 0.0, 1.0, 1.5) == pytest.approx(4.0, abs=1e-6)
    assert height(Drifting(K, 1.0, 1.0), t, rate, none, 0.0, 1.0, 1.0) > 3.0 + K * 0.01


@pytest.mark.parametrize("at", [2.0, 2.4, 5.0])
def test_fading_looks_are_weighed_by_their_age(at):
    """Three looks: the weights' r is that after the second, then that after the third."""
    t, rate, noise = looks(3)
    band = Fading(K, 1.0, 1e-6)
    r = [math.exp(band.log_fading)]
    for m in (2, 3):
        again = Fading(K, 1.0, 1e-6)
        height(again, t[:m], rate[:m], noise[:m], MU, SD, at)
        r.append(math.exp(again.log_fading))
    found = height(band, t, rate, noise, MU, SD, at)
    age = r[1] * (t[1] - np.minimum(t, t[1])) + r[2] * (at - np.maximum(t, t[1]))
    assert found == pytest.approx(edge(*predicted(t, rate, noise, at, np.exp(-age))), rel=1e-9)


def test_the_decay_climbs_the_likelihood_of_predictions():
    """log r after two and after three looks, by differences of the likelihood."""
    t, rate, noise = looks(3)

    def climbed(log_r, m):
        """A step by the look after the first m."""

        def of(log_r):
            weight = np.exp(-math.exp(log_r) * (t[m] - t[:m]))
            mean, variance = predicted(t[:m], rate[:m], noise[:m], t[m], weight)
            return likelihood(mean, variance + noise[m] - noise[m - 1], rate[m])

        return log_r + RATE * (of(log_r + 1e-5) - of(log_r - 1e-5)) / 2e-5

    for m in (2, 3):
        band = Fading(K, 1.0, 1e-6)
        expected = band.log_fading
        for before in range(1, m):
            expected = climbed(expected, before)
        height(band, t[:m], rate[:m], noise[:m], MU, SD, 9.0)
        assert band.log_fading == pytest.approx(expected, abs=1e-8)
        assert abs(expected - Fading(K, 1.0, 1e-6).log_fading) > 1e-5


@pytest.mark.parametrize("at", [2.0, 2.4, 5.0])
@pytest.mark.parametrize("m", [5, 40])
def test_the_process_is_that_of_kriging(m, at):
    """Of 40 looks the last 24 are kept: at the 33rd the older half of 32 was forgotten."""
    t, rate, noise = looks(m)
    band = Process(K, 1.0, 0.5)
    found = height(band, t, rate, noise, MU, SD, at)
    kept = slice(16 if m > 32 else 0, None)
    expected = predicted(t[kept], rate[kept], noise[kept], at, wiggle=process(band.log_wiggle))
    assert found == pytest.approx(edge(*expected), rel=1e-7)


def test_the_amplitude_climbs_the_likelihood_by_the_variance():
    """log a after five looks, by differences of the likelihood where the mean is held."""
    t, rate, noise = looks()
    band = Process(K, 1.0, 0.5)
    start = expected = band.log_wiggle
    for m in range(1, 5):

        def of(log_a, at):
            mean, _ = predicted(t[:m], rate[:m], noise[:m], t[m], wiggle=process(start))
            _, variance = predicted(t[:m], rate[:m], noise[:m], t[m], wiggle=process(log_a))
            return likelihood(mean, variance + at, rate[m])

        at = noise[m] - noise[m - 1]
        expected += RATE * (of(start + 1e-5, at) - of(start - 1e-5, at)) / 2e-5
    height(band, t, rate, noise, MU, SD, 9.0)
    assert band.log_next == pytest.approx(expected, abs=1e-8) and band.log_wiggle == start


@pytest.mark.parametrize("name, mu", [("published", 0.4), ("published", -0.4), ("fading", 0.4)])
def test_a_fall_is_not_extrapolated_where_that_is_asked_for(name, mu):
    """The line through the mean of the observations then has slope max(mu, 0)."""
    t, rate, noise = np.array([0.0, 1.0]), np.array([3.0, 1.0]), np.array([0.1, 0.1])
    free, level = (
        height(BANDS[name](1e-9, 1.0, 1e-6, falling=how), t, rate, noise, mu, 5.0, 2.0)
        for how in (True, False)
    )
    assert free < 0.2
    if name == "published":
        assert level == pytest.approx(2.0 + max(mu, 0) * 1.5, abs=1e-6)
    else:  # the newer look weighs more
        assert 1.0 + mu < level < 2.0 + 1.5 * mu


def test_a_process_has_no_slope_to_level():
    with pytest.raises(ArgumentError, match="falling=False does not apply to band='process'"):
        sgmc.SBPS(band="process", falling=False)


@pytest.mark.parametrize("value", [-0.1, "often", True])
def test_rates_of_refreshment_are_checked_by_name(value):
    with pytest.raises(ArgumentError, match="SBPS: refresh"):
        sgmc.SBPS(refresh=value)
    assert sgmc.SBPS(refresh=None) == sgmc.SBPS() and sgmc.SBPS(refresh=0).refresh == 0.0


# ---- the law -------------------------------------------------------------------------------------

SPECS = {name: sgmc.SBPS(band=name, refresh=0.0) for name in BANDS}
SPECS |= {
    "level": sgmc.SBPS(band="published", falling=False, refresh=0.0),
    "near": sgmc.SBPS(band="published", horizon=1.0, refresh=0.0),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("noise", [1.0, 10.0])
@pytest.mark.parametrize("dim", [1, 5, 20])
@pytest.mark.parametrize("name", SPECS)
def test_a_normal_is_left_as_it_is(name, dim, noise):
    """As by the default: within 0.01 of the variance and Monte Carlo error, without refreshment."""
    found, error, chain = inflation(SPECS[name], dim, noise, events=200_000)
    assert right(found, error, chain) and error < 0.025


@pytest.mark.cover(0)
@pytest.mark.mistake("bands: c^2 without N^2")
@pytest.mark.parametrize("name", SPECS)
def test_noise_without_the_square_of_the_rows_is_caught(name):
    rows = Misscaled(SCHEMES["uniform"](N, BATCH), variance=1 / N**2)
    assert not right(*inflation(SPECS[name], 5, 10.0, rows=rows))


def between(dim=2, noise=0.3, **how):
    """Relative error of the variance of a posterior with modes at -1.4 and 1.4 in each coordinate,
    of sd 0.45; its Monte Carlo error; and the chain.
    """
    mode, shrink = 1.4, 1.25
    sd = math.sqrt(0.25 / shrink)
    spec = sgmc.SBPS(**{"refresh": 0.05, "band": "published", **how})
    chain, times, _, square = travelled(
        spec,
        dim,
        noise,
        step=sd,
        events=200_000,
        prior=lambda dim: TwoModes(dim, mode * shrink, 0.25),
    )
    found, expected = square.mean(axis=1).sum() / times.sum(), mode**2 + sd**2
    rest = square.mean(axis=1) - found * times
    error = math.sqrt((rest**2).sum()) / times.sum() / expected
    return found / expected - 1, error, chain


def crossed(found, error, chain):
    """Whether the variance is right, and few bounces are lost."""
    return error < MODES and abs(found) < MODES + LIMIT * error and chain.sampler.missed < 0.006


REMEDIES = {
    "a fall is level": {"falling": False, "horizon": 100.0},
    "looks four sds apart": {},
    "looks one sd apart": {"horizon": 1.0},
    "drift": {"band": "drifting"},
    "fading": {"band": "fading"},
    "process": {"band": "process"},
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("remedy", REMEDIES)
def test_two_modes_are_visited_in_proportion(remedy, dim):
    assert crossed(*between(dim, **REMEDIES[remedy]))


@pytest.mark.cover(0)
@pytest.mark.mistake("bands: falls extrapolated for a hundred sds")
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("name", ["published"])
def test_falls_that_are_extrapolated_without_looks_are_caught(name, dim):
    """Beyond the other mode nothing is proposed: the path goes up there, far out."""
    assert not crossed(*between(dim, band=name, horizon=100.0))


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["fading", "process"])
def test_rates_that_are_no_lines_lose_fewer_bounces(name):
    """Between two modes, at as many proposals: at most a third of the published band's."""
    lost = {band: between(1, band=band)[2].sampler for band in ("published", name)}
    assert lost[name].missed < lost["published"].missed / 3
    assert lost[name].proposed < 1.1 * lost["published"].proposed
