"""Stein diagnostics: FSSD, linear KSD, wild bootstrap and Stein thinning, each against plain
numpy.
"""

import numpy as np
import pytest

from sgmc.diagnostics import ess, fssd, ksd, ksd_test, linear_ksd, stein_thinning
from sgmc.diagnostics.scores.goodness import signs
from sgmc.diagnostics.scores.stein_sums import stein_diagonal, stein_matrix
from sgmc.errors import ArgumentError, DataError

from .stein import KERNELS, squared, stein_kernel

# ---- KSD at n = 1,000 ----------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.parametrize("kernel", ["imq", "gaussian"])
def test_ksd_at_a_thousand_draws(kernel):
    """Mean zero under exact draws (|z| < 4); power of tests of size 5 % by 100 exact samples, 40
    wrong ones: +-0.06.
    """
    rng, d = np.random.default_rng(8), 5

    def value(x):
        return squared(
            ksd(x, -x, statistic="u", kernel=kernel, c="median" if kernel == "gaussian" else 1.0)
        )

    null = np.array([value(rng.normal(size=(1000, d))) for _ in range(100)])
    limit, z = np.quantile(null, 0.95), null.mean() / (null.std(ddof=1) / 10)
    shifted = np.mean(
        [value(rng.normal(size=(1000, d)) + 0.2 * (np.arange(d) == 0)) > limit for _ in range(40)]
    )
    wide = np.mean([value(rng.normal(size=(1000, d)) * np.sqrt(1.2)) > limit for _ in range(40)])
    narrow = np.mean([value(rng.normal(size=(1000, d)) * np.sqrt(0.8)) > limit for _ in range(40)])
    print(
        "\n"
        f"{kernel}, d={d}: z of the null {z:.1f}; power: mean of one coordinate 0.2 sd off "
        f"{shifted:.2f}, variances +20 % {wide:.2f}, -20 % {narrow:.2f}"
    )
    assert abs(z) < 4 and shifted > 0.9 and wide > 0.8 and narrow > 0.8


def langevin(h, seed, n=10_000):
    """Review, section 4: Langevin dynamics on N(0, P' D P), gradients with noise of variance 0.01;
    draws and exact scores.
    """
    rotation = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    precision = rotation.T @ np.diag([1 / 2, 1]) @ rotation
    rng, x, draws = np.random.default_rng(seed), np.zeros(2), np.empty((n, 2))
    xi, v = rng.normal(size=(2, n, 2))
    for k in range(n):
        draws[k] = x = x + h / 2 * (0.1 * v[k] - precision @ x) + np.sqrt(h) * xi[k]
    return draws, -draws @ precision


def test_figure_1_of_the_review():
    """Nemeth and Fearnhead (2021): KSD is least at h = 0.1, effective sizes are largest at h = 1.

    Every fifth of the 10,000 draws.  One chain leaves 0.1 and 1 close (`benchmarks/stein.py` counts
    seeds), the mean of four does not; of the other steps none is near.
    """
    steps = (1e-3, 1e-2, 1e-1, 1.0)
    chains = {h: [langevin(h, seed) for seed in range(4)] for h in steps}
    values = {
        h: np.mean([ksd(x[::5], s[::5], form="coordinate") for x, s in some])
        for h, some in chains.items()
    }
    sizes = {h: np.mean([ess(x[None]).min() for x, _ in some]) for h, some in chains.items()}
    print(
        "\nKSD",
        {h: round(v, 3) for h, v in values.items()},
        "ESS",
        {h: round(v) for h, v in sizes.items()},
    )
    assert min(values, key=values.get) == 0.1 and max(sizes, key=sizes.get) == 1.0
    assert values[1e-3] > 3 * values[0.1]
    assert values[1e-2] > 1.5 * values[0.1]
    assert sizes[1.0] > 5 * sizes[0.1]


# ---- linear KSD ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel, c", KERNELS)
@pytest.mark.parametrize("n", [2, 3, 257, 300])
def test_linear_ksd_and_kernel_values_are_the_definition(sample, n, kernel, c):
    x, s, _ = (values[:n] for values in sample)
    whole, half = stein_kernel(x, s, x, s, kernel, c), n // 2
    pairs = np.diagonal(whole[:half, half : 2 * half])
    assert squared(linear_ksd(x, s, kernel=kernel, c=c)) == pytest.approx(pairs.mean(), rel=1e-10)
    options = kernel == "gaussian", c, -0.5
    np.testing.assert_allclose(
        stein_matrix(x[:2], s[:2], x, s, *options), whole[:2], rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(stein_diagonal(s, *options), np.diagonal(whole), rtol=1e-10)


def test_linear_ksd_pairs_draws_that_are_apart():
    """An autoregression of its target: unbiased (|z| < 4, 300 replicates), which pairs of
    neighbours are not (z > 8).
    """
    from scipy.signal import lfilter

    noise = np.random.default_rng(9).normal(size=(300, 200, 2)) * np.sqrt(1 - 0.8**2)
    noise[:, 0] /= np.sqrt(1 - 0.8**2)
    draws = lfilter([1], [1, -0.8], noise, axis=1)
    right = np.array([squared(linear_ksd(x, -x)) for x in draws])
    near = np.array(
        [
            stein_kernel(x[::2], -x[::2], x[1::2], -x[1::2], "imq", 1.0).diagonal().mean()
            for x in draws
        ]
    )
    assert (
        abs(right.mean() / right.std() * np.sqrt(300))
        < 4
        < 8
        < near.mean() / near.std() * np.sqrt(300)
    )


# ---- test by wild bootstrap ----------------------------------------------------------------------


def test_ksd_test_is_its_definition(sample):
    x, s, w = sample
    w = w / w.sum()
    done = ksd_test(x, s, weights=w, change=0.3, replicates=50, seed=7)
    paths = w[:, None] * signs(300, 50, 0.3, np.random.default_rng(7))
    kernel = stein_kernel(x, s, x, s, "imq", 1.0)
    beyond = np.einsum("ab,ac,cb->b", paths, kernel, paths, optimize=True) >= w @ kernel @ w
    assert done.pvalue == (1 + beyond.sum()) / 51
    assert done.ksd == pytest.approx(ksd(x, s, weights=w), rel=1e-10)
    assert done.change == 0.3


def test_signs_change_as_often_as_asked():
    """500 x 400 signs: standard errors 0.0007 of the rate of changes, 0.01 of the mean over
    starts.
    """
    paths = signs(500, 400, 0.1, np.random.default_rng(1))
    assert set(np.unique(paths)) == {-1.0, 1.0}
    assert abs((paths[1:] != paths[:-1]).mean() - 0.1) < 0.003
    assert abs(paths[0].mean()) < 0.2 and abs(paths.mean()) < 0.04


def rejections(chain, count, **options):
    """Share of exact and of shifted samples that a test of size 5 % rejects."""
    pvalues = [
        ksd_test(x, -x, replicates=199, seed=k, **options).pvalue
        for k, x in enumerate(chain() for _ in range(count))
    ]
    return np.mean(np.array(pvalues) <= 0.05)


def test_size_and_power_with_independent_draws():
    """300 tests: 5 % +- 1.3 %, tolerance 3 of those.

    Planted: half of the scores' size is found out.
    """
    rng = np.random.default_rng(10)
    size = rejections(lambda: rng.normal(size=(200, 2)), 300, change=0.5)
    found = rejections(lambda: rng.normal(size=(200, 2)) + 0.5, 50, change=0.5)
    x = rng.normal(size=(200, 2))
    print(f"\nwild bootstrap, independent draws: size {size:.3f}, power against 0.5 sd {found:.2f}")
    assert abs(size - 0.05) < 0.038
    assert found > 0.95
    assert ksd_test(x, -x / 2, change=0.5).pvalue < 0.01


@pytest.mark.extended
def test_size_and_power_with_dependent_draws():
    """An AR(1) with correlation 0.8: signs that change at the default rate keep the size,
    independent ones do not.

    200 tests: 5 % +- 1.5 %; the wild bootstrap is right as n grows, at n = 1,000 (111 effective) up
    to 12 % is let pass.
    """
    from scipy.signal import lfilter

    rng = np.random.default_rng(11)

    def chain(shift=0.0):
        noise = rng.normal(size=(1000, 2)) * 0.6
        noise[0] /= 0.6
        return lfilter([1], [1, -0.8], noise, axis=0) + shift

    size, naive = rejections(chain, 200), rejections(chain, 40, change=0.5)
    found = rejections(lambda: chain(0.5), 40)
    print(
        f"\nwild bootstrap, AR(0.8), n=1,000: size {size:.3f}, with independent signs {naive:.2f}, "
        f"power against 0.5 sd {found:.2f}"
    )
    assert size < 0.12 and naive > 0.4 and found > 0.8
    x = chain()
    assert 1 / (2 + 7 * 14) < ksd_test(x, -x, replicates=9).change < 1 / (2 + 7 * 4)  # tau is 9


# ---- Stein thinning ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel, c", KERNELS)
def test_stein_thinning_is_its_definition(sample, kernel, c):
    x, s, _ = sample
    k0, chosen = stein_kernel(x, s, x, s, kernel, c), []
    for _ in range(40):
        chosen.append(np.argmin(0.5 * np.diagonal(k0) + k0[chosen].sum(axis=0)))
    np.testing.assert_array_equal(stein_thinning(x, s, 40, kernel=kernel, c=c, scale=None), chosen)
    np.testing.assert_array_equal(
        stein_thinning(x, s, 7, kernel=kernel, c=c, scale=None), chosen[:7]
    )


def test_stein_thinning_leaves_out_warmup_and_undoes_bias():
    """Draws twice too wide that begin 8 sds off: the 30 chosen are nearer than every tenth, and
    none is of the beginning.
    """
    rng = np.random.default_rng(12)
    x = np.concatenate(
        [
            np.linspace(8, 2, 50)[:, None] + 0.1 * rng.normal(size=(50, 2)),
            2 * rng.normal(size=(250, 2)),
        ]
    )
    chosen = stein_thinning(x, -x, 30)
    assert chosen.min() >= 45 and ksd(x[chosen], -x[chosen]) < 0.4 * ksd(x[::10], -x[::10])
    assert 0.7 < x[chosen].std() < 1.3 < x[50:].std()
    wrong = stein_thinning(x, x, 30)  # scores of U choose what is far off
    assert ksd(x[wrong], -x[wrong]) > 2 * ksd(x[chosen], -x[chosen])


# ---- what they refuse ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, change, error, message",
    [
        (
            fssd,
            dict(locations="best"),
            ArgumentError,
            "locations='best' must be one of 'random', 'optimised', 'maximised', or numbers",
        ),
        (
            fssd,
            dict(locations=np.ones((3, 4))),
            ArgumentError,
            r"locations has shape \(3, 4\); it must be \(J, 2\)",
        ),
        (fssd, dict(number=0), ArgumentError, "number=0 must be a whole number, at least 1"),
        (fssd, dict(statistic="w"), ArgumentError, "statistic"),
        (fssd, dict(c="mean"), ArgumentError, "c='mean' must be 'median', or a positive number"),
        (
            fssd,
            dict(scores=np.ones((9, 3))),
            ArgumentError,
            r"scores has shape \(9, 3\); it must be \(9, 2\)",
        ),
        (
            fssd,
            dict(locations="optimised", weights=[1.0] + [0.0] * 4 + [1.0] + [0.0] * 3),
            ArgumentError,
            "optimised locations need",
        ),
        (fssd, dict(weights=[1.0] + [0.0] * 8), ArgumentError, "covariance needs two draws"),
        (fssd, dict(draws=np.full((9, 2), np.nan)), DataError, "draws has 9 rows"),
        (
            ksd,
            dict(scale="variance"),
            ArgumentError,
            "scale='variance' must be 'covariance', or numbers",
        ),
        (
            ksd,
            dict(draws=np.ones((9, 2)), scale="covariance"),
            ArgumentError,
            "do not span 2 dimensions",
        ),
        (
            ksd,
            dict(draws=np.ones((9, 2)), c="median"),
            ArgumentError,
            "c=0.0 must be a positive number",
        ),
        (
            linear_ksd,
            dict(draws=np.ones((1, 2)), scores=np.ones((1, 2))),
            ArgumentError,
            "two draws",
        ),
        (ksd_test, dict(change=0.7), ArgumentError, "change=0.7 must be a number above 0"),
        (ksd_test, dict(replicates=0), ArgumentError, "replicates"),
        (stein_thinning, dict(m=0), ArgumentError, "m=0 must be a whole number, at least 1"),
    ],
)
def test_what_is_wrong_is_named(function, change, error, message):
    x = np.random.default_rng(16).normal(size=(9, 2))
    with pytest.raises(error, match=message):
        function(**({"draws": x, "scores": -x} | change))
