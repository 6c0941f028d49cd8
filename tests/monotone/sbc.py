"""Simulation-based calibration (Talts et al. 2018) of monotonic effects: the sum of increments from
its prior, their shares from a simplex.

python -m tests.monotone.sbc [--replicates 200] [--cases ols]
"""

import warnings

import numpy as np
import pandas as pd
from scipy import special

import sgmc
from sgmc.errors import SGMCWarning

from ..sbc import KEPT, calibrate

ROWS, LEVELS = 120, 4
SD = 0.7  # of the prior of the sum, which leaves the sign open in part of the replicates
PRIOR = {"Intercept": sgmc.normal(0, 0.5), "mo(x)": sgmc.normal(0, SD)}
SIGMA, GROUPS = sgmc.exponential(scale=0.7), sgmc.half_normal(0.7)
CASES = {"ols": "", "logit": "", "poisson": "", "ols with groups": " + (1 | g)"}
STEPS = [f"mo(x)[{k}]" for k in range(1, LEVELS)]


def names(case):
    """Of the parameters."""
    groups, sigma = ["sd(1|g)"] * ("groups" in case), ["sigma"] * case.startswith("ols")
    return ["Intercept", *STEPS, *groups, *sigma]


def drawn(case, rng):
    """Parameters from the prior and a table from the model."""
    frame = pd.DataFrame({"x": rng.integers(0, LEVELS, ROWS), "g": rng.integers(0, 10, ROWS)})
    level, total = rng.normal(0, 0.5), rng.normal(0, SD)
    steps = total * rng.dirichlet(np.ones(LEVELS - 1))
    theta, eta = [level, *steps], level + np.append(0, np.cumsum(steps))[frame.x]
    if "groups" in case:
        theta.append(abs(rng.normal(0, GROUPS.scale)))
        eta = eta + theta[-1] * rng.normal(size=10)[frame.g]
    if case == "logit":
        return theta, frame.assign(y=(rng.random(ROWS) < special.expit(eta)).astype(int))
    if case == "poisson":
        return theta, frame.assign(y=rng.poisson(np.exp(eta)))
    theta.append(rng.exponential(SIGMA.scale))
    return theta, frame.assign(y=eta + theta[-1] * rng.normal(size=ROWS))


def ranks(case, replicates, seed=1, distort=lambda draws: draws):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters)."""
    found = []
    prior = PRIOR | ({"sigma": SIGMA} if case.startswith("ols") else {})
    prior |= {"sd": GROUPS} if "groups" in case else {}
    for k in range(replicates):
        theta, frame = drawn(case, np.random.default_rng([seed, k]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            results = getattr(sgmc, case.split()[0])(
                f"y ~ mo(x){CASES[case]}", frame, prior=prior, seed=k
            )
        draws = distort(results.flat[:, [results.names.index(one) for one in names(case)]])
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


if __name__ == "__main__":
    calibrate(__doc__, CASES, names, ranks)
