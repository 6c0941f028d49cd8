"""Time of one step: every sampler of sgmc beside its sgld,
and sgmc beside JAX, on one core in one process.

    python benchmarks/per_step.py [--quick] [--cpu 0]

Every figure is the best of many short rounds in which the contestants take turns, in microseconds a
step, nothing recorded.

1. Samplers: every stochastic sampler of the registry with every choice of its parameters, and sgld
   with every gradient estimator.  A step computes k n row gradients (counted, the passes over all
   rows of svrg included); its time over k, over that of sgld, is to be at most 1.5.
2. Rows: sgld with every subsampling scheme.
3. Samplers beside JAX: rivals.py has them.  "JAX" is the fastest that we could write with n random
   rows for a gradient, as the packages draw them; "BlackJAX" is that package.  The faster of both
   is to take at least twice our time.
4. sgld at other sizes.  "gather" is the "JAX" of 3; "block" is sgmc's own idea given to JAX, n
   consecutive rows, which no package does.  "one pass" reads the same bytes once, predictors and
   outcomes, by BLAS, to which two Python calls add a microsecond.
5. A step at d = 50,000 whose gradient costs nothing, beside the faster of JAX's generators.

sgmc's table is float64 unless a row says float32, JAX's is float32.  The exit status is 1 if a
target is missed.
"""

import argparse
import itertools
import os
import sys
import time
from dataclasses import dataclass
from functools import cache, cached_property

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import jax
import numpy as np
from rivals import FORMS, KERNELS, blackjax_steps, jax_steps, jax_wide
from scipy.sparse import csr_array

from sgmc.coordinates.priors.densities import Quadratic
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.registry import room

SAMPLERS, GRADIENTS, SCHEMES = room("samplers"), room("gradients"), room("subsampling")
PER_GRADIENT = 1.5  # of sgld's time
OF_JAX = 1 / 2
N, D, BATCH = 10**6, 10, 1_000
WIDE = 50_000  # coordinates of the step with a trivial gradient


@dataclass(frozen=True)
class Size:
    """N rows and d columns, batches of n, and the largest ratios to JAX's "gather" that sgld is to
    have.
    """

    N: int
    d: int
    n: int
    target: float
    target32: float | None = None  # of the float32 table

    def __str__(self):
        return f"N={self.N:.0e} d={self.d} n={self.n:,}".replace("e+0", "e")


SIZES = (
    Size(N, D, BATCH, 1 / 3),
    Size(N, D, 10_000, 1 / 8),
    Size(10**5, 100, 1_000, 3 / 4, 1 / 2),
    Size(10**5, 10, 100, 1 / 3),
)


# ---- the race ------------------------------------------------------------------------------------


def race(contestants, rounds, seconds, multiple=1):
    """Least seconds a step of each contestant, a function of the number of steps;
    they take turns, round by round.

    Turns have a multiple of some number of steps, so that what is due every so many steps is in all
    of them.
    """
    steps, best = {}, dict.fromkeys(contestants, np.inf)
    for name, run in contestants.items():
        run(2)  # compiles, and loads the caches
        steps[name] = multiple
        while (spent := clocked(run, steps[name])) < seconds / 4:
            steps[name] *= 4
        steps[name] = multiple * max(1, round(steps[name] * seconds / spent / multiple))
    for _ in range(rounds):
        for name, run in contestants.items():
            best[name] = min(best[name], clocked(run, steps[name]) / steps[name])
    return best


def clocked(run, steps):
    """Seconds that so many steps take."""
    begun = time.perf_counter()
    run(steps)
    return time.perf_counter() - begun


# ---- sgmc ----------------------------------------------------------------------------------------


class Posterior:
    """A logistic regression with N(0, 1) priors, its mode near zero, and what its chains share."""

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.N, self.d = X.shape
        self.model = BernoulliLogit(design(X), y)

    @cached_property
    def anchor(self):
        """Serves every estimator."""
        return Anchor(self.model, np.zeros(self.d), True)

    @cache
    def shared(self, scheme):
        """What a subsampling scheme must know: the size of each row, strata by the outcome."""
        known = {"strata": self.y, "spread": np.ones(2)}
        if "sizes" in scheme.needs:
            known["sizes"] = np.linalg.norm(self.X, axis=1)
        return scheme.share(**{need: known[need] for need in scheme.needs})

    def chain(self, spec, n, gradient="simple", scheme="block"):
        """A chain at the mode, without a recorder,
        in steps of a tenth of the precision of a row.
        """
        rng = Rng(seed_sequence(1, "chain"))
        estimator, scheme = GRADIENTS[gradient], SCHEMES[scheme]
        rows = scheme(self.N, n, self.shared(scheme)) if scheme.needs else scheme(self.N, n)
        anchor = self.anchor if "anchor" in estimator.needs else None
        estimate = estimator(
            self.model, Quadratic(np.ones(self.d), np.zeros(self.d)), rows, rng, anchor=anchor
        )
        step = spec.from_langevin(0.1 / self.N)
        return Chain(np.zeros(self.d), spec.build(self.d, step), estimate, rng, Constant(step))


def runner(chain):
    """The chain as a contestant, which must not diverge."""

    def run(steps):
        if chain.run(steps, record=False):
            raise ArithmeticError(f"status {chain.status} after {chain.steps} steps")

    return run


def coins(N, d):
    """Normal predictors, and outcomes that are coins, so that the mode is near zero."""
    random = np.random.default_rng(0)
    return random.standard_normal((N, d)), (random.random(N) < 0.5).astype(float)


def variants():
    """Stochastic samplers with every combination of their choices, by name:
    what differs from the default.
    """
    found = {}
    for cls in SAMPLERS.values():
        choices = [[(p.name, choice) for choice in p.choices] for p in cls.parameters if p.choices]
        for some in map(dict, itertools.product(*choices)):
            try:
                spec = cls(**some)
                spec.from_langevin(1.0)
            except ArgumentError:  # choices that do not go together, or with this step
                continue
            if spec.minibatches and not spec.continuous and not spec.refusal(None):
                changed = [
                    f"{p.name}={some[p.name]}"
                    for p in cls.parameters
                    if p.choices and some[p.name] != p.default
                ]
                found[" ".join([cls.name, *changed])] = spec
    return found


# ---- what memory and noise alone cost ------------------------------------------------------------


def one_pass(X, y, n):
    """One read of n random consecutive rows and their outcomes, by BLAS."""
    flat, d = X.ravel(), X.shape[1]
    starts = np.random.default_rng(1).integers(0, len(X) - n + 1, 4096).tolist()

    def run(steps):
        for k in range(steps):
            start = starts[k % 4096]
            block, outcomes = flat[start * d :][: n * d], y[start : start + n]
            np.dot(block, block)
            np.dot(outcomes, outcomes)

    return run


def numpy_normals(d):
    """d float64 normals by numpy's default generator."""
    rng, out = np.random.default_rng(1), np.empty(d)

    def run(steps):
        for _ in range(steps):
            rng.standard_normal(out=out)

    return run


# ---- the tables ----------------------------------------------------------------------------------


class Report:
    """Prints lines and counts missed targets."""

    def __init__(self):
        self.missed = []

    def line(self, label, *numbers, ratios=(), target=None):
        """Times, ratios, and what the first ratio is to a target."""
        verdict = "" if target is None else "ok" if ratios[0] <= target else "MISS"
        if verdict == "MISS":
            self.missed.append(label)
        cells = [f"{label:42s}", *(f"{x:8.2f}" for x in numbers), *(f"{x:8.3f}" for x in ratios)]
        print(*cells, "" if target is None else f"{verdict} (at most {target:.3g})", flush=True)

    @staticmethod
    def head(title, *columns):
        """The title of a table, and of its columns."""
        print(f"\n{title}\n{'':42s}", *(f"{c:>8s}" for c in columns), flush=True)


def samplers_table(report, posterior, rounds, seconds):
    """Every sampler a gradient, and sgld with every estimator, beside sgld."""
    chains = {name: posterior.chain(spec, BATCH) for name, spec in variants().items()}
    chains |= {
        f"sgld-{name}": posterior.chain(SAMPLERS["sgld"](), BATCH, name)
        for name in GRADIENTS
        if name != "simple"
    }
    best = race(
        {name: runner(chain) for name, chain in chains.items()}, rounds, seconds, N // BATCH
    )
    report.head(
        "us a step, gradients a step k, us a gradient, over sgld", "step", "k", "gradient", "/sgld"
    )
    for name, chain in chains.items():
        k = chain.gradient.touched / chain.steps / BATCH
        a_gradient = best[name] / k
        report.line(
            name,
            1e6 * best[name],
            k,
            1e6 * a_gradient,
            ratios=[a_gradient / best["sgld"]],
            target=PER_GRADIENT,
        )


def rows_table(report, posterior, rounds, seconds):
    """sgld with every subsampling scheme."""
    best = race(
        {name: runner(posterior.chain(SAMPLERS["sgld"](), BATCH, scheme=name)) for name in SCHEMES},
        rounds,
        seconds,
    )
    report.head("sgld, us a step, over blocks", "step", "/block")
    for name, spent in best.items():
        report.line(f"sgld, rows by {name}", 1e6 * spent, ratios=[spent / best["block"]])


def rivals_table(report, posterior, rounds, seconds):
    """sgld, sgld-cv, sghmc and sgnht beside JAX and BlackJAX."""
    h, narrow, contestants = 0.1 / N, posterior.X.astype(np.float32), {}
    rivals = [(kernel, False) for kernel in KERNELS] + [("sgld", True)]
    for kernel, control in rivals:
        ours = posterior.chain(SAMPLERS[kernel](), BATCH, "cv" if control else "simple")
        contestants[kernel, control, "sgmc"] = runner(ours)
        contestants[kernel, control, "BlackJAX"] = blackjax_steps(
            kernel, narrow, posterior.y, BATCH, h, control
        )
        for form in FORMS["gather"]:
            contestants[kernel, control, form] = jax_steps(
                kernel, narrow, posterior.y, BATCH, h, form=form, control=control
            )
    best = race(contestants, rounds, seconds)
    report.head("us a step, and over the faster peer", "sgmc", "JAX", "BlackJAX", "ratio")
    for kernel, control in rivals:
        ours, package = best[kernel, control, "sgmc"], best[kernel, control, "BlackJAX"]
        hand = min(best[kernel, control, form] for form in FORMS["gather"])
        report.line(
            kernel + "-cv" * control,
            1e6 * ours,
            1e6 * hand,
            1e6 * package,
            ratios=[ours / min(hand, package)],
            target=OF_JAX,
        )


def sizes_table(report, size, rounds, seconds):
    """sgld in float64 and float32 beside JAX, in random and in consecutive rows."""
    X, y = coins(size.N, size.d)
    narrow, h = X.astype(np.float32), 0.1 / size.N
    contestants = {
        ("one pass", ""): one_pass(X, y, size.n),
        ("one pass", " float32"): one_pass(narrow, y, size.n),
    }
    for bits, table in (("", X), (" float32", narrow)):
        contestants["sgld", bits] = runner(Posterior(table, y).chain(SAMPLERS["sgld"](), size.n))
    for batch, forms in FORMS.items():
        for form in forms:
            contestants[batch, form] = jax_steps(
                "sgld", narrow, y, size.n, h, batch=batch, form=form
            )
    best = race(contestants, rounds, seconds)
    gather, block = (min(best[batch, form] for form in forms) for batch, forms in FORMS.items())
    for bits, target in (("", size.target), (" float32", size.target32)):
        ours = best["sgld", bits]
        report.line(
            f"{size}{bits}",
            1e6 * ours,
            1e6 * gather,
            1e6 * block,
            1e6 * best["one pass", bits],
            ratios=[ours / gather, ours / block],
            target=target,
        )


def wide_table(report, rounds, seconds):
    """sgld with the gradient -x: the only row of the table is one number."""
    chain = Posterior(csr_array(([1.0], ([0], [0])), shape=(1, WIDE)), np.ones(1)).chain(
        SAMPLERS["sgld"](), 1
    )
    peers = {generator: jax_wide(WIDE, generator) for generator in ("threefry2x32", "rbg")}
    best = race({"sgmc": runner(chain), "numpy": numpy_normals(WIDE), **peers}, rounds, seconds)
    ours, jax_time = best["sgmc"], min(best[generator] for generator in peers)
    report.head("ns a coordinate", "sgmc", "JAX", "normals", "ratio")
    report.line(
        f"sgld d={WIDE:,}, gradient -x",
        *(1e9 / WIDE * t for t in (ours, jax_time, best["numpy"])),
        ratios=[ours / jax_time],
        target=OF_JAX,
    )


def main():
    """Print the tables; the exit status says whether all targets are met."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="fewer rounds, no other sizes")
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    options = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.cpu})
    rounds, report, posterior = 10 if options.quick else 60, Report(), Posterior(*coins(N, D))
    print(
        f"jax {jax.__version__}, numpy {np.__version__}; {Size(N, D, BATCH, 1)} where no size is "
        "given"
    )
    samplers_table(report, posterior, rounds, 0.004)
    rows_table(report, posterior, rounds, 0.01)
    rivals_table(report, posterior, rounds, 0.01)
    if not options.quick:
        report.head(
            "sgld, us a step, and sgmc over JAX",
            "sgmc",
            "gather",
            "block",
            "one pass",
            "/gather",
            "/block",
        )
        for size in SIZES:
            sizes_table(report, size, rounds, 0.01)
    wide_table(report, rounds, 0.02)
    print(f"\n{len(report.missed)} targets missed", *report.missed, sep="\n")
    return bool(report.missed)


if __name__ == "__main__":
    sys.exit(main())
