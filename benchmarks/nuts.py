"""Effective draws per gradient of sgmc's `nuts` beside nutpie's, on five posteriors.

    python benchmarks/nuts.py [--quick] [--seeds 5] [--posterior funnel]

Both run the same density and gradient, compiled by numba, in the parameters' own coordinates (no
mode search for sgmc: `precondition=None`), with four chains, as many warmup steps and draws, and
starts uniform on (-1, 1) by streams of their own.  nutpie is at its defaults, a diagonal metric
(`low_rank_modified_mass_matrix=True` beside it), sgmc at `metric="auto"`, which is dense up to 100
parameters, and with `metric="diag"`.

Gradients are counted by each package: leapfrog steps after warmup, and all of them.  Effective
draws are the least bulk and the least tail ESS over the parameters, by `sgmc.diagnostics.ess` for
both, and figures are geometric means over seeds.  z is the largest difference of the two packages'
means over parameters and seeds, in Monte Carlo standard errors.  It needs numba and nutpie, and
ends with a message where they are absent.
"""

import argparse
import os
import sys
import time
import warnings
from dataclasses import dataclass

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import sgmc
from sgmc.diagnostics import ess, mcse

try:
    import numba
    from nutpie import sample as nutpie_sample
    from nutpie.compiled_pyfunc import from_pyfunc
except ImportError as missing:
    print(f"benchmarks/nuts.py needs numba and nutpie: {missing}; pip install numba nutpie")
    sys.exit(0)

CHAINS = 4
SIGNATURE = numba.types.float64(
    numba.types.int64,
    numba.types.CPointer(numba.types.float64),
    numba.types.int64,
    numba.types.CPointer(numba.types.int64),
    numba.types.CPointer(numba.types.float64),
    numba.types.voidptr,
)


@dataclass
class Posterior:
    """A density of `dim` numbers: ``value = density(x, g)`` fills g with its gradient."""

    dim: int
    density: object


# ---- posteriors ----------------------------------------------------------------------------------


def schools():
    """Eight schools (Rubin 1981), non-centred: mu, log tau, eight standardised effects."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sd = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    @numba.njit(error_model="numpy")
    def density(x, g):
        mu, tau = x[0], np.exp(x[1])
        # mu ~ N(0, 5^2), tau ~ half-Cauchy(0, 5)
        value = -0.5 * mu * mu / 25 + x[1] - np.log1p(tau * tau / 25)
        g[0], g[1] = -mu / 25, 1 - 2 * tau * tau / (25 + tau * tau)
        for j in range(8):
            z = x[2 + j]
            r = (y[j] - mu - tau * z) / (sd[j] * sd[j])
            value -= 0.5 * (z * z + r * r * sd[j] * sd[j])
            g[0] += r
            g[1] += r * tau * z
            g[2 + j] = -z + r * tau
        return value

    return Posterior(10, density)


def gaussian():
    """A normal law of 50 numbers, with condition number 10,000 and random axes."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(50, 50)))[0]
    precision = np.ascontiguousarray((axes * np.geomspace(1, 1e-4, 50)) @ axes.T)

    @numba.njit(error_model="numpy")
    def density(x, g):
        g[:] = -(precision @ x)
        return 0.5 * (x @ g)

    return Posterior(50, density)


def logistic():
    """Logistic regression of 1,000 rows on 24 correlated columns of several scales, and a
    constant.
    """
    rng = np.random.default_rng(2)
    common = rng.normal(size=(1000, 1))
    X = (rng.normal(size=(1000, 24)) + common) * np.geomspace(0.2, 5, 24)
    X = np.column_stack([np.ones(1000), X])
    y = (rng.random(1000) < 1 / (1 + np.exp(-X @ (rng.normal(size=25) / 10)))).astype(float)

    @numba.njit(error_model="numpy")
    def density(x, g):
        eta = X @ x
        value = -0.5 * (x @ x) / 6.25
        for i in range(len(y)):
            size = abs(eta[i])
            value += y[i] * eta[i] - max(eta[i], 0.0) - np.log1p(np.exp(-size))
            eta[i] = y[i] - 1 / (1 + np.exp(-eta[i]))
        g[:] = eta @ X - x / 6.25
        return value

    return Posterior(25, density)


def volatility():
    """Stochastic volatility of 150 returns (Kim, Shephard & Chib 1998): mean, logit-like
    persistence and log sd of log variances, and 150 standardised innovations.
    """
    rng, steps = np.random.default_rng(3), 150
    h = np.zeros(steps)
    h[0] = rng.normal() * 0.2 / np.sqrt(1 - 0.95**2)
    for t in range(1, steps):
        h[t] = 0.95 * h[t - 1] + 0.2 * rng.normal()
    y = np.exp(h / 2) * rng.normal(size=steps)

    @numba.njit(error_model="numpy")
    def density(x, g):
        mu, phi, sigma = x[0], np.tanh(x[1]), np.exp(x[2])
        root = np.sqrt(1 - phi * phi)
        # mu ~ N(0, 2), (phi + 1) / 2 ~ Beta(20, 1.5), sigma ~ half-N(0, 0.5)
        value = -0.5 * mu * mu / 4 + 20 * np.log((1 + phi) / 2) + 1.5 * np.log((1 - phi) / 2)
        value += x[2] - 2 * sigma * sigma
        g[0], g[1], g[2] = -mu / 4, 20 * (1 - phi) - 1.5 * (1 + phi), 1 - 4 * sigma * sigma
        state, by_phi, by_sigma = 0.0, 0.0, 0.0
        states, slopes = np.empty(steps), np.empty(steps)
        phis, sigmas = np.empty(steps), np.empty(steps)
        for t in range(steps):
            z = x[3 + t]
            if t == 0:
                state, by_phi, by_sigma = sigma / root * z, sigma * z * phi / root**3, z / root
            else:
                by_phi, by_sigma = state + phi * by_phi, phi * by_sigma + z
                state = phi * state + sigma * z
            states[t], phis[t], sigmas[t] = state, by_phi, by_sigma
            scaled = y[t] * y[t] * np.exp(-mu - state)
            value -= 0.5 * (z * z + mu + state + scaled)
            slopes[t] = 0.5 * (scaled - 1)
            g[0] += slopes[t]
            g[1] += slopes[t] * by_phi * (1 - phi * phi)
            g[2] += slopes[t] * by_sigma * sigma
        back = 0.0
        for t in range(steps - 1, -1, -1):
            back = slopes[t] + phi * back
            g[3 + t] = back * (sigma if t > 0 else sigma / root) - x[3 + t]
        return value

    return Posterior(3 + steps, density)


def funnel():
    """Neal's funnel of moderate scale: v ~ N(0, 1.5^2), nine others N(0, exp v)."""

    @numba.njit(error_model="numpy")
    def density(x, g):
        v, square = x[0], 0.0
        for j in range(1, 10):
            square += x[j] * x[j]
            g[j] = -x[j] * np.exp(-v)
        g[0] = -v / 2.25 - 4.5 + 0.5 * square * np.exp(-v)
        return -0.5 * v * v / 2.25 - 4.5 * v - 0.5 * square * np.exp(-v)

    return Posterior(10, density)


def student():
    """Regression of 200 rows with outliers on 10 columns: t errors of unknown sd and degrees of
    freedom, coefficients with a Student-t prior of unknown scale.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 10))
    y = X @ np.r_[2.0, -1.0, np.zeros(8)] + rng.standard_t(3, size=200)

    @numba.njit(error_model="numpy")
    def density(x, g):
        scale, sd = np.exp(x[10]), np.exp(x[11])
        nu = 4.0
        value = x[10] - 0.5 * scale * scale + x[11] - 0.5 * sd * sd / 4
        g[:] = 0.0
        g[10], g[11] = 1 - scale * scale, 1 - sd * sd / 4
        for j in range(10):
            u = x[j] / scale
            value -= 2 * np.log1p(u * u / 3) + x[10]
            slope = 4 * u / (3 + u * u)
            g[j] -= slope / scale
            g[10] += slope * u - 1
        r = y - X @ x[:10]
        for i in range(200):
            u = r[i] / sd
            value -= 0.5 * (nu + 1) * np.log1p(u * u / nu) + x[11]
            slope = (nu + 1) * u / (nu + u * u)
            g[11] += slope * u - 1
            r[i] = slope / sd
        g[:10] += r @ X
        return value

    return Posterior(12, density)


POSTERIORS = {
    made.__name__: made for made in (schools, gaussian, logistic, volatility, funnel, student)
}


# ---- both packages -------------------------------------------------------------------------------


@dataclass
class Outcome:
    """Draws (chains, draws, dim), gradients after warmup and in all, seconds, divergences."""

    draws: np.ndarray
    after: int
    total: int
    seconds: float
    divergences: int


def ours(posterior, metric, warmup, draws, seed):
    """sgmc's `nuts`."""
    density, dim = posterior.density, posterior.dim

    @numba.cfunc(SIGNATURE)
    def compiled(d, theta, m, rows, grad, data):
        return density(numba.carray(theta, (dim,)), numba.carray(grad, (dim,)))

    model = sgmc.CompiledModel(
        compiled, 1, parameters={"x": dim}, prior={"x": sgmc.flat()}, checked=False
    )
    starts = np.random.default_rng([seed, 7]).uniform(-1, 1, (CHAINS, dim))
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [
            model.fit(
                sampler=sgmc.NUTS(metric=metric),
                precondition=None,
                chains=1,
                warmup=warmup,
                draws=draws,
                thin=1,
                seed=1000 * seed + k,
                init=start,
            )
            for k, start in enumerate(starts)
        ]
    seconds = time.perf_counter() - begun
    table = [part.chain_diagnostics().iloc[0] for part in parts]
    return Outcome(
        np.concatenate([np.asarray(part.draws) for part in parts]),
        int(sum(row.leapfrogs for row in table)),
        int(sum(row.data_passes for row in table)),
        seconds,
        int(sum(row.divergences for row in table)),
    )


def theirs(posterior, low_rank, warmup, draws, seed):
    """nutpie's NUTS."""
    density, dim = posterior.density, posterior.dim

    def make_density():
        @numba.njit(error_model="numpy")
        def both(x):
            g = np.empty(dim)
            return density(x, g), g

        return both

    def make_expand(seed1, seed2, chain):
        return lambda x: {"x": np.asarray(x, dtype=float)}

    starts = np.random.default_rng([seed, 8])
    model = from_pyfunc(
        dim,
        make_density,
        make_expand,
        [np.dtype(float)],
        [(dim,)],
        ["x"],
        make_initial_point_fn=lambda _: starts.uniform(-1, 1, dim),
    )
    begun = time.perf_counter()
    trace = nutpie_sample(
        model,
        draws=draws,
        tune=warmup,
        chains=CHAINS,
        cores=1,
        seed=seed,
        progress_bar=False,
        low_rank_modified_mass_matrix=low_rank,
    )
    seconds = time.perf_counter() - begun
    after = int(trace.sample_stats.n_steps.sum())
    return Outcome(
        np.asarray(trace.posterior["x"]),
        after,
        after + int(trace.warmup_sample_stats.n_steps.sum()),
        seconds,
        int(trace.sample_stats.diverging.sum()),
    )


ENTRIES = {
    "sgmc auto": (ours, "auto"),
    "sgmc diag": (ours, "diag"),
    "nutpie": (theirs, False),
    "nutpie low rank": (theirs, True),
}


def figures(outcome):
    """Least bulk and tail ESS per 1,000 gradients after warmup, and with it; gradients."""
    bulk, tail = (float(np.min(ess(outcome.draws, method=m))) for m in ("bulk", "tail"))
    return np.array(
        [
            1000 * bulk / outcome.after,
            1000 * tail / outcome.after,
            1000 * bulk / outcome.total,
            1000 * tail / outcome.total,
            outcome.after,
            outcome.total - outcome.after + 1,
            bulk / outcome.seconds,
        ]
    )


HEAD = f"{'':24s}{'bulk':>8s}{'tail':>8s}{'bulk+w':>8s}{'tail+w':>8s}{'after':>9s}{'warmup':>9s}"


def compare(name, warmup, draws, seeds, entries):
    """Print a block of one posterior."""
    posterior = POSTERIORS[name]()
    print(f"\n{name} ({posterior.dim}): {POSTERIORS[name].__doc__.split(chr(10))[0]}")
    print(HEAD + f"{'ESS/s':>9s}{'diverged':>9s}{'z':>6s}")
    means, errors = {}, {}
    for entry in entries:
        run, how = ENTRIES[entry]
        found = [run(posterior, how, warmup, draws, seed) for seed in range(1, seeds + 1)]
        line = np.exp(np.mean([np.log(figures(one)) for one in found], axis=0))
        means[entry] = np.mean([one.draws.mean(axis=(0, 1)) for one in found], axis=0)
        errors[entry] = np.sqrt(np.sum([mcse(one.draws) ** 2 for one in found], axis=0)) / seeds
        first = next(iter(means))
        apart = np.abs(means[entry] - means[first]) / np.hypot(errors[entry], errors[first])
        print(
            f"  {entry:22s}"
            + "".join(f"{v:8.1f}" for v in line[:4])
            + "".join(f"{v:9.0f}" for v in line[4:])
            + f"{sum(one.divergences for one in found):9d}{np.max(apart):6.1f}",
            flush=True,
        )


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two seeds, 300 draws")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=400)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--posterior", nargs="*", choices=POSTERIORS, default=list(POSTERIORS))
    parser.add_argument("--only", nargs="*", choices=ENTRIES, default=list(ENTRIES))
    given = parser.parse_args()
    seeds, draws = (2, 300) if given.quick else (given.seeds, given.draws)
    print(
        f"sgmc {sgmc.__version__}, {CHAINS} chains, warmup {given.warmup}, {draws} draws, "
        f"{seeds} seeds; effective draws per 1,000 gradients, +w: gradients of warmup counted"
    )
    for name in given.posterior:
        compare(name, given.warmup, draws, seeds, given.only)


if __name__ == "__main__":
    main()
