"""Simulation-based calibration (Talts et al. 2018) of survival regressions at default settings.

python -m tests.survival.sbc [--replicates 200]
"""

import warnings

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import SGMCWarning

from ..sbc import KEPT, calibrate
from .tables import ERRORS, FORMULAS

ROWS, NAMES = 60, ["Intercept", "a", "b", "sigma"]
PRIORS = {
    "Intercept": sgmc.normal(1, 0.7),
    "a": sgmc.normal(0, 0.7),
    "b": sgmc.normal(0, 0.7),
    "sigma": sgmc.exponential(scale=0.8),
}
CALIBRATED = {"weibull": "right", "loglogistic": "left", "lognormal": "interval"}


def drawn(law, rng):
    """Parameters from the prior and a table from the model, drawn anew where there is no event."""
    while True:
        beta = np.array([rng.normal(one.location, one.scale) for one in PRIORS.values()][:3])
        sigma = rng.exponential(PRIORS["sigma"].scale)
        X = np.column_stack([np.ones(ROWS), rng.normal(size=(ROWS, 2))])
        time = np.exp(X @ beta + sigma * ERRORS[law].rvs(size=ROWS, random_state=rng))
        other = rng.exponential(6.0, size=ROWS)
        frame = pd.DataFrame({"a": X[:, 1], "b": X[:, 2]})
        if CALIBRATED[law] == "interval":  # every time is between two visits, or before or after
            edges = np.column_stack([np.zeros(ROWS), other, 2 * other, np.full(ROWS, np.inf)])
            at = (edges <= time[:, None]).sum(axis=1)
            ends = {"lower": edges[range(ROWS), at - 1], "upper": edges[range(ROWS), at]}
            frame, told = frame.assign(**ends), (at == 2).any()
        elif CALIBRATED[law] == "left":
            frame = frame.assign(time=np.maximum(time, other), event=(time >= other) * 1)
            told = frame.event.any()
        else:
            frame = frame.assign(time=np.minimum(time, other), event=(time <= other) * 1)
            told = frame.event.any()
        if told and np.isfinite(time).all() and time.min() > 0:
            return np.append(beta, sigma), frame


def ranks(law, replicates, seed=1, distort=lambda draws: draws, prior=PRIORS):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters)."""
    found = []
    for k in range(replicates):
        theta, frame = drawn(law, np.random.default_rng([seed, k]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            results = sgmc.survreg(
                FORMULAS[CALIBRATED[law]], frame, dist=law, prior=prior, seed=k, draws=500
            )
        draws = distort(results.flat)
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


if __name__ == "__main__":
    calibrate(__doc__, CALIBRATED, lambda law: NAMES, ranks)
