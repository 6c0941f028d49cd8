"""Simulation-based calibration (Talts et al. 2018) of regressions with group terms at default
settings: coefficients, sds and correlations from the prior, effects and outcomes from these, ranks
among the draws.

    python -m tests.mixed.sbc [--replicates 200] [--cases "poisson, nested"]
"""

import itertools
import warnings

import numpy as np
import pandas as pd

import sgmc
from sgmc import formula, registry
from sgmc.errors import SGMCWarning

from ..sbc import KEPT, calibrate

GROUPS, SUBGROUPS, ROWS = 15, 3, 4  # rows of a subgroup, subgroups of a group
FIXED = {"Intercept": sgmc.normal(0, 0.7), "a": sgmc.normal(0, 0.7)}
OWN, SD = sgmc.exponential(scale=0.7), sgmc.half_normal(0.8)
TERMS = {
    "": "(1 | g)",
    "nested": "(1 | g/h)",
    "slopes": "(1 + a | g)",
    "crossed": "(1 | g) + (1 | c)",
    "smooth": "s(a, k=6)",
}
KNOWN = "known errors"  # outcomes of known standard errors, without sigma
CROSSING = 10  # levels of the factor that crosses
FAMILIES = ["ols", "rlm", "logit", "probit", "cloglog", "poisson", "negativebinomial", "gamma"]
CASES = [
    *FAMILIES,
    *(f"{family}, {kind}" for family in ("ols", "logit", "poisson") for kind in TERMS if kind),
    f"ols, {KNOWN}",
]


def effects(rng, kind):
    """Sds, correlations and effects of the rows from the prior, given the covariate of slopes."""
    g = np.repeat(np.arange(GROUPS), SUBGROUPS * ROWS)
    h = np.repeat(np.arange(GROUPS * SUBGROUPS), ROWS)
    a = rng.normal(size=len(g))
    if kind == "smooth":
        return smooth(rng, a)
    sds = np.abs(SD.scale * rng.normal(size=2 if kind else 1))
    rest, cor = [], 0.0
    if kind == "slopes":
        cor = rng.uniform(-1, 1)
        rest = [cor]
    z, c = rng.normal(size=(2, GROUPS * SUBGROUPS)), np.arange(len(g)) * 7 % CROSSING
    total = sds[0] * z[0, g]
    if kind == "slopes":
        total = total + sds[1] * (cor * z[0, g] + np.sqrt(1 - cor**2) * z[1, g]) * a
    elif kind:
        total = total + sds[1] * z[1, h if kind == "nested" else c]
    return [*sds, *rest], total, pd.DataFrame({"a": a, "g": g, "h": h, "c": c})


def smooth(rng, a):
    """The same of a curve of the covariate."""
    frame = pd.DataFrame({"a": a})
    Z = formula.read("y ~ s(a, k=6)", frame.assign(y=a), outcome="numeric").grouping().curves
    sd = abs(SD.scale * rng.normal())
    return [sd], sd * Z @ rng.normal(size=Z.shape[1]), frame


def simulated(name, rng):
    """Parameters from the prior and a table from the model, drawn anew where outcomes are all
    alike or too large for a table of counts.
    """
    verb, _, kind = name.partition(", ")
    family = registry.room("families")[verb].family
    while True:
        beta = [rng.normal(one.location, one.scale) for one in FIXED.values()]
        own = [] if kind == KNOWN else [rng.exponential(OWN.scale) for _ in family.auxiliary]
        spread, total, frame = effects(rng, "" if kind == KNOWN else kind)
        eta = beta[0] + beta[1] * frame["a"].to_numpy() + total
        if kind == KNOWN:
            frame["se"] = rng.uniform(0.5, 3.0, len(eta))
            own_errors = frame["se"].to_numpy() * rng.normal(size=len(eta))
            return np.array([*beta, *spread]), frame.assign(y=eta + own_errors)
        y = family.simulate(eta, rng, np.reshape(own, (-1, 1)) if own else None)
        if y.max() > y.min() and y.max() < 1e6 and (verb != "gamma" or y.min() > 0):
            return np.array([*beta, *spread, *own]), frame.assign(y=y)


def ranks(name, replicates, seed=1, distort=lambda draws: draws, sd=SD):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters), for a prior of sds and a
    distortion of the draws.
    """
    verb, _, kind = name.partition(", ")
    model, found = registry.room("families")[verb], []
    for k in range(replicates):
        theta, frame = simulated(name, np.random.default_rng([seed, k]))
        known, term = kind == KNOWN, TERMS.get(kind, TERMS[""])
        auxiliary = () if known else model.family.auxiliary
        prior = FIXED | {"sd": sd} | {one.name: OWN for one in auxiliary}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            how = {"se": "se"} if known else {}
            fitted = model.from_formula(f"y ~ a + {term}", frame, **how)
            results = fitted.fit(prior=prior, seed=k, draws=500)
        draws = distort(results.flat)
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


if __name__ == "__main__":
    calibrate(__doc__, CASES, lambda case: itertools.count(), ranks)
