"""Moments that scores imply: exact for any draws of a Gaussian, unbiased for draws of the target
itself, with errors that are true.
"""

import numpy as np
import pytest

from sgmc.diagnostics import implied_moments
from sgmc.errors import ArgumentError

D = 4
rng = np.random.default_rng(5)
FACTOR = np.tril(rng.normal(size=(D, D))) + 2 * np.eye(D)
MEAN, COVARIANCE = np.arange(D) - 1.0, FACTOR @ FACTOR.T
SHAPE = 9.0  # of a gamma law whose log is skewed by -0.34


def gaussian_scores(x):
    """Of N(MEAN, COVARIANCE)."""
    return -(x - MEAN) @ np.linalg.inv(COVARIANCE)


def log_gamma(n, seed, d=2):
    """Draws of logs of gamma variables, and their scores."""
    x = np.log(np.random.default_rng(seed).gamma(SHAPE, size=(n, d)))
    return x, SHAPE - np.exp(x)


LOG_GAMMA = 2.1406414779556, np.sqrt(0.1175120146940)  # digamma(9), sqrt(trigamma(9))


def wrong_draws(n=60):
    """Few, elsewhere, far too wide and differently correlated."""
    return 3.0 + 5.0 * np.random.default_rng(1).normal(size=(n, D)) @ np.tril(np.ones((D, D)))


def test_any_draws_give_a_gaussians_moments():
    x = wrong_draws()
    found = implied_moments(x, gaussian_scores(x))
    np.testing.assert_allclose(found.mean, MEAN, atol=1e-8)
    np.testing.assert_allclose(found.sd, np.sqrt(np.diag(COVARIANCE)), rtol=1e-9)
    assert max(found.mcse_mean.max(), found.mcse_sd.max(), found.departure.max()) < 1e-8
    # N/n twice too large
    assert not np.allclose(implied_moments(x, 2 * gaussian_scores(x)).sd, found.sd, rtol=0.2)
    # a prior dropped
    assert not np.allclose(implied_moments(x, gaussian_scores(x) + x / 100).sd, found.sd, rtol=0.01)


def test_directions_scale_and_weights():
    x = wrong_draws()
    along = np.random.default_rng(2).normal(size=(3, D))
    found = implied_moments(x, gaussian_scores(x), directions=along)
    np.testing.assert_allclose(found.mean, along @ MEAN, atol=1e-8)
    np.testing.assert_allclose(found.sd, np.sqrt(np.diag(along @ COVARIANCE @ along.T)), rtol=1e-9)
    scaled = implied_moments(x, gaussian_scores(x), scale=FACTOR)
    np.testing.assert_allclose(scaled.mean, np.linalg.solve(FACTOR, MEAN), atol=1e-8)
    np.testing.assert_allclose(scaled.sd, 1.0, rtol=1e-9)
    x, s = log_gamma(400, 3)
    twice = implied_moments(np.repeat(x, 2, axis=0), np.repeat(s, 2, axis=0))
    weighted = implied_moments(
        np.concatenate([x, x + 1]), np.concatenate([s, s]), weights=np.repeat([1.0, 0.0], len(x))
    )
    np.testing.assert_allclose(twice.mean, weighted.mean, rtol=1e-10)
    np.testing.assert_allclose(twice.sd, weighted.sd, rtol=1e-10)


@pytest.mark.parametrize(
    "noise", [0.0, 3.0], ids=["exact scores", "noise of the size of the scores"]
)
def test_draws_of_a_skewed_target_have_no_bias_and_honest_errors(noise):
    """400 values of z (200 replicates, two coordinates): their mean is within 4 / sqrt(400) = 0.2
    of zero, their sd within 4 / sqrt(800) = 0.14, and 0.06 for skewness, of one.  A shift of 0.02
    sd, which the noise would hide, shows without it.
    """
    z = {"mean": [], "sd": []}
    for seed in range(200):
        x, s = log_gamma(400, seed)
        found = implied_moments(
            x, s + noise * np.random.default_rng(1000 + seed).normal(size=x.shape)
        )
        z["mean"].append((found.mean - LOG_GAMMA[0]) / found.mcse_mean)
        z["sd"].append((found.sd - LOG_GAMMA[1]) / found.mcse_sd)
    for values in z.values():
        assert abs(np.mean(values)) < 0.2 and abs(np.std(values) - 1) < 0.2
    shifted = [
        v + 0.02 * LOG_GAMMA[1] / implied_moments(*log_gamma(400, seed)).mcse_mean
        for seed, v in enumerate(z["mean"])
    ]
    assert abs(np.mean(shifted)) > 0.2 or noise


def test_it_takes_off_most_of_the_monte_carlo_error():
    """A quarter of the draws' own is left (0.246 over 800 means; 200 of them are within 5 % of it),
    and what is stated of a mean, each from ten batches, is that on average.
    """
    found = [implied_moments(*log_gamma(1000, seed)) for seed in range(100)]
    own = LOG_GAMMA[1] / np.sqrt(1000)
    error = np.std([moments.mean - LOG_GAMMA[0] for moments in found]) / own
    stated = np.mean([moments.mcse_mean for moments in found]) / own
    assert error < 0.3 and abs(stated / error - 1) < 0.2


def test_departure_tells_a_gaussian_from_what_is_none():
    x, s = log_gamma(1000, 7)
    heavy = np.random.default_rng(0).standard_t(3, size=(1000, 1))
    assert (
        0.1
        < implied_moments(x, s).departure.max()
        < 0.3
        < implied_moments(heavy, -4 * heavy / (3 + heavy**2)).departure.max()
    )


def test_what_cannot_be_is_refused():
    x = wrong_draws(19)
    with pytest.raises(ArgumentError, match="draws has 7 rows, 4 dimensions need 8"):
        implied_moments(x[:7], gaussian_scores(x[:7]))
    flat = np.repeat(x[:, :1], D, axis=1).repeat(2, axis=0)
    with pytest.raises(ArgumentError, match="do not span"):
        implied_moments(np.zeros((40, D)), gaussian_scores(flat[:38].repeat(2, axis=0)[:40]))
    with pytest.raises(ArgumentError, match=r"directions has shape .*; it must be \(p, 4\)"):
        implied_moments(wrong_draws(), gaussian_scores(wrong_draws()), directions=np.eye(3))
    with pytest.raises(ArgumentError, match=r"scores has shape .*; it must be \(60, 4\)"):
        implied_moments(wrong_draws(), np.zeros((60, 3)))
    wide = 5 * np.random.default_rng(0).normal(size=(200, 1))
    # scores that rise along a line: no maximum there
    assert np.isnan(implied_moments(wide, wide).sd).all()
