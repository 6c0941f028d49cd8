"""Stein discrepancies: time beside numpy, power, size of the test, and figure 1 of the review.

    python benchmarks/stein.py [--quick]

Times are of one core, the best of three, as ratios to numpy: the same double sum in blocks of 500
draws, products of matrices for all inner products, for `ksd`; three products for `fssd`, which is
all that it needs.  Power is that of tests whose limit is the 95 % quantile under exact draws, so
that it has no bootstrap in it.
"""

import argparse
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy reads them

import numpy as np  # noqa: E402

from sgmc.diagnostics import control_variates, ess, fssd, ksd, ksd_test, linear_ksd, stein_thinning  # noqa: E402


def numpy_ksd(x, s, block=500):
    """Joint KSD, "v", IMQ with c = 1 and beta = -1/2, in O(n) memory."""
    n, d = x.shape
    total, squares, own = 0.0, (x**2).sum(axis=1), (x * s).sum(axis=1)
    for a in range(0, n, block):
        r = slice(a, a + block)
        u = 1 / (1 + np.maximum(squares[r, None] + squares - 2 * x[r] @ x.T, 0))
        f = np.sqrt(u)
        g = f * u
        cross = d + own[r, None] + own - s[r] @ x.T - x[r] @ s.T
        total += (f * (s[r] @ s.T) + g * cross - 3 * g * u * (1 / u - 1)).sum()
    return np.sqrt(total) / n


def numpy_fssd(x, s, v, c):
    """FSSD, "v", Gaussian kernel of width c."""
    k = np.exp(
        -((x**2).sum(axis=1)[:, None] + (v**2).sum(axis=1) - 2 * x @ v.T) / (2 * c * c)
    ) / len(x)
    return np.sqrt(np.mean(((s - x / c**2).T @ k + v.T / c**2 * k.sum(axis=0)) ** 2))


def fastest(function, repeats=3):
    """Seconds of the fastest of some calls, and what it returned."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - begun)
    return min(times), value


def times(n, d):
    """Times of everything at one size."""
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(n, d)), rng.normal(size=(10, d))
    c = np.sqrt(2 * d)
    floor, value = fastest(lambda: numpy_ksd(x, -x))
    own, same = fastest(lambda: ksd(x, -x))
    print(
        f"\nn={n:,} d={d}, one core: ksd {own:.2f} s, over numpy {own / floor:.2f}; the two agree "
        f"to {abs(same / value - 1):.0e}"
    )
    for label, options in (
        ("coordinate form", {"form": "coordinate"}),
        ("gaussian", {"kernel": "gaussian"}),
        ("beta -0.3", {"beta": -0.3}),
    ):
        print(f"  {label:34s} {fastest(lambda: ksd(x, -x, **options))[0] / own:6.2f} of that")
    floor, value = fastest(lambda: numpy_fssd(x, -x, v, c))
    given, same = fastest(lambda: fssd(x, -x, locations=v, c=c))
    print(
        f"  fssd, 10 locations {given * 1e3:.1f} ms, over numpy {given / floor:.2f}; the two agree "
        f"to {abs(same / value - 1):.0e}"
    )
    for label, call in (
        ("fssd, optimised", lambda: fssd(x, -x, locations="optimised")),
        ("linear_ksd", lambda: linear_ksd(x, -x)),
        ("stein_thinning, 100 draws", lambda: stein_thinning(x, -x, 100)),
        ("control_variates, order 2", lambda: control_variates(x, -x, order=2)),
        ("ksd_test, 999 replicates, 2,000 draws", lambda: ksd_test(x[:2000], -x[:2000])),
    ):
        print(f"  {label:38s} {fastest(call)[0]:7.3f} s")


def statistics():
    """Statistics by name, each a function of draws of N(0, I) and a number."""
    return {
        "ksd imq": lambda x, k: ksd(x, -x, statistic="u"),
        "ksd gaussian": lambda x, k: ksd(x, -x, statistic="u", kernel="gaussian", c="median"),
        "linear_ksd": lambda x, k: linear_ksd(x, -x),
        "fssd random": lambda x, k: fssd(x, -x, statistic="u", seed=k),
        "fssd optimised": lambda x, k: fssd(x, -x, statistic="u", seed=k, locations="optimised"),
    }


def powers(count, n=1000):
    """Shares of wrong samples found out."""
    print(
        f"\npower at n={n:,}, size 5 %, {count} samples; null: z of the mean of the squared "
        "discrepancy"
    )
    print(f"{'':20s}{'null z':>8s}{'mean 0.2 sd off':>17s}{'var +20 %':>11s}{'var -20 %':>11s}")
    for d in (1, 2, 5, 10):
        rng = np.random.default_rng(d)
        wrong = {
            "shift": lambda x: x + 0.2 * (np.arange(d) == 0),
            "wide": lambda x: x * np.sqrt(1.2),
            "narrow": lambda x: x * np.sqrt(0.8),
        }
        for label, statistic in statistics().items():
            null = np.array([statistic(rng.normal(size=(n, d)), k) for k in range(count)])
            square, limit = np.sign(null) * null**2, np.quantile(null, 0.95)
            found = [
                np.mean(
                    [statistic(change(rng.normal(size=(n, d))), k) > limit for k in range(count)]
                )
                for change in wrong.values()
            ]
            z = square.mean() / square.std(ddof=1) * np.sqrt(count)
            print(
                f"d={d:<3d}{label:15s}{z:8.1f}{found[0]:17.2f}{found[1]:11.2f}{found[2]:11.2f}",
                flush=True,
            )


def autoregression(rng, n, phi, d=2):
    """A stationary chain on N(0, I)."""
    x, z = np.empty((n, d)), rng.normal(size=(n, d))
    x[0] = z[0]
    for t in range(1, n):
        x[t] = phi * x[t - 1] + np.sqrt(1 - phi * phi) * z[t]
    return x


def sizes(count):
    """Size of the wild bootstrap test, and its power against means half an sd off."""
    print(
        f"\nksd_test at 5 %, {count} chains of exact draws of N(0, I), d=2, and of means 0.5 sd off"
    )
    print(
        f"{'chain':>12s}{'n':>7s}{'change':>9s}{'size':>7s}{'power':>7s}"
        f"{'size, independent signs':>25s}"
    )
    for phi, n in ((0, 200), (0, 1000), (0.5, 1000), (0.8, 1000), (0.9, 1000), (0.9, 4000)):
        rng = np.random.default_rng(int(10 * phi) + n)
        exact = [autoregression(rng, n, phi) for _ in range(count if n < 4000 else count // 4)]
        default = [ksd_test(x, -x, replicates=199, seed=k) for k, x in enumerate(exact)]
        found = [
            ksd_test(x + 0.5, -x - 0.5, replicates=199, seed=k).pvalue <= 0.05
            for k, x in enumerate(exact[:50])
        ]
        free = [
            ksd_test(x, -x, replicates=199, change=0.5, seed=k).pvalue <= 0.05
            for k, x in enumerate(exact[:50])
        ]
        print(
            f"{f'AR({phi})':>12s}{n:7d}{np.mean([r.change for r in default]):9.3f}"
            f"{np.mean([r.pvalue <= 0.05 for r in default]):7.3f}{np.mean(found):7.2f}"
            f"{np.mean(free):25.2f}",
            flush=True,
        )


def langevin(seeds, steps, every, precision, h):
    """Draws (seed, h, draw, 2) of equation 7 of Nemeth & Fearnhead (2021): theta + h/2 g + h v +
    sqrt(h) z, v ~ N(0, 0.01).

    All h of a seed share their normals; every so many-th step is kept.
    """
    streams = [np.random.default_rng(seed) for seed in range(seeds)]
    x, kept = np.zeros((seeds, len(h), 2)), np.empty((seeds, len(h), steps // every, 2))
    for begun in range(0, steps, 1000):
        z, v = np.stack([rng.normal(size=(2, 1000, 1, 2)) for rng in streams], axis=2)
        for t in range(1000):
            x = (
                x
                - h[:, None] / 2 * (x @ precision)
                + 0.1 * h[:, None] * v[t]
                + np.sqrt(h)[:, None] * z[t]
            )
            if (begun + t) % every == every - 1:
                kept[:, :, (begun + t) // every] = x
    return kept


def figure_1(seeds):
    """Figure 1 of the review: which step KSD (its equation 13, IMQ with c = 1, beta = -1/2) and ESS
    choose on its Gaussian.

    Below it the same with chains ten times as long, so that less of the KSD is chance.
    """
    rotation = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    precision = rotation.T @ np.diag([1 / 2, 1]) @ rotation
    h = np.array([1e-3, 1e-2, 1e-1, 1.0])
    for steps, every in ((10_000, 1), (100_000, 10)):
        draws = langevin(seeds, steps, every, precision, h)
        values = np.array(
            [[ksd(x, -x @ precision, form="coordinate") for x in each] for each in draws]
        )
        effective = np.array([[ess(x[None]).min() for x in each] for each in draws])
        print(
            f"\nfigure 1 of the review: {steps:,} steps, {draws.shape[2]:,} draws of them, from "
            f"the mode; {seeds} seeds\n"
            "       h  mean KSD       sd  log10 of mean  mean ESS       sd   seeds in which it is "
            "the choice of KSD, of ESS"
        )
        for j, step in enumerate(h):
            mean, size = values[:, j].mean(), effective[:, j].mean()
            chosen = (values.argmin(axis=1) == j).sum(), (effective.argmax(axis=1) == j).sum()
            print(
                f"{step:8g}{mean:10.4f}{values[:, j].std(ddof=1):9.4f}{np.log10(mean):15.2f}"
                f"{size:10.0f}{effective[:, j].std(ddof=1):9.0f}{chosen[0]:30d}{chosen[1]:8d}",
                flush=True,
            )


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    times(10_000, 10)
    powers(20 if quick else 200)
    sizes(40 if quick else 400)
    figure_1(5 if quick else 100)


if __name__ == "__main__":
    main()
