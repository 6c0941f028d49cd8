"""A learned horseshoe with normal outcomes: CPU seconds and effective draws beside a plain sampler.

    python benchmarks/horseshoes.py [--quick]

Simulated tables with ten effects and more columns than rows, on one core: 4 chains of 1,000 draws
with all checks.  The rival is a chain in numpy of the horseshoe without a slab: coefficients by
Bhattacharya, Chakraborty & Mallick (2016), scales by Makalic & Schmidt (2016).
"""

import argparse
import os
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from scipy import linalg

import sgmc
from sgmc.diagnostics.chains.convergence import bulk

TABLES = (50, 100), (200, 500), (2_000, 2_000)
SWEEPS, BURN = 6_000, 2_000
QUICK = 2  # tables


def table(rows, columns):
    """Predictors and outcomes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    effects = np.linspace(1, 3, 10) * (-1) ** np.arange(10)
    return X, X[:, :10] @ effects + rng.normal(size=rows)


def plain(X, y, seed=1):
    """Draws (draw, coefficients, tau and sigma) of the rival."""
    rng, (n, p) = np.random.default_rng(seed), X.shape
    X, y = X - X.mean(axis=0), y - y.mean()
    local, tau2, sigma2, nu, xi = np.ones(p), 1.0, y.var(), np.ones(p), 1.0
    kept = []

    def inverse_gamma(shape, rate):
        return rate / rng.gamma(shape, size=np.shape(rate))

    for sweep in range(SWEEPS):
        d = tau2 * local
        z, e = np.sqrt(d) * rng.normal(size=p), rng.normal(size=n)
        scaled = np.sqrt(d) * X
        whole = scaled @ scaled.T + np.eye(n)
        b = np.sqrt(sigma2) * (
            z + d * (X.T @ linalg.solve(whole, y / np.sqrt(sigma2) - X @ z - e, assume_a="pos"))
        )
        square = b**2 / sigma2
        local = inverse_gamma(1.0, 1 / nu + square / (2 * tau2))
        nu = inverse_gamma(1.0, 1 + 1 / local)
        tau2 = float(inverse_gamma((p + 1) / 2, 1 / xi + (square / local).sum() / 2))
        xi = float(inverse_gamma(1.0, 1 + 1 / tau2))
        r = y - X @ b
        rate = (r @ r + (b**2 / (tau2 * local)).sum()) / 2
        sigma2 = float(inverse_gamma((n + p) / 2, rate))
        if sweep >= BURN:
            kept.append([*b, np.sqrt(tau2), np.sqrt(sigma2)])
    return np.array(kept)


def shown(seconds, draws):
    """Seconds, and effective draws of the slowest coefficient and of tau."""
    size = bulk(draws)[0]
    coefficients, tau = size[:-2].min(), size[-2]
    return f"{seconds:6.1f} s, effective draws {coefficients:6,.0f}, of tau {tau:5,.0f}"


def main():
    """Print two lines for each table."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="the first two tables")
    quick = arguments.parse_args().quick
    warnings.simplefilter("ignore")
    for rows, columns in TABLES[:QUICK] if quick else TABLES:
        X, y = table(rows, columns)
        design = np.column_stack([np.ones(rows), X])
        prior = {"*": sgmc.horseshoe(learned=True)}
        begun = time.process_time()
        res = sgmc.OLS(y, design).fit(prior=prior, seed=1, draws=1000, threads=1, progress=False)
        own = time.process_time() - begun
        print(f"{rows:,} x {columns:,}: {shown(own, res.draws)}", flush=True)
        if rows > QUICK * 100:  # hours
            continue
        begun = time.process_time()
        rival = plain(X, y)
        print(f"   numpy, one chain: {shown(time.process_time() - begun, rival[None])}", flush=True)


if __name__ == "__main__":
    main()
