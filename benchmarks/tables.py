"""Tables as they are, from formula to printed summary: factors of many levels, and many columns.

    python benchmarks/tables.py [--quick] [--only NAME]

Each row of the output is a fresh process on one core (Linux): a table is made, a small fit loads
what is loaded at first use, and then the fit at its defaults is timed, beside the point estimate of
a rival in the same process: glum, with its own categorical columns, or maximum likelihood by
statsmodels.
"ratio" is the whole call over that estimate alone; "like" over statsmodels' whole call, from
formula to printed summary, where its formulas can be that long.
Before that, half a gigabyte is filled and freed: a virtual machine gets memory from
its host at first use, which would be charged to whichever is timed first.
"growth" is what the fit adds to the peak of resident memory (Linux).  "error" is the largest
distance of a posterior mean from the rival's estimate in posterior sds, where both are of the same
likelihood and the prior is weak.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
USED_BEFORE = 1 << 26  # numbers


# ---- tables --------------------------------------------------------------------------------------


def outcomes(random, eta):
    """0 or 1 with these log-odds."""
    return (random.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.int64)


def factors(rows, *levels):
    """A number x, and factors f0, f1, .. with so many levels each."""
    random = np.random.default_rng(0)
    columns = {"x": random.normal(size=rows)}
    eta = -0.5 + 0.5 * columns["x"]
    for k, size in enumerate(levels):
        codes = random.integers(0, size, rows)
        eta += 0.4 * random.normal(size=size)[codes]
        columns[f"f{k}"] = pd.Categorical.from_codes(codes, [f"level{j}" for j in range(size)])
    return pd.DataFrame({"y": outcomes(random, eta), **columns})


def wide(rows, columns):
    """So many numbers."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, columns))
    y = outcomes(random, X @ random.normal(size=columns) / np.sqrt(columns))
    return pd.DataFrame({f"x{j}": X[:, j] for j in range(columns)}).assign(y=y)


def flights():
    """Departures of New York's airports: whether they arrive 15 minutes late."""
    import sgmc

    table = sgmc.datasets.load("flights").dropna(subset=["arr_delay"])
    table = table.assign(y=(table.arr_delay > 15).astype(int), night=(table.hour >= 17).astype(int))
    busy = table.dest.value_counts()
    return table[table.dest.isin(busy.index[busy >= 50])]


# ---- rivals --------------------------------------------------------------------------------------


def by_glum(formula, frame):
    """Maximum likelihood, factors as categorical columns."""
    from glum import GeneralizedLinearRegressor

    predictors = frame.columns.drop("y")
    GeneralizedLinearRegressor(family="binomial", alpha=0, drop_first=True).fit(
        frame[predictors], frame.y
    )


def by_statsmodels(formula, frame):
    """Maximum likelihood on the dense design."""
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    if not formula.endswith("."):
        return smf.logit(formula, frame).fit(disp=0).params
    X = sm.add_constant(frame.drop(columns="y"))  # its formulas end at some hundred terms
    return sm.Logit(frame.y, X).fit(disp=0).params


def whole_call(formula, frame):
    """statsmodels from formula to printed summary."""
    import statsmodels.formula.api as smf

    written = formula.replace(".", " + ".join(frame.columns.drop("y")))
    return str(smf.logit(written, frame).fit(disp=0).summary())


def no_rival(formula, frame):
    """None that can."""


ROWS = {  # name: table, its arguments, formula, prior of slopes, rival
    "1e6 x (number + 50 + 300 levels)": (
        factors,
        (1_000_000, 50, 300),
        "y ~ x + f0 + f1",
        0,
        by_glum,
    ),
    "1e6 x (number + 50 x 300 cells)": (
        factors,
        (1_000_000, 50, 300),
        "y ~ x + f0 * f1",
        1,
        no_rival,
    ),
    "200,000 x 2,000 levels": (factors, (200_000, 2000), "y ~ x + f0", 1, no_rival),
    "200,000 x 20,000 levels": (factors, (200_000, 20_000), "y ~ x + f0", 1, no_rival),
    "1e6 x 100,000 levels": (factors, (1_000_000, 100_000), "y ~ x + f0", 1, no_rival),
    "1e6 x (100,000 + 300 levels)": (
        factors,
        (1_000_000, 100_000, 300),
        "y ~ x + f0 + f1",
        1,
        no_rival,
    ),
    "20,000 x 200": (wide, (20_000, 200), "y ~ .", 0, by_statsmodels),
    "20,000 x 500": (wide, (20_000, 500), "y ~ .", 0, by_statsmodels),
    "20,000 x 1,000": (wide, (20_000, 1000), "y ~ .", 0, by_statsmodels),
    "6,366 x 9": (wide, (6366, 9), "y ~ .", 0, by_statsmodels),
    "1e6 x 10": (wide, (1_000_000, 10), "y ~ .", 0, by_glum),
    "flights, 100 destinations": (
        flights,
        (),
        "y ~ night + distance + carrier + origin + dest",
        0,
        by_statsmodels,
    ),
}
QUICK = ["6,366 x 9", "20,000 x 200"]


# ---- one process a row ---------------------------------------------------------------------------


def megabytes(key):
    """A memory figure of this process, as Linux reports it; NaN elsewhere."""
    if not STATUS.exists():
        return float("nan")
    found = (line for line in STATUS.read_text().splitlines() if line.startswith(key))
    return int(next(found).split()[1]) / 1024


def measure(name):
    """Print the figures of one row as JSON."""
    import sgmc

    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    make, arguments, formula, scale, rival = ROWS[name]
    frame = make(*arguments)
    how = {"seed": 1, "prior": sgmc.normal(0, scale) if scale else None}
    few = frame.sample(min(len(frame), 2000), random_state=0)
    str(sgmc.logit("y ~ 1", few, seed=1).summary())
    np.ones(USED_BEFORE)
    if RESET.exists():
        RESET.write_text("5")  # the high-water mark starts anew
    before, begun = megabytes("VmRSS:"), time.perf_counter()
    results = sgmc.logit(formula, frame, **how)
    str(results.summary())
    figures = {
        "seconds": time.perf_counter() - begun,
        "growth": megabytes("VmHWM:") - before,
        "sampler": type(results.sampler).__name__.lower(),
        "verdict": results.verdict.text.partition(":")[0],
    }
    try:
        rival("y ~ x0 + x1", wide(2000, 2))  # loads what is loaded at first use
        begun = time.perf_counter()
        estimate = rival(formula, frame)
        figures["rival"] = time.perf_counter() - begun if rival is not no_rival else None
        if rival is by_statsmodels:
            figures["like"] = like(formula, frame)
        if estimate is not None:
            apart = np.abs(results.params.to_numpy() - estimate.to_numpy())
            figures["error"] = float((apart / results.bse.to_numpy()).max()) if scale == 0 else None
    except ModuleNotFoundError:
        figures["rival"] = None
    print(json.dumps(figures))


def like(formula, frame):
    """Seconds of `whole_call`; None where the formula is too long for it."""
    whole_call("y ~ x0 + x1", wide(2000, 2))
    begun = time.perf_counter()
    try:
        whole_call(formula, frame)
    except RecursionError:
        return None
    return time.perf_counter() - begun


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two small rows")
    parser.add_argument("--only", help="one row")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    print(
        f"{'table':34s} {'seconds':>8s} {'growth MB':>10s} {'rival s':>8s} {'ratio':>6s} "
        f"{'like':>6s} {'error':>6s}  sampler, verdict"
    )
    one_core = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    for name in [given.only] if given.only else QUICK if given.quick else ROWS:
        program = [sys.executable, __file__, "--measure", name]
        process = subprocess.run(program, capture_output=True, text=True, env=os.environ | one_core)
        if process.returncode:
            print(f"{name:34s} {process.stderr.strip().splitlines()[-1][:100]}")
            continue
        f = json.loads(process.stdout.splitlines()[-1])
        rival, error, same = f["rival"], f.get("error"), f.get("like")
        print(
            f"{name:34s} {f['seconds']:8.2f} {f['growth']:10.0f} "
            + (f"{rival:8.2f} {f['seconds'] / rival:6.2f} " if rival else f"{'-':>8s} {'-':>6s} ")
            + (f"{f['seconds'] / same:6.2f} " if same else f"{'-':>6s} ")
            + (f"{error:6.2f}" if error is not None else f"{'-':>6s}")
            + f"  {f['sampler']}, {f['verdict']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
