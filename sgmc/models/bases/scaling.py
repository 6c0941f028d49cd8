"""Centre and size of the columns of a table, in one pass over chunks of rows."""

import numpy as np

# Numbers whose moments are taken together.  Sums of other chunks would round otherwise, and so
# would every fit that is scaled by them: it is apart from the sizes of chunks that are only looked
# at.
SCALED_NUMBERS = 1 << 22


def centre_and_unit(X, scale):
    """(centre, unit), arrays (d,), with which (x_j - centre_j) unit_j has mean 0 and sd 1; constant
    columns have unit 1.

    Parameters
    ----------
    X : array (n, d)
        Of any numbers; never converted as a whole.
    scale : {"columns", "table", None}
        Each column by itself, all numbers together, or not at all: then 0 and 1.
    """
    n, d = X.shape
    if scale is None:
        return np.zeros(d), np.ones(d)
    mean, scatter, step = np.zeros(d), np.zeros(d), max(1, SCALED_NUMBERS // d)
    for start in range(0, n, step):
        part = X[start : start + step].astype(float)
        share, gap = len(part) / (start + len(part)), part.mean(axis=0) - mean
        scatter += part.var(axis=0) * len(part) + gap**2 * start * share
        mean += share * gap
    variance = scatter / n
    if scale == "table":
        variance, mean = np.full(d, variance.mean() + mean.var()), np.full(d, mean.mean())
    return mean, 1 / np.sqrt(np.where(variance > 0, variance, 1.0))
