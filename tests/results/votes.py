"""A table with a factor and an awkward name, and draws of results with weights."""

import numpy as np
import pandas as pd
from scipy import special

N = 500
FORMULA = "y ~ x1 + x10 + `my var` + g"


def frame(n=N, seed=0):
    """Rows with numbers, a factor and an awkward name."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "x1": rng.normal(size=n),
            "x10": rng.normal(size=n),
            "my var": rng.normal(size=n),
            "g": rng.choice(["a", "b", "c"], n),
            "off": rng.uniform(-1, 1, n),
        }
    )
    eta = 0.2 + 0.8 * df.x1 - 0.5 * df["my var"] + 0.6 * (df.g == "b")
    return df.assign(y=np.where(rng.random(n) < special.expit(eta), "yes", "no"))


def flat(results):
    """Draws (n, d) and their weights, summing to one."""
    draws = results.draws.reshape(-1, results.draws.shape[2])
    weights = (
        np.ones(len(draws))
        if results.weights is None
        else np.tile(results.weights, len(results.draws))
    )
    return draws, weights / weights.sum()
