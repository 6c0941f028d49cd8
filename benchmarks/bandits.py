"""What probabilities of rows that follow the chain could gain over fixed ones.

    python benchmarks/bandits.py

Bandits learn p_i proportional to the size of row i's gradient term where the chain is (Salehi,
Celis & Thiran 2017, arXiv:1708.02544; Liu, Regier, Tripuraneni, Jordan & McAuliffe 2018); at best
they know it.  Printed is the noise variance of a minibatch with those best probabilities, of
`subsample="preferential"`, which averages sizes over the normal approximation once, and of equal
ones, each over that of equal ones, averaged over posterior draws in whitened coordinates.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy reads it

import numpy as np
import pandas as pd
import statsmodels.api as sm

import sgmc
from sgmc.core.expansion import row_sizes
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit.noise import known_rows
from sgmc.subsampling.preferential import Alias
from sgmc.subsampling.uniform import FullBatch

DRAWS = 50


def fair():
    """Affairs, 6,366 rows."""
    table = sm.datasets.fair.load_pandas().data
    return table.assign(y=(table.pop("affairs") > 0).astype(int))


def heavy(n=20_000, d=8):
    """Columns with t3 tails, a rare outcome."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.standard_t(3, (n, d))).add_prefix("x")
    chance = 1 / (1 + np.exp(4 - 0.5 * table.sum(axis=1)))
    return table.assign(y=(rng.random(n) < chance).astype(int))


def noises(table, gradient):
    """Noise of the best and the preferential probabilities over that of equal ones."""
    how = dict(sampler="sgld", subsample="preferential", gradient=gradient)
    fit = sgmc.logit("y ~ .", table, seed=1, draws=200, step_size=0.05, **how)._fit
    problem, inner, n = fit.problem, fit.problem.coordinates.inner, len(table)
    rng = Rng(seed_sequence(1, "pilot", 2))
    estimator = problem.gradient(gradient, FullBatch(n), rng)
    fixed = Alias(known_rows(problem, gradient, 1, ["sizes"])["sizes"]).p
    found = []
    for x in fit.x.reshape(-1, problem.dim)[:: fit.x[..., 0].size // DRAWS]:
        s = row_sizes(estimator, inner, [problem.coordinates.natural(x)])
        found.append(np.array([s.sum() ** 2, (s**2 / fixed).sum()]) / (n * (s**2).sum()))
    return np.mean(found, axis=0)


if __name__ == "__main__":
    print(f"{'data':8}{'gradient':10}{'best':>8}{'fixed':>8}{'fixed/best':>12}")
    for name, table in (("fair", fair()), ("heavy", heavy())):
        for gradient in ("simple", "cv"):
            best, fixed = noises(table, gradient)
            print(f"{name:8}{gradient:10}{best:8.3f}{fixed:8.3f}{fixed / best:12.2f}")
