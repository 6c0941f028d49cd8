"""Posteriors of ordered outcomes with effects of levels in plain numpy: the effects integrated by
trapezoids, the parameters by importance sampling.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy import special, stats

import sgmc
from tests.prior_scales import prior_scales

from .cases import DISTRIBUTIONS

TERMS = {
    "one": "(1 | g)",
    "slopes": "(1 + x | g)",
    "nested": "(1 | g/h)",
    "crossed": "(1 | g) + (1 | h)",
    "smooth": "s(x)",
    "both": "s(x) + (1 | g)",
}
GRID = np.linspace(-6.5, 6.5, 53)  # of standard normal effects: trapezoids are exact to 1e-7
WEIGHTS = -0.5 * GRID**2 - special.logsumexp(-0.5 * GRID**2)


@cache
def table(groups=8, rows=10):
    """Four levels in groups, the third of which is rare; h has two levels within each group."""
    rng = np.random.default_rng(3)
    g = np.repeat(np.arange(groups), rows)
    h, x = np.arange(len(g)) % 2, rng.normal(1.0, 1.0, len(g))
    b, c = rng.normal(size=groups), 0.7 * rng.normal(size=(groups, 2))
    latent = 0.8 * x + b[g] + c[g, h] + rng.logistic(size=len(g))
    codes = np.searchsorted([-0.3, 1.2, 1.6], latent)
    y = pd.Categorical.from_codes(codes, ["no", "low", "mid", "high"], ordered=True)
    return pd.DataFrame({"y": y, "x": x, "g": g, "h": h})


def formula(kind):
    """As a user writes it; the line of a smooth is its own."""
    return f"y ~ {TERMS[kind]}" if "s(x)" in TERMS[kind] else f"y ~ x + {TERMS[kind]}"


def model(kind, link="logit"):
    """The model of a kind of terms."""
    return sgmc.Ordinal.from_formula(formula(kind), table(), link=link)


def log_rows(eta, y, cuts, link):
    """log P(y) of rows (n, ..) with linear predictors eta."""
    F = DISTRIBUTIONS[link]
    cuts = np.concatenate([[-np.inf], cuts, [np.inf]])
    shape = (len(y), *[1] * (eta.ndim - 1))
    high, low = cuts[y + 1].reshape(shape), cuts[y].reshape(shape)
    return np.log(np.maximum(F(high - eta) - F(low - eta), 1e-300))


def log_prior(slope, cuts, x):
    """Of slope, first threshold and gaps, by the documentation."""
    total = stats.norm.logpdf(slope, 0, 2.5 / prior_scales(x[:, None])[0])
    total += stats.norm.logpdf(-cuts[0] + slope * x.mean(), 0, 2.5)
    return total - np.diff(cuts).sum() / 2.5


def by_grid(kind, point, link="logit", frame=None):
    """The log posterior at (slope, sds, correlation, thresholds) as they are printed."""
    frame = table() if frame is None else frame
    x, y, g = frame["x"].to_numpy(), frame["y"].cat.codes.to_numpy(), frame["g"].to_numpy()
    slope, sd, cuts = point[0], point[1 : 1 + (kind != "one") + 1], point[-3:]
    if (sd <= 0).any() or (np.diff(cuts) <= 0).any():
        return -np.inf
    eta, starts = slope * x, np.flatnonzero(np.diff(g, prepend=-1))
    value = log_prior(slope, cuts, x) + stats.t.logpdf(sd[0] / 2.5, 3)
    if kind == "one":
        rows = log_rows(eta[:, None] + sd[0] * GRID, y, cuts, link)
        return value + special.logsumexp(np.add.reduceat(rows, starts) + WEIGHTS, axis=1).sum()
    rest = WEIGHTS[:, None]
    if kind == "slopes":
        rho = point[3]
        if abs(rho) >= 1:
            return -np.inf
        value += stats.t.logpdf(sd[1] * prior_scales(x[:, None])[0] / 2.5, 3)
        b, c = sd[0] * GRID[:, None], sd[1] * (rho * GRID[:, None] + np.sqrt(1 - rho**2) * GRID)
        rows = log_rows(eta[:, None, None] + b + x[:, None, None] * c, y, cuts, link)
        groups = np.add.reduceat(rows, starts) + WEIGHTS + rest
        return value + special.logsumexp(groups, axis=(1, 2)).sum()
    value += stats.t.logpdf(sd[1] / 2.5, 3)
    order = np.lexsort((frame["h"], g))
    rows = log_rows(
        eta[order, None, None] + sd[0] * GRID[:, None] + sd[1] * GRID, y[order], cuts, link
    )
    cell = np.flatnonzero(np.diff((2 * g + frame["h"].to_numpy())[order], prepend=-1))
    inner = special.logsumexp(np.add.reduceat(rows, cell) + WEIGHTS, axis=2)
    return value + special.logsumexp(inner[::2] + inner[1::2] + WEIGHTS, axis=1).sum()
