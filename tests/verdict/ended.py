"""Regressions with priors of numbers between ends, known by sums over grids."""

import numpy as np
import pandas as pd
from scipy import special, stats

import sgmc
from sgmc.api import verbs

from .known import Known
from .small import FAR

SEPARATED = pd.DataFrame({"x": [1.0, 2, -1, -2], "y": [1, 1, 0, 0]})
ROWS = 40

LAWS = {
    "half normal": (sgmc.half_normal(0.5), stats.halfnorm(scale=0.5), (0, 6)),
    "exponential": (sgmc.exponential(scale=0.2), stats.expon(scale=0.2), (0, 6)),
    "gamma with a pole": (sgmc.gamma(0.6, scale=1.0), stats.gamma(0.6), (0, 9)),
    "lognormal": (sgmc.lognormal(-2, 1), stats.lognorm(1, scale=np.exp(-2)), (0, 9)),
    "below zero": (sgmc.truncated(sgmc.normal(0, 1), high=0), stats.norm(0, 1), (-7, 0)),
    "uniform": (sgmc.uniform(-0.1, 0.2), stats.norm(0, 1e9), (-0.1, 0.2)),
    "far uniform": (sgmc.uniform(2, 3), stats.norm(0, 1e9), (2, 3)),
}


def rows(rising):
    """Outcomes 0 and 1 that rise, or fall, with x."""
    random = np.random.default_rng(4)
    x = random.normal(size=ROWS)
    y = (random.random(ROWS) < special.expit((0.8 if rising else -0.8) * x)).astype(float)
    return pd.DataFrame({"x": x, "y": y})


def grid_of(low, high):
    """A grid between two ends, fine at both."""
    middles = (np.arange(40_000) + 0.5) / 40_000
    return low + (high - low) * np.sin(0.5 * np.pi * middles) ** 2


def one_slope(name, table):
    """One slope of a logistic regression without an intercept."""
    given, law, ends = LAWS[name]

    def known():
        grid = grid_of(*ends)
        eta = np.outer(grid, table.x * (2 * table.y - 1))
        return Known.of_grid({"x": grid}, special.log_expit(eta).sum(axis=1) + law.logpdf(grid))

    return lambda **how: sgmc.logit("y ~ 0 + x", table, prior={"x": given}, **how), known


def half_a_t(df):
    """The slope of separated outcomes, whose posterior has the tail of its prior, half a t."""

    def known():
        grid = 0.02 * np.sinh(np.linspace(0, np.arcsinh(FAR / 0.02), 200_001))
        value = 2 * (special.log_expit(grid) + special.log_expit(2 * grid))
        return Known.of_grid({"x": grid}, value + stats.t(df, 0, 2.5).logpdf(grid), 1 / df)

    prior = {"x": sgmc.half_t(df, 2.5)}
    return lambda **how: sgmc.logit("y ~ 0 + x", SEPARATED, prior=prior, **how), known


def two_slopes():
    """Two correlated slopes, both positive, both pressed against zero, of counts."""
    random = np.random.default_rng(6)
    X = random.normal(size=(80, 2)) + random.normal(size=(80, 1))
    y = random.poisson(np.exp(X @ [-0.05, 0.02]))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})

    def known():
        grid = grid_of(0, 0.8)[::40]
        eta = grid[:, None, None] * X[:, 0] + grid[None, :, None] * X[:, 1]
        value = (y * eta - np.exp(eta)).sum(axis=-1)
        prior = stats.halfnorm(scale=1).logpdf(grid)
        return Known.of_grid({"a": grid, "b": grid}, value + prior[:, None] + prior)

    def fit(**how):
        return verbs.poisson("y ~ 0 + a + b", table, prior={"*": sgmc.half_normal(1)}, **how)

    return fit, known


ENDED = {
    **{f"{name}, {way}": one_slope(name, rows(way == "with it"))
       for name in LAWS for way in ("with it", "against it")},
    "half normal, separated": one_slope("half normal", SEPARATED),
    **{f"half a t{df}, separated": half_a_t(df) for df in (1, 2, 3, 4, 7)},
    "two slopes": two_slopes(),
}  # fmt: skip
ENDS_WAYS = (
    {},
    {"sampler": "mala"},
    {"sampler": "hmc"},
    {"sampler": "imh"},
    {"sampler": "laplace"},
    {"sampler": "sgld", "step_size": 0.3},
    {"sampler": "mala", "draws": 60},
)
# ways, misplaced mode, stretched: `Case`
ENDS_MISTAKEN = [
    (name, {"sampler": sampler}, *mistake)
    for name in ("half normal, against it", "two slopes")
    for sampler in ("lmsgld", "laplace")
    for mistake in ((0.5, 1.0), (3.0, 1.0), (0.0, 0.7), (0.0, 1.5))
]


def fit(name, **how):
    """The results of a case."""
    return ENDED[name][0](**how)


def known(name):
    """What is known of it."""
    return ENDED[name][1]()
