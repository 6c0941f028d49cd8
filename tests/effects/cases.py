"""A table with numbers, labels and weights, fits of it, and what is checked of their effects."""

from functools import cache

import numpy as np
import pandas as pd
from scipy import special

import sgmc

N = 8000


@cache
def table(n=N, seed=0):
    """Numbers x and z, labels g, booleans b, weights w; outcomes of several families."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.gamma(2.0, size=n),
            "g": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "b": rng.random(n) < 0.4,
            "w": rng.integers(1, 5, n),
            "t": rng.uniform(0.5, 2.0, n),
        }
    )
    eta = 0.3 + 0.8 * df.x - 0.4 * df.z + 0.9 * (df.g == "b") - 0.7 * (df.g == "c") + 0.5 * df.b
    kinds = np.stack([np.zeros(n), eta, 0.5 - 0.6 * df.x + 0.3 * df.z])
    return df.assign(
        hit=(rng.random(n) < special.expit(eta)).astype(int),
        probit=(eta + rng.normal(size=n) > 0).astype(int),
        count=rng.poisson(np.exp(eta / 2)),
        claims=rng.poisson(np.exp(eta / 2) * df.t),
        y=eta + 0.3 * df.x**2 + rng.normal(size=n),
        kind=np.array(["k0", "k1", "k2"])[(kinds + rng.gumbel(size=(3, n))).argmax(axis=0)],
    )


OUTCOMES = {
    "logit": "hit",
    "probit": "probit",
    "poisson": "count",
    "ols": "y",
    "mnlogit": "kind",
}


@cache
def fitted(verb, formula=None, n=N, **how):
    """A fit with a flat prior."""
    formula = formula or f"{OUTCOMES[verb]} ~ x + z + g + b"
    return getattr(sgmc, verb)(formula, table(n), seed=1, prior="flat", progress=False, **how)


def means_of(results, frame):
    """E[y | x] by each draw, (row, draw), of a model with a logit or identity link."""
    X = results.model.spec.matrix(frame)
    eta = X @ results.flat[:, : X.shape[1]].T
    return special.expit(eta) if results.model.family_name == "logit" else eta


def row(found, **wanted):
    """The one row of a table with these values."""
    at = np.ones(len(found), dtype=bool)
    for name, value in wanted.items():
        at &= (found[name] == value).to_numpy()
    (place,) = np.flatnonzero(at)
    return found.iloc[place], found.draws[place]
