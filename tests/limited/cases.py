"""Tables of outcomes that are known in part, one of each kind."""

import numpy as np
import pandas as pd

from sgmc.arguments.data.limited import ENDS

SIGMA, ALPHA = 1.5, 0.5
COEFFICIENTS = {"ols": [1.0, 2.0], "poisson": [1.0, 0.5], "negativebinomial": [1.0, 0.5]}
LEFT, RIGHT, LOW = {"ols": 0.0}, {"ols": 3.0}, {"ols": -1.0}  # of counts 1, 5 and 1
FORMULAS = {
    "censored": "cens(y, c) ~ x",
    "interval": "cens(y, c, y2=upper) ~ x",
    "truncated": "trunc(y, low={low}) ~ x",
    "between": "trunc(y, low={low}, high=most) ~ x",
    "both": "trunc(cens(y, c), low={low}) ~ x",
}


def formula(name, kind):
    """The formula of a family and a kind."""
    return FORMULAS[kind].format(low=LOW.get(name, 1.0))


def simulated(name, n, seed=1):
    """Predictors and outcomes that are all known."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    eta = COEFFICIENTS[name][0] + COEFFICIENTS[name][1] * x
    if name == "ols":
        return pd.DataFrame({"x": x, "y": eta + SIGMA * rng.normal(size=n)})
    mean = np.exp(eta)
    if name == "negativebinomial":
        mean = mean * rng.gamma(1 / ALPHA, ALPHA, n)
    return pd.DataFrame({"x": x, "y": rng.poisson(mean).astype(float)})


def table(name, kind, n, seed=1):
    """A table of a family, with what of its outcomes is known, and codes as brms has them."""
    frame = simulated(name, n, seed)
    left, right, low = LEFT.get(name, 1.0), RIGHT.get(name, 5.0), LOW.get(name, 1.0)
    if kind in ("truncated", "between", "both"):
        frame = frame[frame.y >= low]
    if kind == "between":
        few, many = (9.0, 15.0) if name == "negativebinomial" else (4.0, 7.0)
        most = np.where(np.arange(len(frame)) % 2, few, many)
        frame = frame.assign(most=most)[frame.y.to_numpy() <= most]
    if kind in ("censored", "both"):
        code = np.select([frame.y <= left, frame.y >= right], ["left", "right"], "none")
        frame = frame.assign(y=frame.y.clip(left, right), c=code)
    if kind == "interval":
        step = 2.0
        within = np.arange(len(frame)) % 3 > 0
        floor = np.floor(frame.y / step) * step
        upper = floor + (step if name == "ols" else step - 1)
        y = np.where(within, floor, frame.y)
        frame = frame.assign(y=y, c=np.where(within, 2, 0), upper=np.where(within, upper, np.nan))
    return frame.reset_index(drop=True)


def ends(name, kind, frame):
    """What is known of the outcomes of a table, written out by hand: four arrays."""
    y, none = frame.y.to_numpy(), np.full(len(frame), np.inf)
    low, high, above, below = y, y, -none, none
    if "c" in frame and kind != "interval":
        low = np.where(frame.c == "left", -np.inf, y)
        high = np.where(frame.c == "right", np.inf, y)
    if kind == "interval":
        high = np.where(frame.c == 2, frame.upper, y)
    if kind in ("truncated", "between", "both"):
        above = np.full(len(frame), LOW.get(name, 1.0))
        low = np.maximum(low, above)
    if kind == "between":
        below = frame.most.to_numpy()
    return low, high, above, below


def records(*one):
    """Records of four ends."""
    out = np.empty(np.broadcast_shapes(*map(np.shape, one)), ENDS)
    for name, values in zip(ENDS.names, one):
        out[name] = values
    return out
