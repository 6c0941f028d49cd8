"""Months of rows of one regression, for tests of updates."""

import numpy as np
import pandas as pd

SLOPES = (0.3, 0.8, -0.6)


def month(rng, n, slopes=SLOPES, level=0.4):
    """A table of n rows: outcomes of several families of one linear predictor."""
    x, g = rng.normal(size=(n, 2)), rng.choice(list("abc"), n)
    eta = slopes[0] + x @ np.array(slopes[1:]) + level * (g == "b")
    mean = np.exp(0.5 * eta)
    return pd.DataFrame(
        {
            "x1": x[:, 0],
            "x2": x[:, 1],
            "g": g,
            "won": np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no"),
            "count": rng.poisson(mean),
            "spread": rng.negative_binomial(2, 2 / (2 + mean)),
            "number": eta + rng.normal(size=n),
        }
    )


def months(seed, n, count):
    """Several months."""
    rng = np.random.default_rng(seed)
    return [month(rng, n) for _ in range(count)]


def carried(res, tables, remove=True, **how):
    """Results updated month by month, by default without the earlier rows."""
    for table in tables:
        if remove:
            res.remove_data()
        res = res.update(table, **how)
    return res


def apart(res, full):
    """The largest difference of a mean, in sds of `full`, and relative one of an sd."""
    mean = np.abs((res.params - full.params) / full.bse).max()
    return mean, np.abs(res.bse / full.bse - 1).max()
