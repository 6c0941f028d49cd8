"""Simulation-based calibration (Talts et al. 2018) of terms with a second parameter: Gaussian
processes and autoregressions, drawn by their covariances, and regions with a share of structured
effects.

python -m tests.splines.sbc [--replicates 200] [--cases gp]
"""

import warnings

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import SGMCWarning

from ..sbc import KEPT, calibrate
from .areas import NAMES, NEIGHBOURS, scaled_covariance

ROWS, LENGTH, SERIES = 80, 10.0, 30
INTERCEPT, SIGMA = sgmc.normal(0, 0.5), sgmc.exponential(scale=0.5)
SD, SCALE = sgmc.half_normal(1), sgmc.lognormal(np.log(2), 0.4)
TERMS = {  # case: verb, term, its second parameter
    "gp": ("ols", "gp(x)", "scale"),
    "gp of counts": ("poisson", "gp(x)", "scale"),
    "bym2": ("ols", "bym2(region, graph)", "rho"),
    "bym2 of counts": ("poisson", "bym2(region, graph)", "rho"),
    "ar1": ("ols", "ar1(t)", "rho"),
    "ar1 of counts": ("poisson", "ar1(t)", "rho"),
}


def names(case):
    """Of the parameters."""
    verb, term, second = TERMS[case]
    label = term.partition(",")[0].rstrip(")") + ")"
    own = [f"sd({label})", f"{second}({label})"]
    return ["Intercept", *own, *["sigma"] * (verb == "ols")]


def drawn(case, rng):
    """Parameters from the prior and a table from the model."""
    verb, term, second = TERMS[case]
    frame = pd.DataFrame({"x": rng.uniform(0, LENGTH, ROWS), "region": rng.choice(NAMES, ROWS)})
    frame["t"] = rng.integers(0, SERIES, ROWS)
    level, sd = rng.normal(0, INTERCEPT.scale), abs(rng.normal(0, SD.scale))
    if second == "scale":
        x, own = frame.x.to_numpy(), np.exp(np.log(SCALE.scale) + SCALE.df * rng.normal())
        K = np.exp(-0.5 * ((x[:, None] - x) / own) ** 2)
    elif term == "ar1(t)":
        t, own = frame.t.to_numpy(), 2 * rng.beta(2, 2) - 1  # lkj(2)
        K = own ** np.abs(np.subtract.outer(t, t)).astype(float)
    else:
        at, own = [NAMES.index(one) for one in frame.region], rng.random()
        K = (own * scaled_covariance() + (1 - own) * np.eye(len(NAMES)))[np.ix_(at, at)]
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    eta, theta = level + sd * root @ rng.normal(size=ROWS), [level, sd, own]
    if verb == "poisson":
        return theta, frame.assign(y=rng.poisson(np.exp(eta)))
    sigma = rng.exponential(SIGMA.scale)
    return [*theta, sigma], frame.assign(y=eta + sigma * rng.normal(size=ROWS))


def ranks(case, replicates, seed=1, distort=lambda draws: draws):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters)."""
    graph, found = NEIGHBOURS, []  # noqa: F841  of the formula
    verb, term, _ = TERMS[case]
    prior = {"Intercept": INTERCEPT, "sd": SD}
    prior |= {name: SCALE for name in names(case) if name.startswith("scale(")}
    prior |= {"sigma": SIGMA} if verb == "ols" else {}
    for k in range(replicates):
        theta, frame = drawn(case, np.random.default_rng([seed, k]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            results = getattr(sgmc, verb)(f"y ~ {term}", frame, prior=prior, seed=k, draws=500)
        draws = distort(results.flat)
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


if __name__ == "__main__":
    calibrate(__doc__, TERMS, names, ranks)
