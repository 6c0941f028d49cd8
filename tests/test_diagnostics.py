"""Diagnostics of plain arrays: Stein discrepancy, effective sizes, R-hat, Monte Carlo errors,
weighted moments.
"""

import subprocess
import sys

import numpy as np
import pytest
from arviz_stats.base import array_stats

from sgmc.diagnostics import autocorr, ess, ksd, mcse, moments, rhat
from sgmc.errors import ArgumentError, DataError

KERNELS = [("imq", 1.0, -0.5), ("imq", 0.7, -0.3), ("gaussian", 1.3, -0.5)]
FORMS = ["joint", "coordinate"]
STATISTICS = ["v", "u"]


def kernel_value(kernel, c, beta, r2):
    return np.exp(-r2 / (2 * c**2)) if kernel == "gaussian" else (c**2 + r2) ** beta


def naive_ksd(x, s, w, form, kernel, statistic, c, beta):
    """The definition over all n^2 pairs, from the kernel's derivatives by each coordinate."""
    w = w / w.sum()
    delta = x[:, None] - x[None]
    r2 = (delta**2).sum(axis=-1)[..., None]
    k = kernel_value(kernel, c, beta, r2)
    if kernel == "gaussian":
        dx = -delta / c**2 * k
        dxdy = (1 / c**2 - delta**2 / c**4) * k
    else:
        dx = 2 * beta * delta * (c**2 + r2) ** (beta - 1)
        dxdy = -2 * beta * (c**2 + r2) ** (beta - 1) - 4 * beta * (beta - 1) * delta**2 * (
            c**2 + r2
        ) ** (beta - 2)
    k0 = s[:, None] * s[None] * k - s[:, None] * dx + s[None] * dx + dxdy  # d/dy = -d/dx
    pair_weights = np.outer(w, w)
    if statistic == "u":
        np.fill_diagonal(pair_weights, 0)
        pair_weights /= pair_weights.sum()
    total = np.einsum("ab,abj->j", pair_weights, k0)
    total = total.sum(keepdims=True) if form == "joint" else total
    return np.sum(np.sign(total) * np.sqrt(np.abs(total)))


def squared(value):
    """The Stein sum behind a signed root."""
    return np.sign(value) * value**2


@pytest.fixture
def sample():
    """Points off their target, more than one tile of 128,
    with unequal weights of which some are zero.
    """
    rng = np.random.default_rng(1)
    x = rng.normal(0.2, 1.2, (300, 3))
    w = rng.gamma(1.0, size=300)
    w[::17] = 0
    return x, rng.normal(size=(300, 3)) - x, w


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel, c, beta", KERNELS)
@pytest.mark.parametrize("n", [2, 128, 129, 300])
def test_ksd_is_its_definition(sample, n, kernel, c, beta, form, statistic):
    x, s, w = (values[:n] + (values.ndim == 1) * 0.01 for values in sample)
    options = dict(form=form, kernel=kernel, statistic=statistic, c=c, beta=beta)
    for weights in (None, w):
        expected = naive_ksd(x, s, np.ones(n) if weights is None else weights, **options)
        assert ksd(x, s, weights=weights, **options) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_ksd_scale_is_a_change_of_coordinates(sample, form):
    x, s, w = sample
    matrix = np.array([[2.0, 0, 0], [0.3, 0.5, 0], [-0.4, 0.1, 1.5]])
    options = dict(form=form, kernel="imq", statistic="v", c=1.0, beta=-0.5)
    for scale, full in ((matrix, matrix), (np.diag(matrix), np.diag(np.diag(matrix)))):
        expected = naive_ksd(x @ np.linalg.inv(full).T, s @ full, w, **options)
        assert ksd(x, s, weights=w, form=form, scale=scale) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_ksd_with_scale_does_not_depend_on_units(sample, form):
    x, s, _ = sample
    units = np.array([1e-6, 1.0, 1e5])
    scale = x.std(axis=0)
    value = ksd(x, s, form=form, scale=scale)
    assert ksd(x * units, s / units, form=form, scale=scale * units) == pytest.approx(
        value, rel=1e-12
    )
    cholesky = np.linalg.cholesky(np.cov(x.T))
    mixed = np.array([[1.0, 20, 0], [0, 3, 0], [5, 0, 0.1]])
    moved = ksd(x @ mixed.T, s @ np.linalg.inv(mixed), scale=mixed @ cholesky)
    # condition number of `mixed` about 4,000
    assert moved == pytest.approx(ksd(x, s, scale=cholesky), rel=1e-10)
    assert ksd(x * units, s / units) != pytest.approx(ksd(x, s), rel=0.1)


@pytest.mark.parametrize("kernel, c, beta", KERNELS)
def test_stein_kernel_from_finite_differences(kernel, c, beta):
    """Two draws leave k0(x, y) alone in the U statistic, one draw k0(x, x) in the V statistic.

    Central differences of step 1e-4: truncation and rounding (1e-16 / 1e-8) are both about 1e-8.
    """
    rng = np.random.default_rng(2)
    step, d = 1e-4, 3
    x, y, sx, sy = rng.normal(size=(4, d))

    def k(x, y):
        return kernel_value(kernel, c, beta, np.sum((x - y) ** 2))

    def stein_kernel(x, y, sx, sy):
        e = step * np.eye(d)
        dx = [(k(x + ej, y) - k(x - ej, y)) / (2 * step) for ej in e]
        dy = [(k(x, y + ej) - k(x, y - ej)) / (2 * step) for ej in e]
        trace = sum(
            k(x + ej, y + ej) - k(x + ej, y - ej) - k(x - ej, y + ej) + k(x - ej, y - ej)
            for ej in e
        )
        return sx @ sy * k(x, y) + sx @ dy + sy @ dx + trace / (4 * step**2)

    options = dict(kernel=kernel, c=c, beta=beta)
    pair = ksd(np.stack([x, y]), np.stack([sx, sy]), statistic="u", **options)
    assert squared(pair) == pytest.approx(stein_kernel(x, y, sx, sy), abs=1e-6)
    alone = ksd(x[None], sx[None], **options)
    assert alone**2 == pytest.approx(stein_kernel(x, x, sx, sx), abs=1e-6)


@pytest.mark.parametrize("kernel, c, beta", KERNELS)
def test_u_statistic_has_mean_zero_under_the_target(kernel, c, beta):
    """|z| < 4 over 300 replicates (false alarm 6e-5 a kernel);
    scores of the wrong sign are off by far more.
    """
    rng = np.random.default_rng(3)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    draws = rng.multivariate_normal([0.5, -1.0], covariance, size=(300, 100))
    scores = -(draws - [0.5, -1.0]) @ np.linalg.inv(covariance)

    def z_score(sign):
        sums = np.array(
            [
                squared(ksd(x, sign * s, statistic="u", kernel=kernel, c=c, beta=beta))
                for x, s in zip(draws, scores)
            ]
        )
        return sums.mean() / (sums.std(ddof=1) / np.sqrt(len(sums)))

    assert abs(z_score(1)) < 4
    assert abs(z_score(-1)) > 40


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shift, inflation", [(0.3, 1.0), (0.0, 1.3), (0.0, 0.75)])
def test_ksd_sees_wrong_means_and_spreads(form, shift, inflation):
    """Larger than all of 99 exact samples of 500 (a test of size 1 %),
    for each of 5 wrong samples.
    """
    rng = np.random.default_rng(4)
    exact = rng.normal(size=(99, 500, 3))
    wrong = shift + inflation * rng.normal(size=(5, 500, 3))
    assert min(ksd(x, -x, form=form) for x in wrong) > max(ksd(x, -x, form=form) for x in exact)


@pytest.mark.parametrize("form", FORMS)
def test_ksd_integer_weights_are_repeated_rows(sample, form):
    x, s, _ = sample
    counts = np.random.default_rng(5).integers(0, 4, len(x))
    repeated = ksd(np.repeat(x, counts, axis=0), np.repeat(s, counts, axis=0), form=form)
    assert ksd(x, s, weights=counts, form=form) == pytest.approx(repeated, rel=1e-12)


def test_ksd_takes_what_numpy_takes(sample):
    x, s, _ = sample
    value = ksd(x, s)
    swapped = x.astype(">f8"), np.asfortranarray(s)
    for array in (*swapped, x):
        array.setflags(write=False)
    assert ksd(*swapped) == ksd(x, s.copy()) == ksd(np.repeat(x, 2, axis=0)[::2], s) == value
    assert ksd(x.tolist(), s) == value
    assert ksd(x[:, 0], s[:, 0]) == ksd(x[:, :1], s[:, :1])
    assert ksd(np.arange(5), -np.arange(5)) == ksd(np.arange(5.0), -np.arange(5.0))
    # differences of draws, digits lost in x + 1e6 only
    assert ksd(x + 1e6, s) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(
    "change, error, message",
    [
        (dict(draws=np.full((9, 2), np.nan)), DataError, "draws has 9 rows .* row 0"),
        (dict(scores=np.full((9, 2), np.inf)), DataError, "scores"),
        (dict(draws=np.ones((9, 2), complex)), DataError, "draws .* complex"),
        (dict(draws=[["a", "b"]] * 9), DataError, "draws"),
        (dict(draws=np.empty((0, 2))), DataError, "draws is empty"),
        (dict(draws=np.ones((9, 2, 1))), ArgumentError, "draws must be"),
        (dict(scores=np.ones((9, 3))), ArgumentError, "scores must have the shape of draws"),
        (dict(scores=np.ones((8, 2))), ArgumentError, "scores"),
        (dict(weights=np.ones(8)), ArgumentError, "weights must be"),
        (dict(weights=-np.ones(9)), ArgumentError, "weights"),
        (dict(weights=np.zeros(9)), ArgumentError, "weights"),
        (dict(weights=np.full(9, np.nan)), ArgumentError, "weights"),
        (dict(form="sum"), ArgumentError, "form"),
        (dict(kernel="matern"), ArgumentError, "kernel"),
        (dict(statistic="w"), ArgumentError, "statistic"),
        (dict(statistic="u", weights=[1] + [0] * 8), ArgumentError, "two draws"),
        (dict(c=0), ArgumentError, "c must be"),
        (dict(beta=0.5), ArgumentError, "beta"),
        (dict(scale=np.ones(3)), ArgumentError, "scale must be"),
        (dict(scale=[1, 0]), ArgumentError, "scale"),
        (dict(scale=[1, np.nan]), ArgumentError, "scale"),
        (dict(scale=np.ones((2, 2))), ArgumentError, "scale is a singular"),
    ],
)
def test_ksd_names_what_is_wrong(change, error, message):
    good = dict(draws=np.ones((9, 2)), scores=np.ones((9, 2)))
    with pytest.raises(error, match=message):
        ksd(**(good | change))


@pytest.fixture
def chains():
    return np.random.default_rng(6).normal(size=(4, 250, 5)).cumsum(axis=1) * 0.1 + np.arange(5)


def arviz(statistic, draws, **options):
    return getattr(array_stats, statistic)(draws, chain_axis=0, draw_axis=1, **options)


def test_convergence_is_arviz_stats(chains):
    for method in ("bulk", "mean", "sd"):
        np.testing.assert_array_equal(
            ess(chains, method=method), arviz("ess", chains, method=method)
        )
    np.testing.assert_array_equal(
        ess(chains, method="tail"), arviz("ess", chains, method="tail", prob=(0.05, 0.95))
    )
    np.testing.assert_array_equal(rhat(chains), arviz("rhat", chains))
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
        (lambda x: ess(x[0]), ArgumentError, r"draws must be \(chain, draw, parameter\)"),
        (lambda x: rhat(x[:, :0]), DataError, "draws is empty"),
        (lambda x: ess(x, method="best"), ArgumentError, "method"),
        (lambda x: mcse(x, "median"), ArgumentError, "method"),
        (lambda x: ess(x, weights=np.ones(3)), ArgumentError, r"weights must be \(250,\)"),
        (lambda x: autocorr(x, 250), ArgumentError, "max_lag"),
        (lambda x: autocorr(x, 2.5), ArgumentError, "max_lag must be an integer"),
        (lambda x: moments.quantile(x, 1.5), ArgumentError, "q must be"),
        (lambda x: moments.quantile(x, np.nan), ArgumentError, "q must be"),
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
