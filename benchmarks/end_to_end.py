"""From formula to printed summary: sgmc's posterior beside maximum likelihood by statsmodels and
glum, on the same data.

    python benchmarks/end_to_end.py [--quick] [--rounds 3] [--all-cores]

Each round gives every package a fresh process that makes the table (a million rows, ten predictors,
outcome 0 or 1) and calls the package several times.  "cold" is the first call with the package's
import, "warm" the best later one, and "growth" what the cold call adds to the peak of resident
memory (Linux).  The best of the rounds counts.  At so many rows the posterior is the Laplace limit:
its means are the maximum-likelihood estimates and its sds their standard errors, which is what the
last lines compare.
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

PREDICTORS = [f"x{j}" for j in range(1, 11)]
FORMULA = "y ~ " + " + ".join(PREDICTORS)
TIME_TARGET = 1.0  # of statsmodels' maximum likelihood, both warm
MEMORY_ALLOWANCE = 200  # MB, on top of twice the design in float64
MEAN_TARGET, SD_TARGET = 0.1, 0.05
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


# ---- the contestants: from a formula and a table to coefficients, their spread and a printed table


def by_sgmc(frame):
    """Posterior means and sds at default settings."""
    import sgmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        results = sgmc.logit(FORMULA, frame, seed=1)
    str(results.summary())
    return results.params, results.bse


def by_statsmodels(frame):
    """Maximum likelihood and standard errors."""
    import statsmodels.formula.api as smf

    results = smf.logit(FORMULA, frame).fit(disp=0)
    str(results.summary())
    return results.params, results.bse


def by_glum(frame):
    """The same by glum, whose table of coefficients is its summary."""
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(family="binomial", alpha=0, formula=FORMULA).fit(frame)
    table = model.coef_table(X=frame)
    str(table)
    return table["coef"], table["se"]


CONTESTANTS = {"sgmc": by_sgmc, "statsmodels": by_statsmodels, "glum": by_glum}


# ---- one process of one contestant ---------------------------------------------------------------


def table(rows):
    """The data; built column by column, so that making it leaves no high-water mark of memory."""
    random = np.random.default_rng(0)
    eta, columns = np.full(rows, -0.5), {}
    for j, name in enumerate(PREDICTORS):
        columns[name] = random.standard_normal(rows)
        eta += columns[name] * 0.5 * (-1) ** j / (1 + j)
    return pd.DataFrame(
        {"y": (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64), **columns},
        copy=False,
    )


def megabytes(key):
    """A memory figure of this process, as Linux reports it; NaN elsewhere."""
    if not STATUS.exists():
        return float("nan")
    return (
        next(
            int(text.split()[1]) for text in STATUS.read_text().splitlines() if text.startswith(key)
        )
        / 1024
    )


def measure(name, rows, calls):
    """Print the figures of one contestant as JSON."""
    frame, figures = table(rows), {}
    if RESET.exists():
        RESET.write_text("5")  # the high-water mark starts anew
    before = megabytes("VmRSS:")
    seconds = []
    for _ in range(1 + calls):
        begun = time.perf_counter()
        params, spread = CONTESTANTS[name](frame)
        seconds.append(time.perf_counter() - begun)
        figures.setdefault("growth", megabytes("VmHWM:") - before)
    figures |= {
        "cold": seconds[0],
        "warm": min(seconds[1:]),
        "params": params.tolist(),
        "spread": spread.tolist(),
    }
    print(json.dumps(figures))


# ---- the tables ----------------------------------------------------------------------------------


def rounds_of(name, rows, calls, rounds):
    """The best of the rounds of one contestant, or None where it is not installed."""
    program = [
        sys.executable,
        __file__,
        "--measure",
        name,
        "--rows",
        str(rows),
        "--calls",
        str(calls),
    ]
    outcomes = []
    for _ in range(rounds):
        process = subprocess.run(program, capture_output=True, text=True)
        if "ModuleNotFoundError" in process.stderr:
            return None
        process.check_returncode()
        outcomes.append(json.loads(process.stdout.splitlines()[-1]))
    return outcomes[0] | {key: min(o[key] for o in outcomes) for key in ("cold", "warm", "growth")}


def report(figures, rows):
    """Print figures, ratios and verdicts."""
    ours, peer = figures["sgmc"], figures["statsmodels"]
    design = rows * (1 + len(PREDICTORS)) * 8 / 2**20
    print(
        f"{'':14s} {'warm s':>8s} {'cold s':>8s} {'growth MB':>10s} {'sgmc / this: warm':>18s} "
        f"{'cold':>6s}"
    )
    for name, f in figures.items():
        print(
            f"{name:14s} {f['warm']:8.3f} {f['cold']:8.3f} {f['growth']:10.0f} "
            f"{ours['warm'] / f['warm']:18.2f} {ours['cold'] / f['cold']:6.2f}"
        )
    error = np.abs(np.subtract(ours["params"], peer["params"]) / peer["spread"]).max()
    ratio = np.divide(ours["spread"], peer["spread"])
    memory = 2 * design + MEMORY_ALLOWANCE
    share = ours["warm"] / peer["warm"]
    verdict("warm time over statsmodels'", f"{share:.2f}", share < TIME_TARGET, f"{TIME_TARGET:g}")
    verdict(
        "growth of peak memory",
        f"{ours['growth']:.0f} MB",
        ours["growth"] <= memory,
        f"{memory:.0f} MB",
    )
    verdict("error of means, in sds", f"{error:.3f}", error <= MEAN_TARGET, MEAN_TARGET)
    verdict(
        "sds over standard errors",
        f"{ratio.min():.3f}..{ratio.max():.3f}",
        np.abs(ratio - 1).max() <= SD_TARGET,
        f"1 +- {SD_TARGET}",
    )


def verdict(what, figure, ok, target):
    """One line of the second table."""
    print(f"{what:28s} {figure:>14s}   target {target}: {'ok' if ok else 'MISS'}")


def main():
    """Print the tables, or measure one contestant in this process."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rows", type=int, default=10**6)
    arguments.add_argument("--calls", type=int, default=3, help="warm calls a process")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the rows, one round")
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    arguments.add_argument(
        "--all-cores", action="store_true", help="let every package use all cores"
    )
    arguments.add_argument("--measure", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.measure:
        measure(options.measure, options.rows, options.calls)
        return
    if hasattr(os, "sched_setaffinity") and not options.all_cores:
        os.sched_setaffinity(0, {options.cpu})  # the processes inherit it
    if options.quick:
        options.rows, options.rounds = options.rows // 10, 1
    figures = {
        name: rounds_of(name, options.rows, options.calls, options.rounds) for name in CONTESTANTS
    }
    report({name: f for name, f in figures.items() if f is not None}, options.rows)


if __name__ == "__main__":
    main()
