"""The table that is raced on."""

import numpy as np
import pandas as pd

# h of SGLD in whitened coordinates: relative sd error (1 - h/4)^(-1/2) - 1
DECADES = [0.001, 0.01, 0.1, 1.0, 3.0]


def frame(n=2000, seed=0):
    """Rows with outcome y and predictors a, b."""
    rng = np.random.default_rng([seed, n])
    df = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - df.a + 0.5 * df.b))).astype(int))


def without_seconds(result):
    """The history that a seed fixes."""
    return result.history.drop(columns="seconds")
