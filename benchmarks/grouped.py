"""Regressions with group terms beside gpboost's point estimate: seconds, growth, memory.

    python benchmarks/grouped.py [--quick]

1. ``y ~ x0 + ... + x7 + (1 | g)``, logit, from a table to ``str(summary())``: the posterior with
   its verdict, beside the point estimate of gpboost (pip install gpboost) in the same process,
   whose design is given as arrays.  Target: less time than it, on one core, at a million rows in
   100,000 groups.
2. Growth with rows and with groups; what a fit adds to the peak of resident memory (Linux).
   Target: at most twice the table and 300 MB.
3. Predictions of 100,000 known and of 100,000 new levels by the fit of the largest shape: seconds,
   memory, and the correlation between two new levels' effects over draws.
4. ``y ~ x0 + x1 + (1 + x0 | g)``, 100,000 rows in 20, 100 and 1,000 groups, logit and poisson, at
   defaults.  Target: 10 s of processor time, trusted.
5. Published tables of a few hundred rows, where SGMC_DATA has them.  Target: half a second.
6. ``y ~ x + (1 | id)``, normal outcomes, a row a group, 200 groups.  Target: 1 s of processor time,
   trusted.
7. ``y ~ x + (1 | community/family)``, logit, 2,449 rows of 1,558 families in 161 communities.
   Target: 20 s of processor time, trusted.
8. ``y ~ x + (1 + x | g)``, normal outcomes and logit, 2,500 rows in 500 groups of five.
   Target: 5 and 25 s of processor time, trusted.

lme4's glmer is beside the smallest shape where R has it (Rscript): seconds of the fit alone, with
its fastest approximation (nAGQ=0) and with Laplace's.

The exit status is 1 if a target is missed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from measured import timed

import sgmc
from sgmc.core.system.memory import MB

SLOPES, SD = 8, 0.7
# rows and groups; the target is of the last
SHAPES = [(100_000, 10_000), (1_000_000, 10_000), (1_000_000, 100_000)]
MOST_MEMORY = 2, 300  # tables, and MB
SMALL_SECONDS = 0.5
SINGLE_ROWS, SINGLE_SECONDS = 200, 1.0
BIRTHS, FAMILIES, COMMUNITIES, NESTED_SECONDS = 2_449, 1_558, 161, 20.0
FIVES, PER_FIVE, FIVES_SECONDS = 500, 5, {"ols": 5.0, "logit": 25.0}
SLOPE_ROWS, SLOPE_GROUPS, SLOPE_SECONDS = 100_000, (20, 100, 1_000), 10.0
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


def ours(frame, verb="logit", formula=FORMULA):
    """The summary as text, and the results."""
    results = getattr(sgmc, verb)(formula, frame, seed=1)
    return str(results.summary()), results


def theirs(frame):
    """The point estimate of gpboost."""
    import gpboost

    X = np.column_stack([np.ones(len(frame)), frame.iloc[:, :SLOPES]])
    model = gpboost.GPModel(group_data=frame["g"].to_numpy(), likelihood="bernoulli_logit")
    model.fit(y=frame["y"].to_numpy(float), X=X)
    return model


LME4 = """
suppressMessages(library(lme4))
d <- read.csv("{path}")
for (n in 0:1) {{
  s <- system.time(glmer({formula}, d, binomial, nAGQ=n, control=glmerControl(calc.derivs=FALSE)))
  cat(s[["elapsed"]], "")
}}
"""


def by_lme4(frame):
    """Seconds of glmer with nAGQ=0 and nAGQ=1, or None where R or lme4 is not there."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        script = LME4.format(path=path, formula=FORMULA)
        run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
    return None if run.returncode else [float(one) for one in run.stdout.split()]


def predictions(results, frame):
    """Print what predictions of rows of known and of new levels take."""
    groups = frame["g"].nunique()
    rows = frame.drop_duplicates("g")
    for name, new in (("known", rows), ("new", rows.assign(g=rows.g + 10 * groups))):
        seconds, added, mean = timed(lambda new=new: results.predict(new))
        print(f"predict, {len(new):,} {name} levels: {seconds:.1f} s, {added:.0f} MB", flush=True)
        assert np.isfinite(mean).all()
    two = results.table_rows(rows.head(2).assign(g=[-1, -2]))
    [(_, eta)] = two.blocks()
    eta = eta - rows.iloc[:2, :SLOPES].to_numpy() @ results.flat[:, 1 : SLOPES + 1].T
    apart = np.corrcoef(eta - results.flat[:, 0])[0, 1]
    print(f"effects of two new levels: correlation {apart:.3f} over {two.m} draws")


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
        seconds, added, (_, results) = timed(lambda: ours(frame))
        other = timed(lambda: theirs(frame))[0] if rival else np.nan
        print(
            f"{rows:10,}{groups:9,}{seconds:9.2f}{added:7.0f}{bytes_of_table:7.0f}{other:8.2f}"
            f"{seconds / other:7.2f}  {results.verdict.text.split(':')[0]}",
            flush=True,
        )
        if (rows, groups) == SHAPES[0] and (found := by_lme4(frame)) is not None:
            print(f"lme4: {found[0]:.1f} s with nAGQ=0, {found[1]:.1f} s with nAGQ=1", flush=True)
        if (rows, groups) == SHAPES[-1] or quick:
            predictions(results, frame)
        if seconds > other and (rows, groups) == SHAPES[-1]:
            missed.append(f"{rows} rows: slower than the rival")
        if added > MOST_MEMORY[0] * bytes_of_table + MOST_MEMORY[1]:
            missed.append(f"{rows} rows: memory")
    return missed


def slopes(quick):
    """Print a line a shape with slopes of groups; the targets that are missed."""
    missed = []
    for groups in SLOPE_GROUPS[: 1 if quick else None]:
        rng = np.random.default_rng(1)
        g, X = rng.integers(0, groups, SLOPE_ROWS), rng.normal(size=(SLOPE_ROWS, 2))
        b = rng.normal(size=(groups, 2))[g] * [0.7, 0.4]
        eta = 0.5 * X[:, 0] - 0.2 * X[:, 1] - 0.3 + b[:, 0] + b[:, 1] * X[:, 0]
        frame = pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "g": g})
        binary = (rng.random(SLOPE_ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
        for verb, y in (("logit", binary), ("poisson", rng.poisson(np.exp(eta)))):
            begun = time.process_time()
            _, results = ours(frame.assign(y=y), verb, "y ~ x0 + x1 + (1 + x0 | g)")
            seconds, verdict = time.process_time() - begun, results.verdict
            name = f"{verb}, (1 + x0 | g), {groups:,} groups"
            print(f"{name}: {seconds:.1f} s, {verdict.text.split(':')[0]}", flush=True)
            if seconds > SLOPE_SECONDS or not verdict.trustworthy:
                missed.append(name)
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
        seconds, _, (_, results) = timed(lambda: ours(frame, verb, formula))
        print(f"{name}: {seconds:.2f} s, {results.verdict.text.split(':')[0]}")
        missed += [f"{name}: slow"] if seconds > SMALL_SECONDS else []
    return missed


def single_rows():
    """Print a line of groups that have a row each; the target if it is missed."""
    rng, n = np.random.default_rng(0), SINGLE_ROWS
    frame = pd.DataFrame({"x": rng.normal(size=n), "id": np.arange(n)})
    frame["y"] = 1 + 0.5 * frame.x + rng.normal(0, 0.7, n) + rng.normal(0, 0.7, n)
    begun = time.process_time()
    _, results = ours(frame, "ols", "y ~ x + (1 | id)")
    seconds, verdict = time.process_time() - begun, results.verdict
    print(f"a row a group: {seconds:.2f} s, {verdict.text.split(':')[0]}", flush=True)
    return [] if seconds <= SINGLE_SECONDS and verdict.trustworthy else ["a row a group"]


def births():
    """Print a line of many small groups in groups; the target if it is missed."""
    rng = np.random.default_rng(0)
    community = rng.integers(0, COMMUNITIES, FAMILIES)
    family = np.append(np.arange(FAMILIES), rng.integers(0, FAMILIES, BIRTHS - FAMILIES))
    frame = pd.DataFrame({"x": rng.normal(size=BIRTHS), "family": family})
    frame["community"] = community[family]
    eta = 0.3 + 0.5 * frame.x + 0.8 * rng.normal(size=COMMUNITIES)[frame.community]
    eta += 1.2 * rng.normal(size=FAMILIES)[family]
    frame["y"] = (rng.random(BIRTHS) < 1 / (1 + np.exp(-eta))).astype(int)
    begun = time.process_time()
    _, results = ours(frame, "logit", "y ~ x + (1 | community/family)")
    seconds, verdict = time.process_time() - begun, results.verdict
    print(f"families in communities: {seconds:.1f} s, {verdict.text.split(':')[0]}", flush=True)
    on_time = seconds <= NESTED_SECONDS and verdict.trustworthy
    return [] if on_time else ["families in communities"]


def fives():
    """Print a line a family of small groups with slopes; the targets that are missed."""
    rng, missed = np.random.default_rng(0), []
    g = np.repeat(np.arange(FIVES), PER_FIVE)
    frame = pd.DataFrame({"x": rng.normal(size=len(g)), "g": g})
    b = rng.normal(size=(FIVES, 2))[g] * [0.7, 0.4]
    eta = 0.3 + 0.5 * frame.x + b[:, 0] + b[:, 1] * frame.x
    normal = eta + 0.8 * rng.normal(size=len(g))
    binary = (rng.random(len(g)) < 1 / (1 + np.exp(-eta))).astype(int)
    for verb, y in (("ols", normal), ("logit", binary)):
        begun = time.process_time()
        _, results = ours(frame.assign(y=y), verb, "y ~ x + (1 + x | g)")
        seconds, verdict = time.process_time() - begun, results.verdict
        print(f"{verb}, groups of five: {seconds:.1f} s, {verdict.text.split(':')[0]}", flush=True)
        if seconds > FIVES_SECONDS[verb] or not verdict.trustworthy:
            missed.append(f"{verb}, groups of five")
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
    missed = [*large(chosen.quick), *slopes(chosen.quick), *small(), *single_rows()]
    missed += [] if chosen.quick else [*births(), *fives()]
    print("\n".join(f"missed: {one}" for one in missed) or "all targets met")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
