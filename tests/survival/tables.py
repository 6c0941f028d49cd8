"""Survival times: a published table, simulated ones of every kind of censoring, and their laws by
scipy.
"""

import numpy as np
import pandas as pd
from scipy import stats

import sgmc

# Freireich et al. (1963), Blood 21, 699-716, as printed by Gehan (1965), Biometrika 52, 203-223,
# table 1: weeks of remission of acute leukaemia; negative where the child was still in remission
MERCAPTOPURINE = [6, 6, 6, 7, 10, 13, 16, 22, 23, -6, -9, -10, -11, -17, -19, -20, -25, -32, -32]
MERCAPTOPURINE += [-34, -35]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]

ERRORS = {  # of W in log T = eta + sigma W
    "weibull": stats.gumbel_l,
    "exponential": stats.gumbel_l,
    "lognormal": stats.norm,
    "loglogistic": stats.logistic,
}
COEFFICIENTS, SIGMA = np.array([2.0, 0.5, -0.8]), 0.6


def remissions():
    """Gehan's table: time, event and whether the child had a placebo."""
    weeks = np.array(MERCAPTOPURINE + PLACEBO)
    return pd.DataFrame(
        {"time": np.abs(weeks), "event": weeks > 0, "placebo": np.repeat([0, 1], 21)}
    )


def log_density(law, y, eta, sigma):
    """log p by scipy, of outcomes as `Surv` has them: a density of the time, or a probability."""
    error, y = ERRORS[law], np.asarray(y, dtype=complex)
    t, known = y.real, y.imag
    z, w = ((np.log(np.where(k > 0, k, 1.0)) - eta) / sigma for k in (t, known))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        between = np.where(
            z + w < 0, error.cdf(w) - error.cdf(z), error.sf(z) - error.sf(w)
        )  # of tails that are small numbers, not differences of ones
        return np.select(
            [known == 0, known == -1, known == -2],
            [error.logpdf(z) - np.log(sigma) - np.log(t), error.logsf(z), error.logcdf(z)],
            np.log(between),
        )


def simulated(law, n, seed=1, kind="right"):
    """A table of `n` rows with two predictors, and censoring of one kind: ``time`` and ``event``,
    or ``lower`` and ``upper``.
    """
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.integers(0, 2, n)
    eta = np.column_stack([np.ones(n), a, b]) @ COEFFICIENTS
    sigma = 1.0 if law == "exponential" else SIGMA
    p = rng.random(n)
    time = np.exp(eta + sigma * ERRORS[law].ppf(p))
    other = np.exp(eta + 0.3 + rng.normal(size=n))
    frame = pd.DataFrame({"a": a, "b": b})
    if kind == "interval":  # visits in threes, at random times; some are seen at the time itself
        visits = np.exp(eta[:, None] + rng.normal(size=(n, 3))).cumsum(axis=1)
        edges = np.column_stack([np.zeros(n), visits, np.full(n, np.inf)])
        at = (edges <= time[:, None]).sum(axis=1)
        seen = rng.random(n) < 0.3
        lower, upper = edges[np.arange(n), at - 1], edges[np.arange(n), at]
        return frame.assign(lower=np.where(seen, time, lower), upper=np.where(seen, time, upper))
    before = kind == "left"
    event = time >= other if before else time <= other
    observed = np.maximum(time, other) if before else np.minimum(time, other)
    return frame.assign(time=observed, event=event.astype(int))


FORMULAS = {
    "right": "Surv(time, event) ~ a + b",
    "left": "Surv(time, event, type='left') ~ a + b",
    "interval": "Surv(lower, upper, type='interval2') ~ a + b",
}


def outcomes(frame, kind):
    """What the formula of that kind makes of a table."""
    if kind == "interval":
        return np.asarray(sgmc.Surv(frame.lower, frame.upper, type="interval2"))
    return np.asarray(sgmc.Surv(frame.time, frame.event, type=kind))
