"""Tables for families with several linear predictors, whose posteriors are known from long exact
runs.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy import special

import sgmc
from sgmc.api import verbs

from .known import Known

LEVELS, ROWS = 15, 300
RING = {k: [(k - 1) % LEVELS, (k + 1) % LEVELS] for k in range(LEVELS)}

# name: verb, formula, other arguments of the fit
SEVERAL = {
    "scales": ("ols", "y ~ x", {"sigma": "~ z"}),
    "dispersions": ("gamma", "positive ~ x", {"dispersion": "~ x + z"}),
    "scales of groups": ("ols", "y ~ x + (1 | g)", {"sigma": "~ z + (1 | g)"}),
    "zeros of groups": ("zeroinflated", "count ~ x + (1 | g) | z + (1 | g)", {}),
    "hurdle and curve": ("hurdle", "count ~ x | s(z, k=6)", {}),
    "kinds of groups": ("mnlogit", "kind ~ x + (1 | g)", {}),
    "zeros, ridge": ("zeroinflated", "count ~ x + z | x + z", {"prior": sgmc.ridge()}),
    "kinds, horseshoe": ("mnlogit", "kind ~ x + z", {"prior": sgmc.horseshoe(1, learned=True)}),
    "regions": ("poisson", "count ~ x + car(g, RING)", {}),
    "discriminations": ("ordinal", "grade ~ x", {"discrimination": "~ z"}),
    "stages": ("ordinal", "stage ~ x + z", {"kind": "sequential"}),
    "stages of groups": ("ordinal", "stage ~ x + (1 | g)", {"kind": "sequential"}),
    "effects of stages": ("ordinal", "stage ~ x + cs(z)", {"kind": "sequential"}),
    "stages, crossed": ("ordinal", "stage ~ x + cs(z) + (1 | g)", {"kind": "sequential"}),
    "sharper stages": (
        "ordinal",
        "stage ~ x",
        {"kind": "sequential", "discrimination": "~ z"},
    ),
    "rising, ridge": ("poisson", "count ~ mo(third) + x + z", {"prior": sgmc.ridge()}),
    "rising, groups": ("poisson", "count ~ mo(third) + x + z + (1 | g)", {"prior": sgmc.ridge()}),
    "series": ("poisson", "count ~ x + ar1(g)", {}),
}
# which mini-batches and other samplers take, too
FIXED = (
    "scales",
    "dispersions",
    "discriminations",
    "stages",
    "effects of stages",
    "sharper stages",
)
WAYS = (
    {},
    {"sampler": "mala"},
    {"sampler": "nuts"},
    {"draws": 60},
    {"sampler": "mala", "step_size": 0.01, "draws": 300},
)
WAYS_OF_FIXED = (
    {"sampler": "imh"},
    {"sampler": "laplace"},
    {"sampler": "sgld", "step_size": 0.1},
    {"sampler": "sgld", "step_size": 1.0},
    {"sampler": "sgld", "step_size": 0.1, "gradient": "simple", "batch_size": 20},
)


@cache
def frame():
    """Outcomes of every family, made once."""
    rng = np.random.default_rng(21)
    g, x, z = rng.integers(0, LEVELS, ROWS), *rng.normal(size=(2, ROWS))
    b, c = rng.normal(size=(2, LEVELS)) * [[0.6], [0.5]]
    eta, zeta = 0.6 + 0.4 * x + b[g], -0.3 + 0.5 * z + c[g]
    shares = special.softmax([0 * eta, eta, zeta], axis=0)
    kind = (rng.random(ROWS) > np.cumsum(shares, axis=0)[:-1]).sum(axis=0)
    outcomes = {
        "y": eta + np.exp(zeta) * rng.normal(size=ROWS),
        "positive": np.exp(eta) * rng.gamma(np.exp(-zeta)) * np.exp(zeta),
        "count": np.where(rng.random(ROWS) < special.expit(zeta), 0, rng.poisson(np.exp(eta))),
        "kind": np.array(["a", "b", "c"])[kind],
        "grade": np.searchsorted([0.0, 1.0], eta + rng.logistic(size=ROWS) * np.exp(-zeta)),
    }
    # three stages, the second of which few rows leave where z is small
    passed = eta[:, None] + np.outer(z, [0.0, 0.8, -0.4]) + rng.logistic(size=(ROWS, 3))
    stops = np.column_stack([passed < [0.5, -0.5, 1.0], np.ones(ROWS, dtype=bool)])
    return pd.DataFrame(
        {"g": g, "third": g // 4, "x": x, "z": z, **outcomes, "stage": stops.argmax(axis=1)}
    )


def fit(name, **how):
    """The results."""
    verb, formula, given = SEVERAL[name]
    return getattr(verbs, verb)(formula, frame(), **given, **how)


@cache
def reference(name):
    """A long exact run."""
    return fit(name, sampler="nuts", draws=10_000, thin=1, seed=11)


def known(name):
    """Means, sds and quantiles of a long run."""
    return Known.of_long_run(reference(name))
