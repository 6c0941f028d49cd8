"""What families of two linear predictors are to the rest of the package."""

from copy import copy

import numpy as np

from sgmc.models.regression.bases.predictors.two_designs import TwoDesignsModel


def of_columns(family, columns):
    """The family of a design with some columns, of each of which the linear predictor is known, or
    -1 of those that are in none.
    """
    return family if family.linear_predictors == 1 else family.of_columns(columns)


def with_columns(family, columns):
    """The family of a design that has more columns than that of the coefficients."""
    return family if family.linear_predictors == 1 else family.with_columns(columns)


def predictors_of(data, family):
    """The linear predictor of each coefficient."""
    if data.equations:
        return np.repeat(np.arange(len(data.equations)), data.d)
    return family.columns if family.linear_predictors > 1 else np.zeros(data.d, dtype=int)


def shifts(priors, shift, coefficients):
    """A shift (d,) of columns as it belongs to the intercepts: itself, or a row for each with as
    many numbers as there are coefficients, see `PriorTable.shifts`.
    """
    if len(shift) == coefficients:
        return priors.shifts(shift)
    equations = np.repeat(np.arange(coefficients // len(shift)), len(shift))
    own = equations == equations[priors.intercepts][:, None]
    return np.where(own, np.tile(shift, coefficients // len(shift)), 0.0)


def refuse_unsound(columns, predictors):
    """ValueError for what does not name a linear predictor, or -1, for each of some columns."""
    sound = isinstance(columns, np.ndarray) and columns.ndim == 1 and columns.dtype.kind == "i"
    if not sound or (len(columns) and not -1 <= columns.min() <= columns.max() < predictors):
        raise ValueError("its columns have no linear predictors")


class TwoPredictors:
    """What families with two linear predictors have beside `Family`, see `TwoDesignsModel`; of
    functions, `eta` has both, each (row, draw).

    Parameters
    ----------
    columns : array (d,) of int, optional
        The predictor of each column of the design, 0 or 1; -1 of one that is in neither.
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
    linear_predictors = 2
    scale, second_link = "", "log"

    def __init__(self, columns=None, constants=()):
        self.columns, self.constants = columns, constants

    def of_file(self, state):
        """Take over the attributes in a file; ValueError for those that no fit makes."""
        if "first" in state:  # of releases where the columns of the second one came last
            first = state.pop("first")
            state["columns"] = None if first is None else np.zeros(first, dtype=int)
        vars(self).update(state)
        if self.columns is not None:
            refuse_unsound(self.columns, self.linear_predictors)

    def unbounded(self):
        """Why curvatures of the linear predictors have no bound."""
        return TwoDesignsModel.unbounded

    def of_trials(self, trials):
        """The family itself: outcomes have no trials."""
        return self

    def of_columns(self, columns):
        """See `of_columns`."""
        found = copy(self)
        found.columns = np.array(columns)
        return found

    def with_columns(self, columns):
        """See `with_columns`."""
        return self.of_columns(np.append(self.columns, columns))

    def predictors_of(self, d):
        """The predictor of each of d columns."""
        # those that are not known are of the second one: see `of_file`
        return np.append(self.columns, np.ones(d - len(self.columns), dtype=int))

    def predictors(self, X, coefficients, offset, extra):
        """Both linear predictors, see `Family`."""
        return self.placed(self.linear(X, coefficients, offset), extra)

    def linear(self, X, coefficients, offset):
        """All linear predictors, auxiliary parameters aside, see `Family`."""
        of = self.predictors_of(coefficients.shape[1])
        each = range(self.linear_predictors)
        found = np.array([X @ np.where(of == k, coefficients, 0.0).T for k in each])
        found[0] += offset[:, None]
        return found

    def centre(self, eta, extra=None):
        """E[y | x], what predictions average over draws."""
        return self.mean(eta)

    @staticmethod
    def second_of(eta):
        """The second predictor, of what functions take as `eta`."""
        return eta[1]

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
