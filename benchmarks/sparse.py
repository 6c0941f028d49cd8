"""A sparse table beside the same table made dense: seconds, memory and posterior.

    python benchmarks/sparse.py [--rounds 3] [--columns 200]

The data are a9a (32,561 rows of 123 binary columns, 11 % of them ones; five columns
quasi-separated) and a made table of 100,000 rows, 3 % of them ones, fitted with first-order control
variates.  Each round gives each storage a fresh process, on one core, that makes its table and fits
a logistic regression; "growth" is what model, fit and summary add to the peak of resident memory
(Linux).  The best of the rounds counts.
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
from scipy import sparse

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
PLACES = {"size": 0, "growth": 0, "seconds": 1}
STORAGE = {"csr": lambda X: X, "dense": lambda X: X.toarray()}


def a9a(columns):
    """Outcomes, CSR design and how to fit."""
    import sgmc

    frame = sgmc.datasets.load("a9a")
    predictors = frame.drop(columns="y").to_numpy(float)
    return (
        frame.y.to_numpy(float),
        sparse.csr_array(np.column_stack([np.ones(len(frame)), predictors])),
        {},
    )


def made(columns, rows=100_000, share=0.03):
    """The same of a table with that many columns and that share of ones."""
    random = np.random.default_rng(0)
    ones = sparse.random_array(
        (rows, columns - 1),
        density=share,
        rng=random,
        format="csr",
        data_sampler=lambda size: np.ones(size),
    )
    X = sparse.hstack([sparse.csr_array(np.ones((rows, 1))), ones], format="csr")
    eta = X @ random.normal(scale=0.3, size=columns)
    return (
        (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(float),
        X,
        dict(sampler="lmsgld", gradient="cv"),
    )


TABLES = {"a9a": a9a, "made": made}


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


def measure(table, storage, columns):
    """Print the figures of one storage as JSON."""
    import sgmc

    y, X, how = TABLES[table](columns)
    X = STORAGE[storage](X)
    size = (
        X.nbytes
        if isinstance(X, np.ndarray)
        else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    ) / 2**20
    warnings.simplefilter("ignore", sgmc.SGMCWarning)
    sgmc.Logit(y[:500], X[:500, :3]).fit(seed=1, draws=10)  # imports are not what is measured
    if RESET.exists():
        RESET.write_text("5")  # the high-water mark starts anew
    before, begun = megabytes("VmRSS:"), time.perf_counter()
    results = sgmc.Logit(y, X).fit(seed=1, **how)
    str(results.summary())
    figures = {
        "seconds": time.perf_counter() - begun,
        "growth": megabytes("VmHWM:") - before,
        "size": size,
    }
    print(
        json.dumps(
            figures
            | {
                "mean": results.params.tolist(),
                "sd": results.bse.tolist(),
                "mcse": results.mcse().tolist(),
            }
        )
    )


def best(table, storage, options):
    """The best of the rounds."""
    program = [
        sys.executable,
        __file__,
        "--measure",
        table,
        storage,
        "--columns",
        str(options.columns),
    ]
    outcomes = [
        json.loads(
            subprocess.run(
                program, stdout=subprocess.PIPE, text=True, check=True
            ).stdout.splitlines()[-1]
        )
        for _ in range(options.rounds)
    ]
    return outcomes[0] | {key: min(o[key] for o in outcomes) for key in ("seconds", "growth")}


def main():
    """Print the table, or measure one storage in this process."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--columns", type=int, default=200, help="of the made table")
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    arguments.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.measure:
        measure(*options.measure, options.columns)
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.cpu})  # the processes inherit it
    print(
        f"{'':10s} {'table MB':>16s} {'growth MB':>16s} {'seconds':>16s} {'csr / dense: MB':>16s} "
        f"{'seconds':>8s} {'error of means':>15s} {'ratio of sds':>14s}"
    )
    for table in TABLES:
        ours, dense = (best(table, storage, options) for storage in STORAGE)
        both = [
            f"{ours[key]:.{digits}f} / {dense[key]:.{digits}f}" for key, digits in PLACES.items()
        ]
        error = np.abs(
            np.subtract(ours["mean"], dense["mean"]) / np.hypot(ours["mcse"], dense["mcse"])
        ).max()
        ratio = np.divide(ours["sd"], dense["sd"])
        print(
            f"{table:10s} {both[0]:>16s} {both[1]:>16s} {both[2]:>16s} "
            f"{ours['growth'] / dense['growth']:16.2f} {ours['seconds'] / dense['seconds']:8.2f} "
            f"{error:12.1f} se {ratio.min():7.3f}..{ratio.max():.3f}"
        )


if __name__ == "__main__":
    main()
