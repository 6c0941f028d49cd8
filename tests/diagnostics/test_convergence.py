"""Diagnostics of plain arrays: Stein discrepancy, effective sizes, R-hat, Monte Carlo errors,
weighted moments.
"""

import subprocess
import sys

import numpy as np
import pytest
from arviz_stats.base import array_stats

from sgmc.diagnostics import autocorr, ess, mcse, rhat
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.convergence import bulk
from sgmc.errors import ArgumentError, DataError


@pytest.fixture
def chains():
    return np.random.default_rng(6).normal(size=(4, 250, 5)).cumsum(axis=1) * 0.1 + np.arange(5)


def arviz(statistic, draws, **options):
    return getattr(array_stats, statistic)(draws, chain_axis=0, draw_axis=1, **options)


@pytest.mark.parametrize("shape", [(4, 250, 3), (3, 9, 4), (2, 8, 2), (2, 5, 3), (1, 30, 2)])
def test_convergence_of_repeated_draws_is_arviz_stats(shape, monkeypatch):
    """Ties, as Metropolis chains have them, odd lengths, and parameters in several parts."""
    monkeypatch.setattr(moments, "NUMBERS_AT_ONCE", 1)
    draws = np.random.default_rng(3).normal(size=shape)
    draws[:, 1::3] = draws[:, : draws.shape[1] - 1 : 3][:, : draws[:, 1::3].shape[1]]
    np.testing.assert_allclose(ess(draws), arviz("ess", draws), rtol=1e-13)
    np.testing.assert_allclose(rhat(draws), arviz("rhat", draws), rtol=1e-14)


@pytest.mark.parametrize("phi", [-0.6, 0.5, 0.99])
@pytest.mark.parametrize("shape", [(4, 300), (3, 57), (4, 10), (4, 8), (1, 100)])
def test_sums_of_autocorrelations_end_where_those_of_arviz_stats_do(shape, phi):
    """Antithetic draws, slow ones, and chains that are too short for a sum to end by itself."""
    draws = np.random.default_rng(5).normal(size=(*shape, 40))
    for t in range(1, shape[1]):
        draws[:, t] += phi * draws[:, t - 1]
    for method in ("bulk", "mean", "sd"):
        np.testing.assert_allclose(
            ess(draws, method=method), arviz("ess", draws, method=method), rtol=1e-11
        )


@pytest.mark.parametrize("q", [0.3, [0.0, 0.025, 0.5, 0.975, 1.0]])
@pytest.mark.parametrize("shape", [(4, 100, 5), (3, 7, 2), (1, 1, 1)])
def test_quantiles_are_those_of_numpy(q, shape):
    draws = np.random.default_rng(4).normal(size=shape)
    draws[0, 0, 0] = np.nan
    np.testing.assert_array_equal(moments.quantile(draws, q), np.quantile(draws, q, axis=(0, 1)))


def test_convergence_is_arviz_stats(chains):
    """To rounding where sums are of many parameters at once, in another order."""
    for method in ("bulk", "mean", "sd"):
        np.testing.assert_allclose(
            ess(chains, method=method), arviz("ess", chains, method=method), rtol=1e-13
        )
    np.testing.assert_allclose(
        ess(chains, method="tail"),
        arviz("ess", chains, method="tail", prob=(0.05, 0.95)),
        rtol=1e-13,
    )
    np.testing.assert_allclose(rhat(chains), arviz("rhat", chains), rtol=1e-14)
    np.testing.assert_allclose(mcse(chains), arviz("mcse", chains), rtol=1e-12)
    squares = (chains - chains.mean(axis=(0, 1))) ** 2
    relative = np.sqrt((squares**2).mean(axis=(0, 1)) / squares.mean(axis=(0, 1)) ** 2 - 1)
    expected = (
        chains.std(axis=(0, 1)) * relative / (2 * np.sqrt(arviz("ess", squares, method="mean")))
    )
    np.testing.assert_allclose(mcse(chains, "sd"), expected, rtol=1e-10)  # arviz-stats >= 1


def test_convergence_does_not_depend_on_units(chains):
    """arviz-stats itself calls a range below 1e-15 constant."""
    for method in ("bulk", "tail", "mean", "sd"):
        np.testing.assert_allclose(
            ess(chains * 1e-12, method=method), ess(chains, method=method), rtol=1e-8
        )
    np.testing.assert_allclose(mcse(chains * 1e-12, "sd"), 1e-12 * mcse(chains, "sd"), rtol=1e-8)


def test_ess_and_mcse_of_an_autoregression():
    """AR(1) of coefficient 0.9: autocorrelation time (1 + 0.9) / (1 - 0.9) = 19.

    80,000 draws are 4,200 effective ones; windowed estimates of the time then have a relative error
    of about 5 %.
    """
    phi, rng = 0.9, np.random.default_rng(7)
    noise = rng.normal(size=(4, 20_000, 3))
    noise[:, 0] /= np.sqrt(1 - phi**2)
    draws = np.empty_like(noise)
    draws[:, 0] = noise[:, 0]
    for t in range(1, draws.shape[1]):
        draws[:, t] = phi * draws[:, t - 1] + noise[:, t]
    for method in ("bulk", "mean"):
        np.testing.assert_allclose(ess(draws, method=method), 80_000 / 19, rtol=0.2)
    np.testing.assert_allclose(mcse(draws), np.sqrt(19 / 80_000 / (1 - phi**2)), rtol=0.2)
    np.testing.assert_allclose(
        autocorr(draws, 5).mean(axis=0), phi ** np.arange(6)[:, None] * np.ones(3), atol=0.03
    )
    assert (rhat(draws) < 1.01).all()


def test_weighted_ess_predicts_the_variance_of_a_weighted_mean():
    """2,000 runs of 400 correlated draws under slowly falling weights.

    The mean estimated size is within 15 % of the variance ratio: its sampling error is 3 % (2,000
    runs), and both the time's estimate from 400 draws and the slow change of the weights bias it by
    a few per cent.
    """
    phi, rng = 0.5, np.random.default_rng(8)
    weights = 1 / (1 + np.arange(400) / 50)
    draws = rng.normal(size=(1, 400, 2000))
    draws[:, 1:] *= np.sqrt(1 - phi**2)
    for t in range(1, 400):
        draws[:, t] += phi * draws[:, t - 1]
    actual = 1 / moments.mean(draws, weights).var()
    assert ess(draws, method="mean", weights=weights).mean() == pytest.approx(actual, rel=0.15)
    assert ess(draws, method="mean").mean() > 1.3 * actual
    weighted_error = mcse(draws, weights=weights)
    assert np.sqrt(np.mean(weighted_error**2)) == pytest.approx(np.sqrt(1 / actual), rel=0.1)


def test_equal_weights_change_nothing(chains):
    weights = np.full(chains.shape[1], 0.3)
    np.testing.assert_allclose(ess(chains, weights=weights), ess(chains), rtol=1e-12)
    for method in ("mean", "sd"):
        np.testing.assert_allclose(
            mcse(chains, method, weights=weights), mcse(chains, method), rtol=1e-10
        )


def test_undefined_is_nan(chains):
    chains[..., 0] = 0.1
    chains[2, 7, 1] = np.nan
    chains[2, 7, 2] = np.inf
    with np.errstate(all="raise"):
        values = [
            ess(chains),
            ess(chains, method="sd"),
            rhat(chains),
            mcse(chains),
            autocorr(chains, 3)[2, 1],
        ]
    for value in values:
        np.testing.assert_array_equal(np.isnan(value), [True, True, True, False, False])
    assert np.isnan(mcse(chains, "sd")[:3]).all()
    assert np.isnan(rhat(chains[:1])).all()
    for statistic in (ess, rhat, mcse):
        assert np.isnan(statistic(chains[:, :3])).all()
        assert np.isnan(statistic(chains[..., :1])).all()
    still = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 100, 1))
    assert (rhat(still) > 1e6).all()


def test_autocorr_is_its_definition(chains):
    lags = autocorr(chains, 20)
    assert lags.shape == (4, 21, 5)
    centred = chains - chains.mean(axis=1, keepdims=True)
    for lag in (0, 1, 20):
        products = (centred[:, lag:] * centred[:, : 250 - lag]).sum(axis=1)
        np.testing.assert_allclose(lags[:, lag], products / (centred**2).sum(axis=1), atol=1e-12)
    assert autocorr(chains[:1], 249).shape == (1, 250, 5)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: ess(x[0]), ArgumentError, r"it must be \(chain, draw, parameter\)"),
        (lambda x: rhat(x[:, :0]), DataError, "draws is empty"),
        (lambda x: ess(x, method="best"), ArgumentError, "method"),
        (lambda x: mcse(x, "median"), ArgumentError, "method"),
        (
            lambda x: ess(x, weights=np.ones(3)),
            ArgumentError,
            r"weights has shape \(3,\); it must be \(250,\)",
        ),
        (lambda x: autocorr(x, 250), ArgumentError, "max_lag"),
        (lambda x: autocorr(x, 2.5), ArgumentError, "max_lag=2.5 must be a whole number from 0 to"),
        (lambda x: moments.quantile(x, 1.5), ArgumentError, "q=1.5 must be"),
        (lambda x: moments.quantile(x, np.nan), ArgumentError, "q=nan must be"),
    ],
)
def test_convergence_names_what_is_wrong(chains, call, error, message):
    with pytest.raises(error, match=message):
        call(chains)


@pytest.mark.parametrize("weights", [None, np.full(250, 7.0)])
def test_moments_with_equal_weights_are_numpys(chains, weights):
    flat = chains.reshape(-1, 5)
    np.testing.assert_allclose(moments.mean(chains, weights), flat.mean(axis=0), rtol=1e-12)
    for ddof in (0, 1):
        np.testing.assert_allclose(
            moments.sd(chains, weights, ddof=ddof), flat.std(axis=0, ddof=ddof), rtol=1e-12
        )
    for q in (0.5, [0, 0.025, 0.3, 1]):
        np.testing.assert_allclose(
            moments.quantile(chains, q, weights), np.quantile(flat, q, axis=0), rtol=1e-10
        )


def test_weighted_moments_by_hand():
    draws = np.array([3.0, 1.0, 9.0, 2.0])[None, :, None]
    weights = [2, 1, 0, 1]
    assert moments.mean(draws, weights) == pytest.approx(9 / 4)
    assert moments.sd(draws, weights, ddof=0) == pytest.approx(np.sqrt(23 / 4 - 81 / 16))
    assert moments.sd(draws, weights) == pytest.approx(np.sqrt((23 / 4 - 81 / 16) / (1 - 6 / 16)))
    # sorted 1, 2, 3 with weights 1, 1, 2 of 4: middles of the jumps at 1/8, 3/8, 3/4
    quantiles = moments.quantile(draws, [0, 0.4, 0.7, 1], weights)
    np.testing.assert_allclose(
        quantiles[:, 0], [1, 2, 2 + (1 / 8 + 0.7 * 5 / 8 - 3 / 8) / (3 / 8), 3]
    )
    np.testing.assert_allclose(moments.quantile(-draws, [1, 0.6, 0.3, 0], weights), -quantiles)
    assert moments.quantile(draws, 0.3, [0, 0, 5, 0]) == pytest.approx(9)


def test_weighted_quantiles_find_the_targets():
    """Draws from N(0, 1) weighted to N(0.5, 1): 200,000 draws give quantiles to about 0.005,
    tolerance 4 of those.
    """
    draws = np.random.default_rng(9).normal(size=(2, 100_000, 1))
    draws[1] = draws[0]  # weights are shared by the chains
    quantiles = moments.quantile(draws, [0.1, 0.5, 0.9], np.exp(0.5 * draws[0, :, 0]))
    np.testing.assert_allclose(quantiles[:, 0], 0.5 + np.array([-1.2816, 0, 1.2816]), atol=0.025)
    draws[0, 3] = np.nan
    assert np.isnan(moments.quantile(draws, 0.5, np.ones(100_000))).all()


def test_import_is_light():
    code = (
        "import sys, sgmc.diagnostics as d; assert not {'scipy', 'arviz_stats'} & "
        "set(sys.modules); print(dir(d))"
    )
    names = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "'ksd'" in names and "'ess'" in names
    with pytest.raises(AttributeError, match="nothing"):
        import sgmc.diagnostics

        sgmc.diagnostics.nothing


@pytest.mark.parametrize("shape", [(4, 50, 3), (1, 50, 3), (4, 6, 3)])
def test_one_ranking_gives_both(shape):
    draws = np.random.default_rng(5).normal(size=shape).cumsum(axis=1)
    draws[..., 1] = draws[..., 1].round()  # ties
    draws[..., 2] = 1.0
    size, ratio = bulk(draws)
    np.testing.assert_array_equal(size, ess(draws))
    np.testing.assert_array_equal(ratio, rhat(draws))
