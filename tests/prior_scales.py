"""What the package's default priors divide by, for references."""

import numpy as np


def prior_scales(X):
    """The sds (n - 1) of the columns of an array, 1 for those of 0 and 1."""
    zero_one = ((X == 0) | (X == 1)).all(axis=0)
    return np.where(zero_one, 1.0, X.std(axis=0, ddof=1))
