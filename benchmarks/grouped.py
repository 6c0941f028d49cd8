"""Regressions with group terms beside gpboost's point estimate: seconds, growth, memory.

    python benchmarks/grouped.py [--quick]

1. ``y ~ x0 + ... + x7 + (1 | g)``, logit, from a table to ``str(summary())``: the posterior with
   its verdict, beside the point estimate of gpboost (pip install gpboost) in the same process,
   whose design is given as arrays.  Target: less time than it, on one core, at a million rows in
   100,000 groups.
2. Growth with rows and with groups; what a fit adds to the peak of resident memory (Linux).
   Target: at most twice the table and 300 MB.
3. Published tables of a few hundred rows, where SGMC_DATA has them.  Target: half a second.

The exit status is 1 if a target is missed.
"""

import argparse
import gc
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

import sgmc
from sgmc.core.memory import MB, resident

SLOPES, SD = 8, 0.7
# rows and groups; the target is of the last
SHAPES = [(100_000, 10_000), (1_000_000, 10_000), (1_000_000, 100_000)]
RESET = Path("/proc/self/clear_refs")  # forgets the high-water mark
MOST_MEMORY = 2, 300  # tables, and MB
SMALL_SECONDS = 0.5
FORMULA = f"y ~ {' + '.join(f'x{j}' for j in range(SLOPES))} + (1 | g)"
PUBLISHED = {
    "sleepstudy": ("ols", "Reaction ~ Days + (1 + Days | Subject)"),
    "cbpp": ("logit", "incidence + others ~ C(period) + (1 | herd)"),
}


def table(rows, groups):
    """Outcomes of a logit with eight slopes and groups."""
    rng = np.random.default_rng(0)
    X, g = rng.normal(size=(rows, SLOPES)), rng.integers(0, groups, rows)
    eta = X @ (0.3 * rng.normal(size=SLOPES)) + SD * rng.normal(size=groups)[g] - 0.5
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(SLOPES)], copy=False)
    return frame.assign(g=g, y=(rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(int))


def timed(work):
    """Seconds of some work, MB that it adds to the peak (NaN if unknown), its value."""
    gc.collect()
    if RESET.exists():
        RESET.write_text("5")
    begun, clock = resident()[0], time.perf_counter()
    value = work()
    return time.perf_counter() - clock, (resident()[1] - begun) / MB, value


def ours(frame, verb="logit", formula=FORMULA):
    """The summary as text, and its verdict."""
    results = getattr(sgmc, verb)(formula, frame, seed=1)
    return str(results.summary()), results.verdict


def theirs(frame):
    """The point estimate of gpboost."""
    import gpboost

    X = np.column_stack([np.ones(len(frame)), frame.iloc[:, :SLOPES]])
    model = gpboost.GPModel(group_data=frame["g"].to_numpy(), likelihood="bernoulli_logit")
    model.fit(y=frame["y"].to_numpy(float), X=X)
    return model


def has_rival():
    """Whether gpboost is installed."""
    try:
        import gpboost  # noqa: F401
    except ImportError:
        return False
    return True


def large(quick):
    """Print a line a shape; the targets that are missed."""
    missed, rival = [], has_rival()
    if not rival:
        print("gpboost is not installed: no rival")
    print(f"{'rows':>10}{'groups':>9}{'seconds':>9}{'MB':>7}{'table':>7}{'rival':>8}{'ratio':>7}")
    for rows, groups in SHAPES[: 1 if quick else None]:
        frame = table(rows, groups)
        bytes_of_table = frame.memory_usage().sum() / MB
        seconds, added, (_, verdict) = timed(lambda: ours(frame))
        other = timed(lambda: theirs(frame))[0] if rival else np.nan
        print(
            f"{rows:10,}{groups:9,}{seconds:9.2f}{added:7.0f}{bytes_of_table:7.0f}{other:8.2f}"
            f"{seconds / other:7.2f}  {verdict.text.split(':')[0]}",
            flush=True,
        )
        if seconds > other and (rows, groups) == SHAPES[-1]:
            missed.append(f"{rows} rows: slower than the rival")
        if added > MOST_MEMORY[0] * bytes_of_table + MOST_MEMORY[1]:
            missed.append(f"{rows} rows: memory")
    return missed


def small():
    """Print a line a published table; the targets that are missed."""
    missed, folder = [], Path(os.environ.get("SGMC_DATA", "")) / "grouped"
    for name, (verb, formula) in PUBLISHED.items():
        path = folder / f"{name}.csv"
        if not path.exists():
            print(f"{name}: no copy in SGMC_DATA")
            continue
        frame = pd.read_csv(path)
        if name == "cbpp":
            frame["others"] = frame["size"] - frame["incidence"]
        seconds, _, (_, verdict) = timed(lambda: ours(frame, verb, formula))
        print(f"{name}: {seconds:.2f} s, {verdict.text.split(':')[0]}")
        missed += [f"{name}: slow"] if seconds > SMALL_SECONDS else []
    return missed


def main():
    """Print the tables; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest shape alone")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ours(table(2_000, 50))  # imports
    missed = [*large(chosen.quick), *small()]
    print("\n".join(f"missed: {one}" for one in missed) or "all targets met")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
