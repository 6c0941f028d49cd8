"""The kernel Stein discrepancy against its definition in plain numpy."""

import numpy as np
import pytest

from sgmc.diagnostics import ksd
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


@pytest.mark.cover(0)
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
        (dict(draws=np.ones((9, 2, 1))), ArgumentError, "draws has shape"),
        (
            dict(scores=np.ones((9, 3))),
            ArgumentError,
            r"scores has shape \(9, 3\); it must be \(9, 2\)",
        ),
        (dict(scores=np.ones((8, 2))), ArgumentError, "scores"),
        (dict(weights=np.ones(8)), ArgumentError, "weights has shape"),
        (dict(weights=-np.ones(9)), ArgumentError, "weights"),
        (dict(weights=np.zeros(9)), ArgumentError, "weights"),
        (dict(weights=np.full(9, np.nan)), ArgumentError, "weights"),
        (dict(form="sum"), ArgumentError, "form"),
        (dict(kernel="matern"), ArgumentError, "kernel"),
        (dict(statistic="w"), ArgumentError, "statistic"),
        (dict(statistic="u", weights=[1] + [0] * 8), ArgumentError, "two draws"),
        (dict(c=0), ArgumentError, "c=0 must be a positive number"),
        (dict(beta=0.5), ArgumentError, "beta"),
        (dict(scale=np.ones(3)), ArgumentError, "scale has shape"),
        (dict(scale=[1, 0]), ArgumentError, "scale"),
        (dict(scale=[1, np.nan]), ArgumentError, "scale"),
        (dict(scale=np.ones((2, 2))), ArgumentError, "scale is a singular"),
    ],
)
def test_ksd_names_what_is_wrong(change, error, message):
    good = dict(draws=np.ones((9, 2)), scores=np.ones((9, 2)))
    with pytest.raises(error, match=message):
        ksd(**(good | change))
