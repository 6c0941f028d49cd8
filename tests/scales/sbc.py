"""Simulation-based calibration (Talts et al. 2018) of learned scales at default settings: global
parameters, local scales, coefficients and outcomes from the prior, ranks among the draws.

Priors here are in units that the outcomes do not set.

    python -m tests.scales.sbc [--replicates 200] [--cases "ols, horseshoe"]
"""

import itertools
import warnings

import numpy as np

import sgmc
from sgmc.errors import SGMCWarning

from ..sbc import KEPT, calibrate

D, ROWS = 6, {"ols": 40, "logit": 80}
INTERCEPT, SIGMA = sgmc.normal(0, 0.7), sgmc.exponential(scale=0.7)
TAU, SLAB = 0.3, 1.5
PRIORS = {
    "horseshoe": sgmc.horseshoe(scale=TAU, slab=SLAB, autoscale=False, learned=True),
    "ridge": sgmc.ridge(df=5, scale=0.6),
    "r2d2": sgmc.r2d2(mean=0.4, precision=5.0),
}
CASES = ["ols, horseshoe", "logit, horseshoe", "logit, ridge", "ols, r2d2", "logit, r2d2"]


def scales(kind, rng):
    """The global parameter, and sds of coefficients in their units, from the prior."""
    if kind == "ridge":
        sd = np.abs(0.6 * rng.standard_t(5))
        return sd, np.full(D, sd)
    if kind == "horseshoe":
        tau = np.abs(TAU * rng.standard_cauchy())
        return tau, tau * np.abs(rng.standard_cauchy(D))
    tau2 = 1 / rng.gamma(0.6 * 5.0)
    return tau2, np.sqrt(tau2 * rng.gamma(0.4 * 5.0 / D, size=D))


def simulated(name, rng):
    """Parameters from the prior, predictors, and outcomes that are not all alike."""
    verb, _, kind = name.partition(", ")
    while True:
        X = rng.normal(size=(ROWS[verb], D)) * np.array([0.5, 1, 1, 1, 2, 1])
        X[:, 1] += X[:, 0]
        globally, sds = scales(kind, rng)
        sigma = rng.exponential(SIGMA.scale) if verb == "ols" else 1.0
        sds = sds * sigma / X.std(axis=0, ddof=1)
        if kind == "horseshoe":
            sds = 1 / np.sqrt(1 / np.maximum(sds, 1e-100) ** 2 + SLAB**-2.0)
        theta = np.concatenate([[INTERCEPT.scale * rng.normal()], sds * rng.normal(size=D)])
        eta = theta[0] + X @ theta[1:]
        own = [sigma] if verb == "ols" else []
        if verb == "ols":
            return np.array([*theta, globally, *own]), X, eta + sigma * rng.normal(size=len(X))
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(float)
        if 0 < y.sum() < len(y):
            return np.array([*theta, globally]), X, y


def ranks(name, replicates, seed=1, distort=lambda draws: draws, prior=None):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters), for a prior of slopes and a
    distortion of the draws.
    """
    verb, _, kind = name.partition(", ")
    model, found = {"ols": sgmc.OLS, "logit": sgmc.Logit}[verb], []
    names = ["Intercept", *(f"x{j}" for j in range(D))]
    for k in range(replicates):
        theta, X, y = simulated(name, np.random.default_rng([seed, k]))
        priors = {"*": prior or PRIORS[kind], "Intercept": INTERCEPT}
        if verb == "ols":
            priors["sigma"] = SIGMA
        fitted = model(y, np.column_stack([np.ones(len(y)), X]), names=names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            results = fitted.fit(prior=priors, seed=k, draws=500)
        draws = distort(results.flat)
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


if __name__ == "__main__":
    calibrate(__doc__, CASES, lambda case: itertools.count(), ranks)
