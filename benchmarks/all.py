"""The shapes that people have, each beside a rival in one run: CPU seconds, and what is missed.

    SGMC_DATA=... python benchmarks/all.py [--quick] [--only TEXT]

From a table to the text of a summary at default settings, on one core, beside a point estimate:
gpboost, lme4's lmer and glmer, mgcv's bam(discrete=TRUE), scikit-learn's BayesianRidge.  Rivals
that are not installed are left out (R with lme4 and mgcv by Rscript, whose own start is not
counted).  A target is a number of times the rival's CPU time, and seconds that are added to it.
`--quick` leaves out works of more than a few seconds.  The exit status is 1 if a target is missed.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

import sgmc

SHORT = 1.0  # seconds: shorter works run three times, in turns with the rival, and the least counts
NAN = float("nan")
DATA = Path(os.environ.get("SGMC_DATA", "no data"))
FRESH = """
import pandas, sgmc
print(sgmc.logit("affairs > 0 ~ .", sgmc.datasets.load("fair"), seed=1).summary())
"""


@dataclass(frozen=True)
class Work:
    """A row of the table.

    Attributes
    ----------
    name : str
    table : callable
        Makes the data, which are not timed.
    ours : callable
        From the data to results.
    rival : str
        Its name; empty where there is none.
    theirs : callable or None
        From the data to CPU seconds, or to anything, whose CPU time is then measured.
    times, more : float
        The target: so many times the rival's CPU time, and seconds besides.
    long : bool
        Left out with `--quick`.
    """

    name: str
    table: Callable
    ours: Callable
    rival: str = ""
    theirs: Callable | None = None
    times: float = 0.0
    more: float = 0.0
    long: bool = False


# ---- tables --------------------------------------------------------------------------------------


def grouped(rows, groups, text=False):
    """Binary and normal outcomes of one slope and groups."""
    rng = np.random.default_rng(1)
    g, x = rng.integers(0, groups, rows), rng.normal(size=rows)
    eta = 0.3 * x - 0.5 + 0.5 * rng.normal(size=groups)[g]
    level = np.array([f"level {k}" for k in range(groups)])[g] if text else g
    binary = (rng.random(rows) < 1 / (1 + np.exp(-eta))) * 1
    return pd.DataFrame({"x": x, "g": level, "b": binary, "y": eta + rng.normal(size=rows)})


def curved(rows):
    """Normal, binary and count outcomes of a curve and a slope."""
    rng = np.random.default_rng(1)
    x, z = rng.uniform(size=rows), rng.normal(size=rows)
    eta = np.sin(6 * x) + 0.3 * z
    y, c = eta + rng.normal(size=rows), rng.poisson(np.exp(0.5 * eta))
    b = (rng.random(rows) < 1 / (1 + np.exp(-eta))) * 1
    return pd.DataFrame({"x": x, "z": z, "y": y, "b": b, "c": c})


def plain(rows, columns, effects=20):
    """Normal and binary outcomes of columns, some of which have effects."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    eta = X[:, :effects] @ rng.normal(size=min(effects, columns)) / 3
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    b = (rng.random(rows) < 1 / (1 + np.exp(-eta))) * 1
    return frame.assign(y=eta + rng.normal(size=rows)), b


def crossed(users, items, rows):
    """Normal outcomes of two crossed factors."""
    rng = np.random.default_rng(1)
    u, i, x = rng.integers(0, users, rows), rng.integers(0, items, rows), rng.normal(size=rows)
    y = 0.3 * x + 0.7 * rng.normal(size=users)[u] + 0.5 * rng.normal(size=items)[i]
    return pd.DataFrame({"x": x, "u": u, "i": i, "y": y + rng.normal(size=rows)})


def sloped(subjects, items, rows):
    """Normal and binary outcomes of slopes by subject, beside items."""
    rng = np.random.default_rng(1)
    u, i, x = rng.integers(0, subjects, rows), rng.integers(0, items, rows), rng.normal(size=rows)
    level, slope = rng.normal(size=subjects), 0.4 * rng.normal(size=subjects)
    eta = 0.3 * x + 0.8 * level[u] + (slope + 0.2 * level)[u] * x
    b = (rng.random(rows) < 1 / (1 + np.exp(-eta))) * 1
    y = eta + 0.5 * rng.normal(size=items)[i] + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "u": u, "i": i, "y": y, "b": b})


def nested(rows, inner, outer):
    """Binary outcomes of families in communities."""
    rng = np.random.default_rng(1)
    f = rng.integers(0, inner, rows)
    c = (np.arange(inner) % outer)[f]
    eta = 0.8 * rng.normal(size=inner)[f] + 0.6 * rng.normal(size=outer)[c]
    x = rng.normal(size=rows)
    b = (rng.random(rows) < 1 / (1 + np.exp(-0.4 * x - eta))) * 1
    return pd.DataFrame({"x": x, "f": f, "c": c, "b": b})


def insteval():
    """Students' marks of lecturers; None where it is not there."""
    found = next(iter(DATA.rglob("insteval.csv*")), None)
    return None if found is None else pd.read_csv(found)


def movielens():
    """Ratings of films by users; None where they are not there."""
    found = next(iter(DATA.rglob("u.data*")), None)
    names = ["user", "item", "rating", "time"]
    return None if found is None else pd.read_csv(found, sep="\t", names=names)


# ---- rivals --------------------------------------------------------------------------------------


def gpboost(frame):
    """The point estimate of a logit with one factor."""
    from gpboost import GPModel

    X = np.column_stack([np.ones(len(frame)), frame.x])
    model = GPModel(group_data=frame.g.to_numpy(), likelihood="bernoulli_logit")
    return model.fit(y=frame.b.to_numpy(float), X=X)


def ridge(frame):
    """scikit-learn's estimate of coefficients with one sd."""
    from sklearn.linear_model import BayesianRidge

    return BayesianRidge().fit(frame.drop(columns="y").to_numpy(), frame.y.to_numpy())


def by_r(library, call):
    """CPU seconds of a call of R with the table as `d`."""

    def seconds(frame):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            frame.to_csv(path, index=False)
            script = (
                f"suppressMessages(library({library})); d <- read.csv('{path}');"
                f"s <- system.time({call}); cat(s[['user.self']] + s[['sys.self']])"
            )
            run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        return NAN if run.returncode else float(run.stdout.split()[-1])

    return seconds


def fresh(code):
    """CPU seconds of a fresh interpreter, which finds bytecode, as of an installed package."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def missing(rival):
    """Whether a rival is not installed."""
    if rival in ("lmer", "glmer", "bam"):
        library = "mgcv" if rival == "bam" else "lme4"
        return shutil.which("Rscript") is None or bool(
            subprocess.run(["Rscript", "-e", f"library({library})"], capture_output=True).returncode
        )
    try:
        __import__({"BayesianRidge": "sklearn"}.get(rival, rival))
    except ImportError:
        return True
    return False


# ---- the works -----------------------------------------------------------------------------------


def fit(verb, formula, **more):
    """Fit a formula to the data."""
    return lambda frame: getattr(sgmc, verb)(formula, frame, seed=1, progress=False, **more)


def of_groups(rows, groups, text=False, times=1.5, more=0.3, long=False):
    """A logit with one factor beside gpboost."""
    name = f"logit x + (1|g), {rows:,} rows, {groups:,} {'texts' if text else 'groups'}"

    def table():
        return grouped(rows, groups, text)

    ours = fit("logit", "b ~ x + (1 | g)")
    return Work(name, table, ours, "gpboost", gpboost, times, more, long)


def of_curve(verb, outcome, family, times, more):
    """A smooth and a slope beside bam."""
    call = f"bam({outcome} ~ s(x, k=10) + z, data=d, family={family}, discrete=TRUE)"
    name = f"{verb} s(x) + z, 100,000 rows"
    ours = fit(verb, f"{outcome} ~ s(x) + z")
    return Work(name, lambda: curved(100_000), ours, "bam", by_r("mgcv", call), times, more)


def slopes(rows, seconds):
    """Ten average slopes after the fit, which is not timed."""

    def table():
        frame, b = plain(rows, 10)
        columns = " + ".join(f"x{j}" for j in range(10))
        return sgmc.logit(f"b ~ {columns}", frame.assign(b=b), seed=1, progress=False)

    return Work(
        f"ten average slopes, {rows:,} rows", table, lambda res: res.avg_slopes(), more=seconds
    )


def lmer(formula):
    """lmer's point estimate."""
    return by_r("lme4", f"lmer({formula}, d, control=lmerControl(calc.derivs=FALSE))")


MARKS = "y ~ service + (1 | s) + (1 | d) + (1 | dept)"
WORKS = [
    *(of_groups(100_000, groups) for groups in (20, 100, 1_000, 10_000)),
    of_groups(1_000_000, 20, times=0, more=3, long=True),
    of_groups(300_000, 1_000, text=True, times=0, more=1.5),
    of_groups(300_000, 100_000, text=True, times=0, more=3, long=True),
    Work(
        "ols, 100,000 x 20",
        lambda: plain(100_000, 20)[0],
        fit("ols", "y ~ ."),
        "BayesianRidge",
        ridge,
        2,
    ),
    *(
        Work(
            f"ols ridge, {n:,} x {d}",
            lambda n=n, d=d: plain(n, d)[0],
            lambda frame: sgmc.ols(
                "y ~ .", frame, prior={"*": sgmc.ridge()}, seed=1, progress=False
            ),
            "BayesianRidge",
            ridge,
            5,
            1,
        )
        for n, d in ((200, 500), (100_000, 50))
    ),
    of_curve("ols", "y", "gaussian()", 0, 0.3),
    of_curve("logit", "b", "binomial()", 3, 0.3),
    of_curve("poisson", "c", "poisson()", 3, 0.3),
    Work(
        "ols 400 x 100 crossed, 10,000 rows",
        lambda: crossed(400, 100, 10_000),
        fit("ols", "y ~ x + (1 | u) + (1 | i)"),
        "lmer",
        lmer("y ~ x + (1 | u) + (1 | i)"),
        1,
        2,
    ),
    Work(
        "ols (x | u), 5,000 rows, 500 groups",
        lambda: sloped(500, 1, 5_000),
        fit("ols", "y ~ x + (x | u)"),
        "lmer",
        lmer("y ~ x + (x | u)"),
        1,
        1,
    ),
    Work(
        "ols (x | u) + (1 | i), 800 rows, 40 x 20",
        lambda: sloped(40, 20, 800),
        fit("ols", "y ~ x + (x | u) + (1 | i)"),
        "lmer",
        lmer("y ~ x + (x | u) + (1 | i)"),
        1,
        2,
    ),
    Work(
        "logit (x | u), 5,000 rows, 500 groups",
        lambda: sloped(500, 1, 5_000),
        fit("logit", "b ~ x + (x | u)"),
        "glmer",
        by_r("lme4", "glmer(b ~ x + (x | u), d, binomial)"),
        1,
        3,
    ),
    Work("InstEval", insteval, fit("ols", MARKS), "lmer", lmer(MARKS), 1, long=True),
    Work(
        "MovieLens-100k",
        movielens,
        fit("ols", "rating ~ 1 + (1 | user) + (1 | item)"),
        "lmer",
        lmer("rating ~ 1 + (1 | user) + (1 | item)"),
        more=20,
        long=True,
    ),
    Work(
        "nested logit, 2,449 rows, 1,558 in 161",
        lambda: nested(2_449, 1_558, 161),
        fit("logit", "b ~ x + (1 | c / f)"),
        "glmer",
        by_r("lme4", "glmer(b ~ x + (1 | c / f), d, binomial, nAGQ=0)"),
        more=20,
        long=True,
    ),
    Work(
        "ols horseshoe, 200 x 500",
        lambda: plain(200, 500)[0],
        lambda frame: sgmc.ols(
            "y ~ .", frame, prior={"*": sgmc.horseshoe(learned=True)}, seed=1, progress=False
        ),
        more=5,
        long=True,
    ),
    slopes(100_000, 0.3),
    slopes(1_000_000, 1.5),
]


def seconds(work):
    """CPU seconds, and the value; of works that tell their seconds themselves, these."""
    begun = time.process_time()
    value = work()
    return (value if isinstance(value, float) else time.process_time() - begun), value


def measured(work):
    """CPU seconds of a work and of its rival, and results; None where there are no data."""
    table = work.table()
    if table is None:
        return None
    rival = work.theirs and not missing(work.rival)
    own, their = [], []
    for _ in range(3):  # in turns, so that what else the machine does meets both
        spent, found = seconds(lambda: summarised(work.ours(table)))
        own.append(spent)
        if rival:
            their.append(seconds(lambda: work.theirs(table))[0])
        if spent > SHORT:
            break
    return min(own), min(their, default=NAN), found


def summarised(found):
    """Results, their summary made as text."""
    str(found.summary() if hasattr(found, "verdict") else found)
    return found


def line(name, own, rival, their, target, note=""):
    """Print a row; whether its target is missed."""
    missed = own > target
    ratio = f"{own / their:8.2f}" if their == their else " " * 8
    other = f"{their:8.2f}" if their == their else " " * 8
    print(
        f"{name:48}{own:8.2f}{other}{ratio}{target:8.2f}  {rival:14}"
        f"{'missed ' if missed else ''}{note}",
        flush=True,
    )
    return missed


def main():
    """Print a line for each work."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="works of a few seconds")
    arguments.add_argument(
        "--only", default="", metavar="TEXT", help="works with it in their names"
    )
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    fit("logit", "b ~ x + (1 | g)")(grouped(200, 5))  # what is loaded at first use
    print(f"{'CPU seconds':48}{'ours':>8}{'rival':>8}{'ratio':>8}{'wanted':>8}")
    missed = []
    for code, name in ((FRESH, "fresh interpreter to a summary of 6,366 rows"),):
        if given.only in name:
            base = min(fresh("import pandas, patsy") for _ in range(3))
            own = min(fresh(code) for _ in range(3)) - base
            missed += [name] if line(name, own, "", NAN, 0.3, "(less pandas' import)") else []
    for work in WORKS:
        if given.only not in work.name or (given.quick and work.long):
            continue
        found = measured(work)
        if found is None:
            print(f"{work.name:48}its data are not in SGMC_DATA")
            continue
        own, their, results = found
        known = their if their == their else 0.0
        if work.times and their != their:
            print(f"{work.name:48}{own:8.2f}  no {work.rival}, no target")
            continue
        verdict = getattr(results, "verdict", None)
        note = "" if verdict is None or verdict.trustworthy else "not trusted"
        off = line(work.name, own, work.rival, their, work.times * known + work.more, note)
        missed += [work.name] if off or note else []
    print(f"missed: {', '.join(missed) or 'nothing'}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
