"""Time of one step: sgmc's engine beside the best JAX that we could write, on one core in one process.

    python benchmarks/per_step.py [--quick] [--cpu 0]

Every figure is the best of many short rounds in which the contestants take turns, in microseconds a step, nothing recorded.
JAX runs many steps in one compiled loop, in float32 (its default), with the state on the device and its fastest random
generator.  "gather" is what the JAX packages do: n random rows a step.  "block" is sgmc's own idea given to JAX: n
consecutive rows.  Both are the best of several ways to write the products, and with control variates they keep the
stored scores as sgmc does.  sgmc's table is float64 unless the row says float32.  Targets are the project's for sgld,
met where our time over the peer's is at most that.  "one pass" reads the same bytes once by
BLAS, to which a Python call adds half a microsecond.
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

METHODS = {
    "sgld": (SGLD, Simple),
    "lmsgld": (LMSGLD, Simple),
    "sgld-cv": (SGLD, ControlVariate),
    "lmsgld-taylor": (LMSGLD, Taylor),
}
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

PRODUCTS = {              # form: (linear predictors of some rows, sum of the rows times r)
    "product": (lambda X, theta: X @ theta, lambda X, r: X.T @ r),
    "reduce": (lambda X, theta: (X * theta).sum(1), lambda X, r: (X * r[:, None]).sum(0)),
    "columns": (lambda X, theta: theta @ X, lambda X, r: X @ r),
}


def jax_sgld(X, y, n, h, batch, form, control):
    """SGLD in one compiled loop; `form` is how products are written, "columns" with the table transposed.

    With `control`, scores at zero and their full gradient are kept and serve as control variates.
    """
    N, d = X.shape
    axis = 1 if form == "columns" else 0
    predictors, weighted_sum = PRODUCTS[form]
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
        r = outcome - jax.nn.sigmoid(predictors(table, theta)) - stored
        g = known + N / n * weighted_sum(table, r) - theta
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
        for bits, data in ((64, X), (32, narrow)):
            contestants[method, bits] = sgmc_chain(data, y, work.n, h, method)
    for control in {METHODS[method][1] is not Simple for method in methods}:
        for batch, forms in FORMS.items():
            for form in forms:
                contestants[batch, form, control] = jax_sgld(narrow, y, work.n, h, batch, form, control)
    best = race(contestants, rounds, seconds)
    for method in methods:
        control = METHODS[method][1] is not Simple
        peers = [min(best[batch, form, control] for form in forms) for batch, forms in FORMS.items()]
        targets = (work.target, work.target32) if method == "sgld" else (None, None)
        line(f"{work} {method}", best[method, 64], peers, targets[0])
        line(f"{work} {method} float32", best[method, 32], peers, targets[1])
    line(f"{work} one pass", best["floor"])
    line(f"{work} one pass float32", best["floor32"])


def line(label, ours, peers=(), target=None, scale=1e6):
    """One line: our figure, the peers', our ratio to each, and the verdicts where there is a target."""
    cells = [f"{label:40s} {ours * scale:8.2f}", *(f"{peer * scale:8.2f}" for peer in peers)]
    for peer in peers:
        verdict = "" if target is None else "ok" if ours <= target * peer else "MISS"
        cells.append(f"{ours / peer:8.3f} {verdict:4s}")
    print(*cells, "" if target is None else f"target {target:.3f}", flush=True)


def wide_step(rounds, seconds):
    """Print the step at d = 50,000 in ns a coordinate; there is no table, so that only the generators of JAX differ."""
    jax_steps = {generator: jax_wide(WIDE, generator) for generator in ("threefry2x32", "rbg")}
    best = race({"sgmc": sgmc_wide(WIDE), "numpy": numpy_normals(WIDE), **jax_steps}, rounds, seconds)
    print("\nns a coordinate, beside the faster of JAX's generators")
    line(f"d={WIDE:,} gradient -x", best["sgmc"], [min(best[g] for g in jax_steps)], WIDE_TARGET, scale=1e9 / WIDE)
    line(f"d={WIDE:,} numpy's normals alone", best["numpy"], scale=1e9 / WIDE)


def main():
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="sgld alone, fewer rounds")
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    options = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.cpu})
    rounds, seconds = (10, 0.02) if options.quick else (40, 0.03)
    print(f"jax {jax.__version__}, numpy {np.__version__}; microseconds a step, and sgmc over each peer")
    print(f"{'':40s} {'sgmc':>8s} {'gather':>8s} {'block':>8s} {'/gather':>8s}      {'/block':>8s}")
    for work in WORKS:
        table_of(work, ("sgld",) if options.quick else METHODS, rounds, seconds)
    wide_step(rounds, seconds)


if __name__ == "__main__":
    main()
