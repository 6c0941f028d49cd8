"""Regressions with crossed factors: seconds, effective draws, growth, memory; lme4 beside them.

    SGMC_DATA=... python benchmarks/crossed.py [--quick]

1. Published tables, from a table to ``str(summary())`` at default settings on one core: InstEval
   (`ols`, three factors), VerbAgg (`logit`) and MovieLens-100k (`ols` and `logit`), two factors.
   Target: seconds for 400 effective draws of the slowest parameter at most 60; `ols` is to be
   trusted and to take at most lme4's seconds, or 2: those of its fit alone, where R has it
   (Rscript).
2. `ols` of 5,000 simulated rows of 400 x 100 levels.
3. Simulated ratings like MovieLens's, popular items and busy users: 100,000 and 1,000,000 rows.
   Seconds, and what a fit adds to the peak of resident memory (Linux).

The exit status is 1 if a target is missed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from measured import timed

import sgmc

EFFECTIVE, SECONDS, LEAST = 400, 60, 2
DATA = Path(os.environ.get("SGMC_DATA", ""))
SHAPES = [(100_000, 1_000, 1_700), (1_000_000, 6_000, 4_000)]  # rows, users, items


def ratings():
    """MovieLens-100k: whether a rating is 4 or 5."""
    path = DATA / "movielens-100k" / "u.data.gz"
    frame = pd.read_csv(path, sep="\t", names=["user", "item", "rating", "time"])
    return frame.assign(y=(frame.rating >= 4).astype(int))


def grouped(name):
    """A table of the folder of grouped data."""
    return pd.read_csv(DATA / "grouped" / f"{name}.csv.gz")


# name: table, verb, formula, R's family (None: lmer)
PUBLISHED = {
    "InstEval": (
        lambda: grouped("insteval"),
        "ols",
        "y ~ service + (1 | s) + (1 | d) + (1 | dept)",
        None,
    ),
    "VerbAgg": (
        lambda: grouped("verbagg"),
        "logit",
        "r2 ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)",
        "binomial",
    ),
    "MovieLens-100k": (ratings, "logit", "y ~ 1 + (1 | user) + (1 | item)", "binomial"),
    "MovieLens-100k, ols": (ratings, "ols", "rating ~ 1 + (1 | user) + (1 | item)", None),
    "400 x 100, ols": (lambda: normal(5_000, 400, 100), "ols", "y ~ x + (1 | a) + (1 | b)", None),
}
QUICK = ("VerbAgg", "400 x 100, ols")
LME4 = """
suppressMessages(library(lme4))
d <- read.csv("{path}")
s <- system.time({call})
cat(s[["elapsed"]])
"""


def simulated(rows, users, items):
    """Outcomes of 0 and 1 of users and items, some of which have many rows."""
    rng = np.random.default_rng(0)
    share = [rng.gamma(0.7, size=k) for k in (users, items)]
    user, item = (rng.choice(len(p), rows, p=p / p.sum()) for p in share)
    x = rng.normal(size=rows)
    eta = 0.3 * x + 0.8 * rng.normal(size=users)[user] + rng.normal(size=items)[item]
    y = (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(int)
    return pd.DataFrame({"y": y, "x": x, "user": user, "item": item})


def normal(rows, *levels):
    """Normal outcomes of two factors."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, m, rows) for m in levels)
    x, effects = rng.normal(size=rows), [rng.normal(size=m) for m in levels]
    y = 1 + 0.5 * x + 0.7 * effects[0][a] + 0.4 * effects[1][b] + rng.normal(size=rows)
    return pd.DataFrame({"y": y, "x": x, "a": a, "b": b})


def ours(verb, formula, frame, **how):
    """Results whose summary is made."""
    results = getattr(sgmc, verb)(formula, frame, seed=1, **how)
    str(results.summary())
    return results


def by_lme4(frame, formula, family):
    """Seconds of lme4's fit, or None where R or lme4 is not there."""
    if shutil.which("Rscript") is None:
        return None
    call = f"lmer({formula}, d, REML=FALSE)"
    if family:
        call = f"glmer({formula}, d, {family}, control=glmerControl(calc.derivs=FALSE))"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        script = LME4.format(path=path, call=call)
        run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
    return None if run.returncode else float(run.stdout)


def shown(name, seconds, added, results, rival=None):
    """Print a line; seconds for EFFECTIVE draws of the slowest parameter."""
    least = float(np.min(results.ess()))
    needed = seconds * EFFECTIVE / least
    beside = "" if rival is None else f"{rival:9.1f}"
    print(
        f"{name:24s}{seconds:9.1f}{added:7.0f}{least:9.0f}{needed:9.1f}  "
        f"{results.verdict.text.split(':')[0][:45]:45s}{beside}",
        flush=True,
    )
    return needed


def main():
    """Print the tables; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables alone")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    missed = []
    print(f"{'':24s}{'seconds':>9}{'MB':>7}{'ESS':>9}{'for 400':>9}  {'verdict':45s}{'lme4, s':>9}")
    ours("logit", "y ~ x + (1 | user) + (1 | item)", simulated(2_000, 20, 30))  # imports
    for name, (table, verb, formula, family) in PUBLISHED.items():
        if quick and name not in QUICK:
            continue
        try:
            frame = table()
        except FileNotFoundError:
            print(f"{name}: no copy in SGMC_DATA")
            continue
        seconds, added, results = timed(lambda v=verb, f=formula, t=frame: ours(v, f, t))
        rival = None if quick else by_lme4(frame, formula, family)
        slow = shown(name, seconds, added, results, rival) > SECONDS
        if verb == "ols":
            slow |= not results.verdict or (rival is not None and seconds > max(rival, LEAST))
        if slow:
            missed.append(name)
    for shape in SHAPES[: 1 if quick else None]:
        frame = simulated(*shape)
        formula = "y ~ x + (1 | user) + (1 | item)"
        seconds, added, results = timed(lambda f=formula, t=frame: ours("logit", f, t))
        shown(" x ".join(f"{k:,}" for k in shape), seconds, added, results)
    print("\n".join(f"missed: {one}" for one in missed) or "all targets met")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
