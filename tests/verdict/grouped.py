"""Tables with groups, whose posteriors are known from long exact runs."""

from functools import cache

import numpy as np
import pandas as pd

import sgmc
from sgmc.api import verbs

from .known import Known


def table(seed, groups, rows, sd, inner=0.0, slope=0.0):
    """Rows in groups, each in three subgroups: a predictor, and a linear predictor `eta`."""
    rng = np.random.default_rng(seed)
    g, h = np.repeat(np.arange(groups), rows), np.arange(groups * rows) % 3
    x = rng.normal(size=len(g))
    eta = 0.5 * x + sd * rng.normal(size=groups)[g] + slope * rng.normal(size=groups)[g] * x
    eta = eta + inner * rng.normal(size=(groups, 3))[g, h]
    return pd.DataFrame({"g": g, "h": h, "x": x, "eta": eta}), rng


def crossing(seed, first, second, rows, sd, other, slope=0.0):
    """Rows at random in the levels of two factors: a predictor, and a linear predictor `eta`."""
    rng = np.random.default_rng(seed)
    g, h, x = rng.integers(0, first, rows), rng.integers(0, second, rows), rng.normal(size=rows)
    eta = 0.5 * x + sd * rng.normal(size=first)[g] + other * rng.normal(size=second)[h]
    eta = eta + slope * rng.normal(size=first)[g] * x
    return pd.DataFrame({"g": g, "h": h, "x": x, "eta": eta}), rng


def logit(frame, rng):
    """Outcomes of 0 and 1."""
    return (rng.random(len(frame)) < 1 / (1 + np.exp(-frame["eta"]))).astype(int)


def poisson(frame, rng):
    """Counts."""
    return rng.poisson(np.exp(frame["eta"]))


def normal(frame, rng):
    """Normal outcomes."""
    return frame["eta"] + rng.normal(size=len(frame))


# name: verb, formula, outcomes, arguments of `table`
GROUPED = {
    "groups": ("logit", "y ~ x + (1 | g)", logit, (1, 40, 10, 0.7)),
    "few groups": ("logit", "y ~ x + (1 | g)", logit, (2, 8, 6, 0.3)),
    "no effects": ("ols", "y ~ x + (1 | g)", normal, (3, 15, 6, 0.0)),
    "many groups": ("logit", "y ~ x + (1 | g)", logit, (4, 3000, 6, 0.7)),
    "group slopes": ("ols", "y ~ x + (1 + x | g)", normal, (5, 20, 9, 0.7, 0.0, 0.5)),
    "nested groups": ("poisson", "y ~ x + (1 | g/h)", poisson, (6, 12, 9, 0.7, 0.4)),
    "large groups": ("logit", "y ~ x + (1 | g)", logit, (11, 8, 400, 0.7)),
    "group slopes of 0/1": ("logit", "y ~ x + (1 + x | g)", logit, (12, 30, 12, 0.8, 0.0, 0.5)),
    "crossed": ("logit", "y ~ x + (1 | g) + (1 | h)", logit, (7, 40, 15, 600, 0.8, 0.5)),
    "crossed, few levels": ("ols", "y ~ x + (1 | g) + (1 | h)", normal, (8, 30, 5, 200, 0.6, 0.2)),
    "crossed, slopes": (
        "poisson",
        "y ~ x + (1 + x | g) + (1 | h)",
        poisson,
        (9, 25, 10, 300, 0.5, 0.4, 0.3),
    ),
    "crossed, no effects": ("logit", "y ~ x + (1 | g) + (1 | h)", logit, (10, 15, 8, 200, 0, 0)),
    "groups, horseshoe": ("logit", "y ~ x + (1 | g)", logit, (13, 30, 8, 0.6)),
    "groups, ends": ("poisson", "y ~ x + (1 | g)", poisson, (14, 20, 5, 0.4)),
    "crossed, horseshoe": (
        "logit",
        "y ~ x + (1 | g) + (1 | h)",
        logit,
        (15, 20, 10, 300, 0.6, 0.4),
    ),
    "crossed, ends": ("ols", "y ~ x + (1 | g) + (1 | h)", normal, (16, 20, 10, 200, 0.6, 0.4)),
}
# the slope is .5: shrunk, and pressed against an end
PRIORS = {
    "horseshoe": {"x": sgmc.horseshoe(scale=0.1)},
    "ends": {"x": sgmc.truncated(sgmc.normal(0, 1), high=0.4)},
}


@cache
def frame_of(name):
    """A table, made once."""
    _, _, outcomes, how = GROUPED[name]
    frame, rng = (crossing if name.startswith("crossed") else table)(*how)
    return frame.assign(y=outcomes(frame, rng))


def fit(name, **how):
    """The results."""
    verb, formula, _, _ = GROUPED[name]
    prior = PRIORS.get(name.split(", ")[-1])
    return getattr(verbs, verb)(formula, frame_of(name), prior=prior, **how)


@cache
def reference(name):
    """A long exact run."""
    if name.endswith("horseshoe"):  # near its pole long paths diverge
        return fit(name, sampler="mala", draws=60_000, seed=11)
    return fit(name, sampler="hmc", draws=10_000, thin=1, seed=11)


def known(name):
    """Means, sds and quantiles of a long run."""
    return Known.of_long_run(reference(name))
