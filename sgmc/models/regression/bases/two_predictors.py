"""What families of two linear predictors are to the rest of the package."""

import numpy as np

from sgmc.models.regression.bases.family import Counts
from sgmc.models.regression.bases.two_designs import TwoDesignsModel


class TwoPredictors(Counts):
    """Counts with two linear predictors, see `TwoDesignsModel`; of functions, `eta` has both, each
    (row, draw).

    Parameters
    ----------
    first : int, optional
        Columns of the first predictor, with which the design begins.
    constants : tuple of int
        Which predictors have an intercept, 0 for the first and 1 for the second.
    """

    log_concave = False

    def __init__(self, first=None, constants=()):
        self.first, self.constants = first, constants

    def unbounded(self):
        return TwoDesignsModel.unbounded

    def of_trials(self, trials):
        return self

    def predictors(self, X, coefficients, offset, extra):
        k, d = self.first, coefficients.shape[1]
        first = X[:, :k] @ coefficients[:, :k].T + offset[:, None]
        return np.array([first, X[:, k:] @ coefficients[:, k:d].T])

    def centre(self, eta, extra=None):
        return self.mean(eta)
