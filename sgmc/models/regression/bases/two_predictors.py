"""What families of two linear predictors are to the rest of the package."""

from copy import copy

import numpy as np

from sgmc.models.regression.bases.family import Counts
from sgmc.models.regression.bases.two_designs import TwoDesignsModel


def with_columns(family, columns):
    """The family of a design with more columns, of each of which the linear predictor is known, or
    -1 of those that are in none.
    """
    if family.linear_predictors == 1:
        return family
    found = copy(family)
    found.columns = np.append(family.columns, columns)
    return found


class TwoPredictors(Counts):
    """Counts with two linear predictors, see `TwoDesignsModel`; of functions, `eta` has both, each
    (row, draw).

    Parameters
    ----------
    columns : array (d,) of int, optional
        The predictor of each column of the design, 0 or 1; -1 of one that is in neither.
    constants : tuple of int
        Which predictors have an intercept, 0 for the first and 1 for the second.
    """

    log_concave = False
    linear_predictors = 2

    def __init__(self, columns=None, constants=()):
        self.columns, self.constants = columns, constants

    def unbounded(self):
        return TwoDesignsModel.unbounded

    def of_trials(self, trials):
        return self

    def predictors(self, X, coefficients, offset, extra):
        return self.placed(self.linear(X, coefficients, offset), extra)

    def linear(self, X, coefficients, offset):
        first, second = (X @ np.where(self.columns == k, coefficients, 0.0).T for k in (0, 1))
        return np.array([first + offset[:, None], second])

    def centre(self, eta, extra=None):
        return self.mean(eta)
