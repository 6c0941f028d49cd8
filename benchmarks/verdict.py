"""Share of a fit's time that its verdict takes.

    python benchmarks/verdict.py [fair|rows|columns ...]

Times are of `fit` on arrays, defaults, the median of some runs.  "checks" is all that follows the
draws: effective sizes, R-hat, scores, errors of every printed number, the verdict.  "table" is the
part of it that the summary's columns need, effective sizes and R-hat.
"""

import sys
import time
import warnings

import numpy as np

import sgmc

TABLES = {"fair": (6366, 9, 15), "rows": (1_000_000, 10, 5), "columns": (20_000, 500, 3)}


def table(n, d):
    """Outcomes of a logit and normal predictors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    eta = X @ (rng.normal(size=d) / np.sqrt(d))
    return (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float), X


def seconds(function, *arguments, **keywords):
    """Time of a call, and what it returns."""
    begun = time.perf_counter()
    found = function(*arguments, **keywords)
    return time.perf_counter() - begun, found


def shares(n, d, runs):
    """Seconds of fits, of what follows the draws, and of the table's columns, (runs, 3)."""
    y, X = table(n, d)
    inside, real = [], sgmc.Results.of_fit.__func__

    def timed(cls, *arguments):
        took, found = seconds(real, cls, *arguments)
        inside.append(took)
        return found

    sgmc.Results.of_fit = classmethod(timed)
    rows = []
    try:
        for seed in range(runs + 1):
            whole, results = seconds(sgmc.Logit(y, X).fit, seed=seed)
            columns = sum(
                seconds(one, results.draws)[0]
                for one in (sgmc.diagnostics.ess, sgmc.diagnostics.rhat)
            )
            rows.append((whole, inside[-1], columns))
    finally:
        sgmc.Results.of_fit = classmethod(real)
    print(f"{n:9,} x {d:3}: {results.verdict}")
    return np.array(rows[1:])  # the first loads libraries


def main(names):
    """Print shares of the tables named."""
    warnings.simplefilter("ignore")
    for name in names or TABLES:
        n, d, runs = TABLES[name]
        whole, checks, columns = np.median(shares(n, d, runs), axis=0)
        print(
            f"{n:9,} x {d:3}: checks {checks / whole:.2f} of the fit, without the table's columns "
            f"{(checks - columns) / whole:.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
