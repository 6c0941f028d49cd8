"""Memory of fits beside its forecast, and fits that have little time.

    python benchmarks/limits.py [--quick] [memory] [time]

1. Memory: for each shape a fresh process makes a table and a model, forgets its high-water mark
   (Linux) and fits.  The forecast is to be within 20 % of what the fit adds to the peak of resident
   memory.
2. Time: cases in which a fit has much less time than it would take.  From the call to the return it
   is to take no more than the limit, a tenth of it and half a second; there is to be a result, and
   trust only in draws of the sampler.

The exit status is 1 if a target is missed.  Processes use one core.
"""

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import time
import warnings
from functools import cache
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from scipy.sparse import random_array

import sgmc
from sgmc.core.system.memory import MB, resident

MEMORY_TARGET = 0.2  # of the measured peak
RELATIVE, ABSOLUTE = 0.1, 0.5  # of a time limit, and seconds
RESET = Path("/proc/self/clear_refs")
RANDOM = np.random.default_rng(0)


# ---- tables --------------------------------------------------------------------------------------


def binary(eta):
    """Outcomes of a linear predictor."""
    return (RANDOM.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)


@cache
def arrays(n, d):
    """(y, X) of a logistic regression."""
    X = RANDOM.normal(size=(n, d))
    X[:, 0] = 1
    return binary(X[:, 1]), X


@cache
def frame(n, d, levels):
    """A table of d numbers and a factor."""
    df = pd.DataFrame({f"x{j}": RANDOM.normal(size=n) for j in range(d)}, copy=False)
    df["g"] = pd.Categorical.from_codes(RANDOM.integers(0, levels, n), [*map(str, range(levels))])
    df["y"] = binary(df["x0"].to_numpy())
    return df


# ---- memory --------------------------------------------------------------------------------------

FEW = dict(draws=100, warmup=10)
# name: (rows, columns, levels of a factor or 0, class, arguments of the fit)
SHAPES = {
    "long": (1_000_000, 10, 0, "Logit", {}),
    "long, float32": (1_000_000, 10, 0, "Logit", dict(dtype="float32")),
    "long, mala": (1_000_000, 10, 0, "Logit", dict(sampler="mala", draws=50, warmup=20)),
    "longer, errors": (2_000_000, 3, 0, "OLS", {}),
    "counts": (500_000, 20, 0, "Poisson", {}),
    "categories": (300_000, 8, 0, "MNLogit", FEW),
    "uniform": (500_000, 20, 0, "Logit", dict(subsample="uniform")),
    "stratified": (500_000, 20, 0, "Logit", dict(subsample="stratified")),
    "robust": (500_000, 20, 0, "Logit", dict(cov_type="robust")),
    "diagonal": (500_000, 20, 0, "Logit", dict(precondition="diag")),
    "middling": (200_000, 50, 0, "Logit", FEW),
    "wide": (50_000, 200, 0, "Logit", FEW),
    "checks": (20_000, 100, 0, "Logit", {}),
    "matrices": (3_000, 300, 0, "Logit", dict(draws=500, warmup=10)),
    "many draws": (5_000, 10, 0, "Logit", dict(draws=50_000)),
    "factor of 50": (1_000_000, 4, 50, "Logit", {}),
    "factor of 100": (300_000, 2, 100, "Logit", FEW),
    "sparse": (500_000, 300, -1, "Logit", dict(draws=50, warmup=10, chains=2)),
}


def model_of(name):
    """The model of a shape."""
    n, d, levels, kind, _ = SHAPES[name]
    made = getattr(sgmc, kind)
    if levels > 0:
        terms = " + ".join(f"x{j}" for j in range(d))
        return made.from_formula(f"y ~ {terms} + g", frame(n, d, levels))
    y, X = arrays(n, 2 if levels else d)
    if levels:
        X = random_array((n, d), density=0.02, format="csr", rng=RANDOM)
    return made(RANDOM.integers(0, 4, n) if kind == "MNLogit" else y, X)


def measure(name):
    """Print forecast and measured peak of one shape as JSON."""
    warnings.simplefilter("ignore")
    sgmc.logit("y ~ x0 + g", frame(500, 2, 2), seed=1, draws=50).summary()  # loads all modules
    model, how = model_of(name), SHAPES[name][-1]
    forecast = model.memory(**how).total
    arrays.cache_clear()
    gc.collect()
    give_back()
    RESET.write_text("5")
    before = resident()[0]
    results = model.fit(seed=1, **how)
    assert results.memory.forecast == forecast
    print(json.dumps({"forecast": forecast, "peak": resident()[1] - before}))


def give_back():
    """Return to the system what the reading of a table has freed: a fit would use it again, and
    seem smaller than it is.  Only glibc is asked.
    """
    ctypes.CDLL(None).malloc_trim(0)


def memory(quick):
    """The table of memory; how many shapes are off."""
    missed = 0
    print(f"{'shape':<20} {'rows':>9} {'columns':>8} {'peak MB':>8} {'forecast':>9} {'ratio':>6}")
    for name in list(SHAPES)[:: 4 if quick else 1]:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", name], capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        ratio = found["forecast"] / found["peak"]
        off = abs(ratio - 1) > MEMORY_TARGET
        missed += off
        n, d, levels = SHAPES[name][:3]
        print(
            f"{name:<20} {n:>9} {d + max(levels - 1, 0):>8} {found['peak'] / MB:>8.0f} "
            f"{found['forecast'] / MB:>9.0f} {ratio:>6.2f}{'  missed' if off else ''}",
            flush=True,
        )
    return missed


# ---- time ----------------------------------------------------------------------------------------


class Slow(sgmc.Model):
    """A line with normal errors, by a user's function that takes its time."""

    parameters = {"slope": 5, "sigma": ()}
    constraints = {"sigma": "positive"}

    def __init__(self, seconds=0.02, n=500):
        self.X, self.n, self.seconds = RANDOM.normal(size=(n, 5)), n, seconds
        self.y = self.X[:, 0] + RANDOM.normal(size=n)

    def residuals(self, theta, rows):
        """Standardised."""
        time.sleep(self.seconds)
        return (self.y[rows] - self.X[rows] @ theta["slope"]) / theta["sigma"]

    def log_lik(self, theta, rows):
        """Log density."""
        e = self.residuals(theta, rows)
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        """Its gradient."""
        e, s = self.residuals(theta, rows), theta["sigma"]
        return {"slope": self.X[rows].T @ e / s, "sigma": (e @ e - len(e)) / s}


def logit(n, d):
    """A model of arrays."""
    return sgmc.Logit(*arrays(n, d))


def separated():
    """Outcomes that a column separates, and one that does so nearly."""
    y, X = arrays(50_000, 10)
    X = X.copy()
    X[:, 2], X[:, 3] = y, np.where(RANDOM.random(len(y)) < 0.999, y, 0)
    return sgmc.Logit(y, X)


def heavy():
    """Outliers that give a robust regression several modes."""
    X = RANDOM.normal(size=(20_000, 5))
    y = np.where(RANDOM.random(20_000) < 0.5, 1, -1) * 5 * X[:, 1] + RANDOM.normal(size=20_000)
    return sgmc.RLM(y, X)


def counts():
    """Documents."""
    return RANDOM.poisson(0.05, (500, 1000)) + np.eye(500, 1000, dtype=int)


def ratings():
    """Users and items."""
    pairs = RANDOM.permutation(500 * 400)[:40_000]
    return pd.DataFrame(
        dict(user=pairs // 400, item=pairs % 400, rating=RANDOM.normal(size=len(pairs)))
    )


def formula(n, d, levels, engine=None, **how):
    """A call of a verb: the formula is read within the limit."""
    df = frame(n, d, levels)
    table = df if engine is None else engine(df)
    return lambda **more: sgmc.logit("y ~ .", table, seed=1, **how, **more)


def named(n, terms, levels, others=2):
    """A call of a verb whose formula names factors g and h: the dot leaves out many levels."""
    df = frame(n, 1, levels)
    codes = RANDOM.integers(0, others, n)
    df = df.assign(h=pd.Categorical.from_codes(codes, [f"level{j}" for j in range(others)]))
    given = dict(seed=1, prior=sgmc.normal(0, 1))
    return lambda **more: sgmc.logit(f"y ~ x0 + {terms}", df, **given, **more)


def expressions(n, terms):
    """A call of a verb whose formula computes its columns."""
    df = frame(n, 4, 2)
    return lambda **more: sgmc.logit(f"y ~ {terms}", df, seed=1, **more)


def arrow(df):
    """A pyarrow table, or the frame where pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError:
        return df
    return pyarrow.Table.from_pandas(df)


def fit(make, **how):
    """A call of ``fit``."""
    model = make()
    return lambda **more: model.fit(seed=1, **how, **more)


def again():
    """``resume`` of a run that is long."""
    results = logit(100_000, 10).fit(seed=1, sampler="mala", draws=50)
    return lambda **more: results.resume(draws=100_000, **more)


# name: (seconds, function that makes the call)
CASES = {
    "nothing at all": (0.01, lambda: fit(lambda: logit(20_000, 10))),
    "from a formula": (0.01, lambda: formula(20_000, 10, 20)),
    "wide, 20,000 x 1,000": (2.0, lambda: fit(lambda: logit(20_000, 1000))),
    "wide, more time": (8.0, lambda: fit(lambda: logit(20_000, 1000))),
    "wide, normal errors": (2.0, lambda: fit(lambda: sgmc.OLS(*arrays(20_000, 300)))),
    "many rows, formula": (1.0, lambda: formula(1_000_000, 6, 30)),
    "arrow": (1.0, lambda: formula(300_000, 10, 20, arrow)),
    "a factor": (2.0, lambda: formula(100_000, 3, 200)),
    "1,200 levels": (2.0, lambda: named(50_000, "g", 1200)),
    "100,000 levels": (2.0, lambda: named(1_000_000, "g", 100_000)),
    "50 x 300 cells": (2.0, lambda: named(1_000_000, "g * h", 50, 300)),
    "cells, more time": (5.0, lambda: named(1_000_000, "g * h", 50, 300)),
    "100,000 and 300 levels": (5.0, lambda: named(1_000_000, "g + h", 100_000, 300)),
    "expressions": (
        0.5,
        lambda: expressions(3_000_000, "np.log(x0**2) + np.sin(x1) * np.cos(x2) + bs(x3, df=8)"),
    ),
    "smooths": (0.5, lambda: expressions(1_000_000, "s(x0) + te(x1, x2)")),
    "separation": (0.2, lambda: fit(separated)),
    "several modes": (1.0, lambda: fit(heavy, modes="search")),
    "horseshoe": (1.0, lambda: fit(lambda: logit(20_000, 40), prior="horseshoe")),
    "robust": (0.5, lambda: fit(lambda: logit(200_000, 30), cov_type="robust")),
    "warmup without end": (1.0, lambda: fit(lambda: logit(20_000, 10), warmup=10**7)),
    "exact, 8 chains": (
        1.0,
        lambda: fit(lambda: logit(300_000, 20), sampler="hmc", chains=8, threads=2),
    ),
    "zigzag": (1.0, lambda: fit(lambda: logit(20_000, 10), sampler="zigzag", draws=10**5)),
    "bouncy particle": (1.0, lambda: fit(lambda: logit(20_000, 10), sampler="bps", draws=10**5)),
    "a race": (2.0, lambda: fit(lambda: logit(300_000, 20), sampler="sgld", tune="mamba")),
    "slow user model": (2.0, lambda: fit(Slow)),
    "slow, mini-batches": (4.0, lambda: fit(Slow, sampler="sgld")),
    "slow, to the checks": (20.0, lambda: fit(Slow, sampler="mala", draws=100, warmup=20)),
    "hidden states": (
        1.0,
        lambda: fit(lambda: sgmc.HMM(RANDOM.normal(size=20_000), states=3)),
    ),
    "topics": (1.0, lambda: fit(lambda: sgmc.LDA(counts(), topics=20))),
    "factors of ratings": (1.0, lambda: fit(lambda: sgmc.BPMF(ratings(), dim=10))),
    "network": (
        1.0,
        lambda: fit(lambda: sgmc.BNN(arrays(20_000, 50)[1], arrays(20_000, 50)[0].astype(int))),
    ),
    "checks of many draws": (3.0, lambda: fit(lambda: logit(5_000, 150), draws=10**5, thin=1)),
    "resume": (1.0, again),
}


def times(quick):
    """The table of cases; how many were late, or trusted what they had not."""
    missed = 0
    logit(1000, 3).fit(seed=1).summary()
    print(f"\n{'case':<24} {'limit':>6} {'seconds':>8} {'draws':>12}  what they are")
    for name, (limit, make) in list(CASES.items())[:: 3 if quick else 1]:
        call = make()
        begun = time.perf_counter()
        results = call(time_limit=limit, progress=False)
        seconds = time.perf_counter() - begun
        late = seconds > (1 + RELATIVE) * limit + ABSOLUTE
        wrong = bool(results.stand_in) and results.verdict.trustworthy
        missed += late or wrong
        chains, draws, _ = results.draws.shape
        what = results.stand_in or str(results.verdict)
        print(
            f"{name:<24} {limit:>6g} {seconds:>8.2f} {f'{chains} x {draws}':>12}  "
            f"{'LATE ' if late else ''}{what[:60]}",
            flush=True,
        )
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["memory", "time", []], default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.measure)
        return 0
    warnings.simplefilter("ignore")
    parts = {"memory": memory, "time": times}
    missed = sum(parts[name](asked.quick) for name in asked.parts or parts)
    print(f"\n{missed} targets missed" if missed else "\nall targets met")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
