"""Coverage of 95 % intervals of `sgmc.quantreg`, by number of rows and tau.

Outcomes are y = 1 + x + (0.5 + x) e with x uniform on (0, 2) and normal e, whose quantiles are
straight lines in x.  A row of the table is the share of data sets whose interval has the true
coefficient: quantiles of the draws, and mean +- 1.96 times what the working likelihood alone would
say, as a posterior by the check loss does.

    python benchmarks/quantiles.py --sets 500
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy import stats

import sgmc

TAUS = (0.1, 0.5, 0.9, 0.95, 0.99)
Z95 = stats.norm.ppf(0.975)


def data(n, rng):
    """One data set."""
    x = rng.uniform(0, 2, n)
    return pd.DataFrame({"x": x, "y": 1 + x + (0.5 + x) * rng.normal(size=n)})


def inside(frame, tau, seed):
    """Whether each kind of interval has each of the coefficients, (kind, coefficient)."""
    q = stats.norm.ppf(tau)
    truth = np.array([1 + 0.5 * q, 1 + q])
    how = dict(prior="flat", seed=seed, draws=1000, chains=1, progress=False)
    res = sgmc.quantreg("y ~ x", frame, tau=tau, **how)
    low, high = res.conf_int().to_numpy().T
    model = np.sqrt(np.diag(res.cov_params(cov_type="nonrobust")))
    off = np.abs(res.params.to_numpy() - truth)
    return np.array([(low <= truth) & (truth <= high), off <= Z95 * model])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--taus", type=float, nargs="+", default=TAUS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
    error = np.sqrt(0.95 * 0.05 / asked.sets)
    print(f"{asked.sets} data sets each; standard error about {error:.3f}")
    print(f"{'rows':>6}{'tau':>6}  {'coefficient':<12}{'draws':>8}{'model':>8}")
    for n in asked.rows:
        for tau in asked.taus:
            rng = np.random.default_rng(n)
            found = [inside(data(n, rng), tau, seed) for seed in range(asked.sets)]
            for name, shares in zip(("Intercept", "x"), np.mean(found, axis=0).T, strict=True):
                print(f"{n:>6}{tau:>6}  {name:<12}{shares[0]:>8.3f}{shares[1]:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
