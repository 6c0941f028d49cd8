"""Time of one step: sgmc's engine beside the best JAX that we could write, on one core in one process.

    python benchmarks/per_step.py [--quick] [--cpu 0]

Every figure is the best of many short rounds in which the contestants take turns, in microseconds a step, nothing recorded.
JAX runs many steps in one compiled loop, in float32 (its default), with the state on the device and its fastest random
generator.  "gather" is what the JAX packages do: n random rows a step.  "block" is sgmc's own idea given to JAX: n
consecutive rows.  Both are the best of several ways to write the products, and with control variates they keep the
stored scores as sgmc does.  Ratios are sgmc in float64 over each; a target is DESIGN's, set against the packages.
"""
import argparse
import os
import time
from dataclasses import dataclass
from functools import partial

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.sparse import csr_array

from sgmc.core.contract import Anchor
from sgmc.core.densities import Quadratic
from sgmc.core.design import design
from sgmc.core.engine import Chain
from sgmc.core.rng import Rng, seed_sequence
from sgmc.core.schedules import Constant
from sgmc.gradients.control_variate import ControlVariate
from sgmc.gradients.simple import Simple
from sgmc.gradients.taylor import Taylor
from sgmc.models.logit import BernoulliLogit
from sgmc.samplers.langevin import LMSGLD, SGLD
from sgmc.subsampling.block import Block

METHODS = {"sgld": (SGLD, Simple), "lmsgld": (LMSGLD, Simple), "sgld-cv": (SGLD, ControlVariate), "lmsgld-taylor": (LMSGLD, Taylor)}
FORMS = {"gather": ("product", "reduce"), "block": ("product", "reduce", "columns")}
WIDE = 50_000             # coordinates of the step with a trivial gradient
WIDE_TARGET = 1 / 2       # of JAX


@dataclass(frozen=True)
class Work:
    """A table of N rows and d columns, batches of n, and the largest ratios to the peers that we accept."""

    N: int
    d: int
    n: int
    target: float
    target32: float | None = None    # of the float32 table

    def __str__(self):
        return f"N={self.N:.0e} d={self.d} n={self.n:,}".replace("e+0", "e")


WORKS = (Work(10**6, 10, 1_000, 1 / 3), Work(10**6, 10, 10_000, 1 / 8), Work(10**5, 100, 1_000, 3 / 4, 1 / 2),
         Work(10**5, 10, 100, 1 / 3))


# ---- the race ---------------------------------------------------------------------------------------------------------

def race(contestants, rounds, seconds):
    """Least seconds a step of each contestant, a function of the number of steps; they take turns, round by round."""
    steps, best = {}, dict.fromkeys(contestants, np.inf)
    for name, run in contestants.items():
        run(2)                                                # compiles, and loads the caches
        steps[name] = 10
        while (spent := clocked(run, steps[name])) < seconds / 4:
            steps[name] *= 4
        steps[name] = max(1, int(steps[name] * seconds / spent))
    for _ in range(rounds):
        for name, run in contestants.items():
            best[name] = min(best[name], clocked(run, steps[name]) / steps[name])
    return best


def clocked(run, steps):
    """Seconds that so many steps take."""
    begun = time.perf_counter()
    run(steps)
    return time.perf_counter() - begun


# ---- sgmc -------------------------------------------------------------------------------------------------------------

def sgmc_chain(X, y, n, h, method):
    """A chain of ours at the mode, without a recorder."""
    spec, estimator = METHODS[method]
    N, d = X.shape
    model, rng = BernoulliLogit(design(X), y), Rng(seed_sequence(1, "chain"))
    anchor = Anchor(model, np.zeros(d), "curvature" in estimator.needs) if "anchor" in estimator.needs else None
    gradient = estimator(model, Quadratic(np.ones(d), np.zeros(d)), Block(N, n), rng, anchor=anchor)
    chain = Chain(np.zeros(d), spec().build(d, h), gradient, rng, Constant(h))
    return partial(chain.run, record=False)


def sgmc_wide(d):
    """A step whose gradient is the prior's, -x: the only row of the table is one number."""
    return sgmc_chain(csr_array(([1.0], ([0], [0])), shape=(1, d)), np.ones(1), 1, 1e-3, "sgld")


# ---- JAX --------------------------------------------------------------------------------------------------------------

PREDICTORS = {"product": lambda X, theta: X @ theta, "reduce": lambda X, theta: (X * theta).sum(1), "columns": lambda X, theta: theta @ X}
SUMS = {"product": lambda X, r: X.T @ r, "reduce": lambda X, r: (X * r[:, None]).sum(0), "columns": lambda X, r: X @ r}


def jax_sgld(X, y, n, h, batch, form, control):
    """SGLD in one compiled loop; `form` is how products are written, "columns" with the table transposed.

    With `control`, scores at zero and their full gradient are kept and serve as control variates.
    """
    N, d = X.shape
    axis = 1 if form == "columns" else 0
    scores = y - 0.5 if control else np.zeros(0)
    known = jnp.asarray(X.T @ scores if control else np.zeros(d), jnp.float32)
    data = [jnp.asarray(a, jnp.float32) for a in (X.T if axis else X, y, scores)]

    def pick(key, table, y, scores):
        if batch == "gather":
            rows = jax.random.randint(key, (n,), 0, N)
            return jnp.take(table, rows, axis), y[rows], scores[rows] if control else 0.0
        start = jax.random.randint(key, (), 0, N - n + 1)
        cut = partial(lax.dynamic_slice_in_dim, start_index=start, slice_size=n)
        return cut(table, axis=axis), cut(y), cut(scores) if control else 0.0

    def step(_, carry, data):
        key, theta = carry
        key, which, noise = jax.random.split(key, 3)
        table, outcome, stored = pick(which, *data)
        r = outcome - jax.nn.sigmoid(PREDICTORS[form](table, theta)) - stored
        g = known + N / n * SUMS[form](table, r) - theta
        return key, theta + h / 2 * g + h**0.5 * jax.random.normal(noise, (d,))

    @jax.jit
    def loop(steps, data):
        return lax.fori_loop(0, steps, partial(step, data=data), (jax.random.key(1, impl="rbg"), jnp.zeros(d)))

    return lambda steps: jax.block_until_ready(loop(steps, data))


def jax_wide(d, generator, h=1e-3):
    """SGLD on a standard normal: gradient -x."""

    def step(_, carry):
        key, x = carry
        key, noise = jax.random.split(key)
        return key, x - h / 2 * x + h**0.5 * jax.random.normal(noise, (d,))

    @jax.jit
    def loop(steps):
        return lax.fori_loop(0, steps, step, (jax.random.key(1, impl=generator), jnp.zeros(d)))

    return lambda steps: jax.block_until_ready(loop(steps))


# ---- numpy ------------------------------------------------------------------------------------------------------------

def one_pass(X, n):
    """One read of n random consecutive rows, by BLAS: what memory alone costs."""
    flat, d = X.ravel(), X.shape[1]
    starts = np.random.default_rng(1).integers(0, len(X) - n + 1, 4096).tolist()

    def run(steps):
        for k in range(steps):
            block = flat[starts[k % 4096] * d:][:n * d]
            np.dot(block, block)

    return run


def numpy_normals(d):
    """d float64 normals by numpy's default generator: the noise alone of a step."""
    rng, out = np.random.default_rng(1), np.empty(d)

    def run(steps):
        for _ in range(steps):
            rng.standard_normal(out=out)

    return run


# ---- the table --------------------------------------------------------------------------------------------------------

def table_of(work, methods, rounds, seconds):
    """Print the rows of one kind of work, one a method; the outcomes are coins, so that the mode is at zero."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((work.N, work.d)), (random.random(work.N) < 0.5).astype(float)
    narrow, h = X.astype(np.float32), 0.1 / work.N
    contestants = {"floor": one_pass(X, work.n), "floor32": one_pass(narrow, work.n)}
    for method in methods:
        contestants[method, 64], contestants[method, 32] = (sgmc_chain(t, y, work.n, h, method) for t in (X, narrow))
    controls = {METHODS[m][1] is not Simple for m in methods}
    for control in controls:
        for batch, forms in FORMS.items():
            for form in forms:
                contestants[batch, form, control] = jax_sgld(narrow, y, work.n, h, batch, form, control)
    best = race(contestants, rounds, seconds)
    for method in methods:
        control = METHODS[method][1] is not Simple
        peers = [min(best[batch, form, control] for form in forms) for batch, forms in FORMS.items()]
        line(f"{work} {method}", best[method, 64], best[method, 32], peers, work.target, work.target32)
    print(f"{f'{work} one pass':38s} {best['floor'] * 1e6:8.2f} {best['floor32'] * 1e6:8.2f}", flush=True)


def line(label, wide, narrow, peers, target, target32=None, scale=1e6):
    """One line of the table: both tables' figures, the peers', and the verdicts."""
    ratios = [wide / peer for peer in peers]
    verdicts = ["ok" if ratio <= target else "MISS" for ratio in ratios]
    extra = "" if target32 is None else (
        "  float32: " + " ".join(f"{narrow / p:.2f} {'ok' if narrow / p <= target32 else 'MISS'}" for p in peers) + f" of {target32:.2f}")
    figures = " ".join(f"{value * scale:8.2f}" for value in (wide, narrow, *peers))
    print(f"{label:38s} {figures}   {target:6.3f}   " + "   ".join(f"{r:6.3f} {v:4s}" for r, v in zip(ratios, verdicts)) + extra, flush=True)


def wide_step(rounds, seconds):
    """Print the row of a step at d = 50,000, in ns a coordinate; the tables hold nothing, so that both columns agree."""
    generators = ("threefry2x32", "rbg")
    best = race({"sgmc": sgmc_wide(WIDE), "numpy": numpy_normals(WIDE), **{g: jax_wide(WIDE, g) for g in generators}}, rounds, seconds)
    print("\nns a coordinate: sgmc, numpy's normals alone, JAX threefry2x32, JAX rbg")
    figures = {name: value / WIDE * 1e9 for name, value in best.items()}
    ratio = figures["sgmc"] / min(figures[g] for g in generators)
    print(f"{f'd={WIDE:,} gradient -x':38s} {' '.join(f'{v:8.2f}' for v in figures.values())}   {WIDE_TARGET:6.3f}   {ratio:6.3f} "
          f"{'ok' if ratio <= WIDE_TARGET else 'MISS'}")


def main():
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="sgld alone, fewer rounds")
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    options = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.cpu})
    rounds, seconds = (10, 0.02) if options.quick else (40, 0.03)
    print(f"jax {jax.__version__}, numpy {np.__version__}; microseconds a step, then ratios of sgmc's float64 to the peers'")
    print(f"{'':38s} {'float64':>8s} {'float32':>8s} {'gather':>8s} {'block':>8s}   {'target':>6s}   {'/gather':>11s}   {'/block':>11s}")
    for work in WORKS:
        table_of(work, ("sgld",) if options.quick else METHODS, rounds, seconds)
    wide_step(rounds, seconds)


if __name__ == "__main__":
    main()
