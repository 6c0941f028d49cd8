"""Rows that `mhss` touches, beside `mala`, `zzcv` and `lmsgld`, as N grows.

    python benchmarks/mhss.py [--coefficients 5] [--largest]

Logistic posteriors of N standard normal rows, for N = 10^4, 10^5, 10^6 and, with --largest, 10^7.
For each sampler: rows touched per step, over all of the run, and rows touched per effective draw
of the worst coefficient (rank-normalised bulk ESS).  Both are counted, so that they are the same on
any machine.  Samplers of all rows are left out above 10^6.
"""

import argparse
import warnings

import numpy as np

import sgmc

DRAWS = {"mhss": 2000, "mala": 400, "zzcv": 1000, "lmsgld": 1000}
MOST_OF_ALL_ROWS = 10**6


def table(n, d, seed=0):
    """Predictors and outcomes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    eta = X @ np.linspace(-0.5, 0.5, d)
    return X, (rng.random(n) * (1 + np.exp(-eta)) < 1).astype(float)


def main():
    """Print a line for each N and sampler."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coefficients", type=int, default=5)
    parser.add_argument("--largest", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'N':>10}{'sampler':>9}{'rows/step':>12}{'rows/effective draw':>21}{'acceptance':>12}")
    for n in [10**k for k in range(4, 8 if given.largest else 7)]:
        X, y = table(n, given.coefficients)
        for name, draws in DRAWS.items():
            if name == "mala" and n > MOST_OF_ALL_ROWS:
                continue
            result = sgmc.Logit(y, X).fit(sampler=name, draws=draws, chains=2, seed=1)
            went = result.chain_diagnostics()
            rows = went.data_passes.sum() * n
            print(
                f"{n:>10,}{name:>9}{rows / went.steps.sum():>12.3g}"
                f"{rows / result.ess().min():>21.3g}{went.acceptance.mean():>12.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
