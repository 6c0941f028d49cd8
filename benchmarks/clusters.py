"""Coverage of 95 % intervals with ``cov_type="cluster"``, by number of clusters.

Rows of a cluster share an effect and a predictor ("between"); another predictor varies from row to
row and has a slope that varies between clusters ("within").  A row of the table is the share of
data sets whose interval has the true coefficient: quantiles of the draws, mean +- t quantile with
G - 1 degrees of freedom x sd of the draws, and what the model alone would say.

    python benchmarks/clusters.py --sets 500
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy import stats

import sgmc

ROWS = 40  # of a cluster, on average
TRUTH = {"between": 0.3, "within": 0.2}


def data(clusters, rng, family):
    """One data set; clusters are of unequal size."""
    n = ROWS * clusters
    g = rng.choice(clusters, n, p=rng.dirichlet(np.full(clusters, 10.0)))
    between, within = rng.normal(size=clusters)[g], rng.normal(size=n)
    slope = TRUTH["within"] + 0.2 * rng.normal(size=clusters)[g]
    eta = TRUTH["between"] * between + slope * within + 0.4 * rng.normal(size=clusters)[g]
    y = eta + rng.normal(size=n)
    if family == "poisson":
        y = rng.poisson(np.exp(eta))
    return pd.DataFrame({"y": y, "between": between, "within": within, "g": g})


def inside(frame, family, seed):
    """Whether each kind of interval has each of the coefficients, (kind, coefficient)."""
    res = getattr(sgmc, family)(
        "y ~ between + within",
        frame,
        cov_type="cluster",
        groups="g",
        prior="flat",
        seed=seed,
        draws=1000,
        progress=False,
    )
    names, truth = list(TRUTH), np.array(list(TRUTH.values()))
    ends = res.conf_int().loc[names].to_numpy()
    off = np.abs(res.params[names].to_numpy() - truth)
    t = stats.t.ppf(0.975, frame.g.nunique() - 1)
    place = [list(res.names).index(name) for name in names]
    model = np.sqrt(np.diag(res.cov_params(cov_type="nonrobust")))[place]
    return np.array(
        [
            (ends[:, 0] <= truth) & (truth <= ends[:, 1]),
            off <= t * res.bse[names].to_numpy(),
            off <= stats.norm.ppf(0.975) * model,
        ]
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--family", default="ols", choices=["ols", "poisson"])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
    error = np.sqrt(0.95 * 0.05 / asked.sets)
    print(f"{asked.family}, {asked.sets} data sets each; standard error about {error:.3f}")
    print(f"{'clusters':>8}  {'coefficient':<12}{'draws':>8}{'t(G-1)':>8}{'model':>8}")
    for clusters in (10, 30, 100):
        rng = np.random.default_rng(clusters)
        found = np.mean(
            [inside(data(clusters, rng, asked.family), asked.family, s) for s in range(asked.sets)],
            axis=0,
        )
        for k, name in enumerate(TRUTH):
            print(f"{clusters:>8}  {name:<12}" + "".join(f"{v:>8.3f}" for v in found[:, k]))


if __name__ == "__main__":
    main()
