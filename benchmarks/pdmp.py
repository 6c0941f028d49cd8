"""Piecewise-deterministic samplers: data touched for an effective draw, events a second and where
their time goes, agreement.

    python benchmarks/pdmp.py [--quick] [--rows 10000 100000 1000000]

Growth: logistic regressions simulated with 5 columns, default priors, one chain.  "rows a draw" is
the rows touched after warmup over the least effective size of the path's means
(`Results.path_summary`).  zzss has few draws, as each takes very many rows; it is left out from a
million rows on.

Seconds are of the processor.

Time: one chain of `zzcv` in whitened coordinates, with and without its recorder, and its minibatch
slopes by themselves; the rest is the clock of events: distances, exponentials, moves, the choice of
a coordinate.  Bounds are computed once a fit.

Agreement: path means and sds beside those of `mala` and of importance sampling (Student-t with 5
degrees of freedom around the Laplace approximation), in Monte Carlo errors of both: the largest
over the coefficients, of means and of second moments.
"""

import argparse
import os
import time
import warnings
from dataclasses import replace

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from _ext.probes import repeated_slope

import sgmc
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit.chains import build_chain
from sgmc.subsampling.uniform import FullBatch

COLUMNS, SEED = 5, 1
GROWING = {
    "zzcv": dict(sampler="zzcv", draws=1000),
    "zzcv, preferential": dict(sampler="zzcv", draws=1000, subsample="preferential"),
    "zzss": dict(sampler="zzss", draws=60),
}
SAMPLERS = ("zigzag", "bps", "zzcv", "zzss", "lipsbps")


def simulated(n, d=COLUMNS):
    """A logit whose truth has norm one, and an intercept of -0.5."""
    rng = np.random.default_rng([SEED, n])
    X = rng.normal(size=(n, d))
    y = rng.random(n) < 1 / (1 + np.exp(0.5 - X @ np.full(d, d**-0.5)))
    return sgmc.Logit(y.astype(int), np.column_stack([np.ones(n), X]))


def touched(name, n):
    """(rows an effective draw, effective draws, seconds of the fit, share of events that
    happened).
    """
    model, begun = simulated(n), time.process_time()
    results = model.fit(chains=1, seed=SEED, **GROWING[name])
    seconds = time.process_time() - begun
    size = results.path_summary().ess.min()
    events = int(results.chain_diagnostics().steps[0])
    after = events - int(dict(results.header[0])["Warmup/Draws"].split("/")[0])
    return after / size, size, seconds, results.chain_diagnostics().acceptance[0]


def growth(rows):
    """Print rows touched for an effective draw."""
    print("rows touched for an effective draw\n")
    print(
        "| sampler | N | rows a draw | effective draws | seconds | events accepted "
        "|\n|---|---|---|---|---|---|"
    )
    found = {}
    for name, n in ((name, n) for name in GROWING for n in rows):
        if name == "zzss" and n >= 1_000_000:
            continue
        found[name, n], size, seconds, accepted = touched(name, n)
        print(
            f"| {name} | {n:,} | {found[name, n]:,.0f} | {size:,.0f} | {seconds:.1f} | "
            f"{accepted:.2g} |",
            flush=True,
        )
    for name in GROWING:
        costs = [found[name, n] for n in rows if (name, n) in found]
        print(f"\n{name}: {max(costs) / min(costs):.2f} times from least to most")


def shares(n, d):
    """Print where the time of an event goes."""
    model = simulated(n, d)
    fit = model.fit(sampler="zzcv", chains=1, draws=10, seed=SEED)._fit
    roomy = replace(fit.plan, settings=replace(fit.settings, draws=200_000))
    begun = time.process_time()
    fit.problem.workspace.limits.clear()
    fit.problem.bounds(False)
    once, times, events = time.process_time() - begun, {}, 2_000_000
    for record in (False, True) * 3:
        chain = build_chain(roomy, 0)
        chain.run(1000, record)
        begun = time.process_time()
        chain.run(events, record)
        times[record] = min(times.get(record, 9.0), 1e6 * (time.process_time() - begun) / events)
    v = np.eye(fit.problem.model.dim)[0]
    slope = min(
        1e6
        * repeated_slope(
            chain.gradient, np.array(chain.x), v, Rng(seed_sequence(SEED, "chain")), events
        )
        for _ in range(3)
    )
    parts = {
        "gradients": slope,
        "clock": times[False] - slope,
        "bookkeeping": times[True] - times[False],
    }
    cells = " | ".join(f"{part:.3f} ({100 * part / times[True]:.0f} %)" for part in parts.values())
    print(
        f"| {n:,} | {d + 1} | {times[True]:.3f} | {1 / times[True]:.2f} | {cells} | {once:.3f} |",
        flush=True,
    )


def importance(problem, draws=20_000):
    """Means and mean squares of the coefficients with their errors,
    by self-normalised importance sampling.
    """
    n, d, rng = problem.model.n, problem.model.dim, np.random.default_rng(SEED)
    gradient = problem.gradient("simple", FullBatch(n), Rng(seed_sequence(SEED, "chain")))
    x = rng.normal(size=(draws, d)) / np.sqrt(rng.chisquare(5, draws) / 5)[:, None]
    log_q = -0.5 * (5 + d) * np.log1p((x**2).sum(axis=1) / 5)
    log_w = np.array([full(gradient, point)[0] for point in x]) - log_q
    w = np.exp(log_w - log_w.max())
    theta = problem.coordinates.reported(x)
    return moments(theta, w / w.sum())


def moments(theta, w):
    """(first and second moments, their errors) of weighted independent draws."""
    values = np.hstack([theta, theta**2])
    mean = w @ values
    return mean, np.sqrt(w**2 @ (values - mean) ** 2)


def agreement(title, model, draws):
    """Print z-scores of every sampler against mala and importance sampling."""
    mala = model.fit(sampler="mala", draws=10_000, seed=SEED)
    values = np.concatenate([mala.draws, mala.draws**2], axis=2)
    by_mala = values.mean(axis=(0, 1)), sgmc.diagnostics.mcse(values)
    by_weights = importance(model.fit(sampler="zigzag", draws=10, seed=SEED)._fit.problem)
    z = np.abs(by_mala[0] - by_weights[0]) / np.hypot(by_mala[1], by_weights[1])
    print(f"| {title} | mala | - | {z.max():.2f} | {mala.ess('mean').min():,.0f} |", flush=True)
    for name in SAMPLERS:
        found = model.fit(sampler=name, draws=draws.get(name, 1000), seed=SEED)
        path = found.expect(lambda theta: np.hstack([theta, theta**2]))
        z = [
            (np.abs(path["mean"] - mean) / np.hypot(path.mcse, error)).max()
            for mean, error in (by_mala, by_weights)
        ]
        print(f"| {title} | {name} | {z[0]:.2f} | {z[1]:.2f} | {path.ess.min():,.0f} |", flush=True)


def two_columns(n=300):
    """A logit of an intercept and a slope."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=n)
    return sgmc.Logit.from_formula(
        "y ~ x", pd.DataFrame({"x": x, "y": (rng.random(n) < 1 / (1 + np.exp(1 - x))).astype(int)})
    )


def main():
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, nargs="*", default=None)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", sgmc.SGMCWarning)
    growth(chosen.rows or ([10_000, 100_000] if chosen.quick else [10_000, 100_000, 1_000_000]))
    print("\nmicroseconds an event of zzcv\n")
    print(
        "| N | d | an event | million events a second | gradients | clock | bookkeeping | bounds, "
        "s a fit |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n, d in (
        (10_000, 4),
        (10_000, 49),
        (100_000, 9),
        *([] if chosen.quick else [(1_000_000, 9)]),
    ):
        shares(n, d)
    print(
        "\nlargest |z| of first and second moments\n\n| data | sampler | against mala | against "
        "importance sampling | least ESS |"
    )
    print("|---|---|---|---|---|")
    agreement("2-d logit", two_columns(), {"zzss": 300, "lipsbps": 300})
    if os.environ.get("SGMC_DATA"):
        agreement(
            "Default",
            sgmc.Logit.from_formula("default ~ .", sgmc.datasets.load("default")),
            {"zzss": 10, "lipsbps": 20},
        )


if __name__ == "__main__":
    main()
