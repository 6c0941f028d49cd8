"""A ridge with normal outcomes: CPU seconds beside the estimate of scikit-learn's BayesianRidge.

    python benchmarks/ridges.py [--quick]

Simulated tables with few and with many coefficients, more than rows among them, at default settings
on one core: fits of a design that is there, with all checks.  The rival finds one sd and one sigma
by evidence maximisation, so that its posterior leaves out what is not known of these.
"""

import argparse
import os
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from sklearn.linear_model import BayesianRidge

import sgmc

TABLES = (200, 30), (200, 500), (1_000, 1_000), (20_000, 200), (100_000, 50)
REPEATS = 3


def table(rows, columns):
    """A table with twenty effects, or fewer."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    effects = rng.normal(size=columns) * (np.arange(columns) < 20)
    return X, X @ effects + rng.normal(size=rows)


def seconds(work):
    """The least CPU time of some runs, and the last value."""
    spent = []
    for _ in range(REPEATS):
        begun = time.process_time()
        value = work()
        spent.append(time.process_time() - begun)
    return min(spent), value


def main():
    """Print a line for each table."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="the first two tables")
    quick = arguments.parse_args().quick
    warnings.simplefilter("ignore")
    for rows, columns in TABLES[:2] if quick else TABLES:
        X, y = table(rows, columns)
        design = np.column_stack([np.ones(rows), X])
        prior = {"*": sgmc.ridge()}
        own, res = seconds(lambda: sgmc.OLS(y, design).fit(prior=prior, seed=1, progress=False))
        rival, _ = seconds(lambda: BayesianRidge().fit(X, y))
        trusted = "trusted" if res.verdict.trustworthy else "not trusted"
        print(
            f"{rows:7,} x {columns:5,}: {own:6.2f} s, {own / rival:5.1f} x BayesianRidge, "
            f"{res.sampler.name}, min. ESS {res.ess().min():,.0f}, {trusted}",
            flush=True,
        )


if __name__ == "__main__":
    main()
