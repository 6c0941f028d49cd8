"""What families of two linear predictors are to the rest of the package."""

import numpy as np

from sgmc.models.regression.bases.two_designs import TwoDesignsModel


class TwoPredictors:
    """What families with two linear predictors have beside `Family`, see `TwoDesignsModel`; of
    functions, `eta` has both, each (row, draw).

    Parameters
    ----------
    first : int, optional
        Columns of the first predictor, with which the design begins.
    constants : tuple of int
        Which predictors have an intercept, 0 for the first and 1 for the second.

    Attributes
    ----------
    scale : str
        What the second predictor is, and exp of its slopes, as summaries print it.
    second_link : str
        The link of its parameter, as `Family.link` is of the mean.
    """

    log_concave = False
    scale, second_link = "", "log"

    def __init__(self, first=None, constants=()):
        self.first, self.constants = first, constants

    def unbounded(self):
        """Why curvatures of the linear predictors have no bound."""
        return TwoDesignsModel.unbounded

    def of_trials(self, trials):
        """The family itself: outcomes have no trials."""
        return self

    def predictors(self, X, coefficients, offset, extra):
        """Both linear predictors, see `Family`."""
        k, d = self.first, coefficients.shape[1]
        first = X[:, :k] @ coefficients[:, :k].T + offset[:, None]
        return np.array([first, X[:, k:] @ coefficients[:, k:d].T])

    def centre(self, eta, extra=None):
        """E[y | x], what predictions average over draws."""
        return self.mean(eta)

    @staticmethod
    def second(zeta):
        """The parameter that the second predictor is of, from its values, elementwise."""
        raise NotImplementedError("second")

    @staticmethod
    def second_level(mean, variance):
        """Where the default prior of the second predictor's intercept is centred, from moments of
        the outcomes.
        """
        return 0.0
