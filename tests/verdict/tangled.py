"""Tables whose two factors are nearly one: rho_2, the second largest squared canonical correlation
of their incidence, is above 0.99.  Standard deviations are known on a grid, as outcomes are normal
with a known sigma.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from sgmc.api import verbs

from .known import Known

SIGMA, NODES = 1.0, 120
RANGE = 2e-3, 4.0  # of the grid; beyond it is less than 1e-3 of the posterior

# name: levels, rows, share of rows with another level of the second factor, and that level: the
# next one, or any
TANGLED = {"ring of levels": (40, 400, 0.5, True), "strays": (20, 160, 0.06, False)}

# how they are sampled: with `thin=1` where default fits would take ten times as long
WAYS = {
    "ring of levels": (
        {},
        {"sampler": "mala"},
        {"sampler": "hmc"},
        {"sampler": "rwm"},
        {"draws": 60},
        {"sampler": "mala", "step_size": 0.01, "draws": 300},
    ),
    "strays": (
        {"draws": 250, "thin": 1},
        {"draws": 60, "thin": 1},
        {"sampler": "mala"},
        {"sampler": "rwm"},
    ),
}


@cache
def frame_of(name):
    """A table, made once."""
    levels, rows, share, following = TANGLED[name]
    rng = np.random.default_rng(12)
    g, x = np.arange(rows) % levels, rng.normal(size=rows)
    other = (g + 1) % levels if following else rng.integers(0, levels, rows)
    h = np.where(rng.random(rows) < share, other, g)
    u, v = 0.6 * rng.normal(size=levels), 0.5 * rng.normal(size=levels)
    y = 0.5 * x + u[g] + v[h] + SIGMA * rng.normal(size=rows)
    return pd.DataFrame({"y": y, "x": x, "g": g, "h": h})


def second_correlation(name):
    """rho_2 of a table."""
    W = pd.crosstab(frame_of(name)["g"], frame_of(name)["h"]).to_numpy(float)
    scaled = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=0)))
    return np.linalg.svd(scaled)[1][1] ** 2


def fit(name, sigma=SIGMA, **how):
    """The results."""
    return verbs.ols("y ~ x + (1 | g) + (1 | h)", frame_of(name), sigma=sigma, **how)


@cache
def known(name):
    """Of the standard deviations: coefficients and effects are integrated out in closed form, under
    the default priors.
    """
    frame = frame_of(name)
    y, x = frame["y"].to_numpy(), frame["x"].to_numpy()
    unit = y.std(ddof=1)
    codes = [frame[one].to_numpy() for one in ("g", "h")]
    D = np.column_stack([np.ones(len(y)), x - x.mean(), *(np.eye(c.max() + 1)[c] for c in codes)])
    first, second = (c.max() + 1 for c in codes)
    gram, by = (D.T @ D) / SIGMA**2, D.T @ (y - y.mean()) / SIGMA**2
    grid = np.geomspace(*RANGE, NODES)
    value = np.empty((NODES, NODES))
    for k, sd in enumerate(grid):
        prior = np.empty((NODES, len(by)))
        prior[:, :2] = np.array([2.5 * unit, 2.5 * unit / x.std(ddof=1)]) ** -2
        prior[:, 2 : 2 + first], prior[:, 2 + first :] = sd**-2, grid[:, None] ** -2
        Q = gram + prior[:, :, None] * np.eye(len(by))
        mean = np.linalg.solve(Q, np.broadcast_to(by[:, None], (NODES, len(by), 1)))[..., 0]
        value[k] = 0.5 * mean @ by - 0.5 * np.linalg.slogdet(Q)[1]
        value[k] -= first * np.log(sd) + second * np.log(grid)
    density = stats.t.logpdf(grid / (2.5 * unit), 3)
    value += density[:, None] + density
    return Known.of_grid({"sd(1|g)": grid, "sd(1|h)": grid}, value)
