"""What is printed of ordered outcomes: thresholds, where an intercept and the distances between
these are sampled.
"""

from copy import copy

import numpy as np

from sgmc.errors import ArgumentError


class Thresholds:
    """Coefficients and thresholds, from coefficients with an intercept and gaps; parameters of
    effects, which stand between these, stay as they are.

    With intercept b and gaps g_1, .., g_{K-2} the thresholds are c_1 = -b and c_{k+1} = c_k + g_k.
    Gaps are positive, and their logs are sampled; those of thresholds without an order, called
    steps, have either sign, and are sampled as they are.

    Parameters
    ----------
    coefficients : list of str
        With the intercept.
    intercept : int
        Its place.
    thresholds : list of str
        K - 1 names.
    ordered : bool
        Whether thresholds increase.
    moved : array (K - 1, d), optional
        What of the coefficients is added to thresholds as they are printed: those that are sampled
        belong to predictors less their means.

    Attributes
    ----------
    names : list of str
        Of what is printed: coefficients but for the intercept, what is between, thresholds.
    between : int
        How many parameters stand between coefficients and gaps, see `with_between`.
    """

    between = 0
    ordered, moved = True, None  # in files of releases where all were so

    def __init__(self, coefficients, intercept, thresholds, ordered=True, moved=None):
        self.moved = moved
        self.d, self.intercept, self.ordered = len(coefficients), intercept, ordered
        self.slopes = [j for j in range(self.d) if j != intercept]
        self.names = [coefficients[j] for j in self.slopes] + list(thresholds)

    def with_between(self, names):
        """The same with parameters of these names between coefficients and gaps."""
        out, end = copy(self), self.d - 1
        out.names, out.between = [*self.names[:end], *names, *self.names[end:]], len(names)
        return out

    @property
    def gaps(self):
        """Where gaps begin among what is sampled, and thresholds but one among what is printed."""
        return self.d + self.between

    @property
    def signed(self):
        """How many of the last numbers that are sampled have either sign, and are no logs."""
        return 0 if self.ordered else len(self.names) - self.gaps

    def printed(self, values):
        """Points (..., k) as they are printed, from coefficients and gaps."""
        values = np.asarray(values, dtype=float)
        first, between = -values[..., self.intercept, None], values[..., self.d : self.gaps]
        cuts = np.concatenate([first, values[..., self.gaps :]], axis=-1).cumsum(axis=-1)
        if self.moved is not None:
            cuts += values[..., : self.d] @ self.moved.T
        return np.concatenate([values[..., self.slopes], between, cuts], axis=-1)

    def sampled(self, printed):
        """The inverse: coefficients and gaps."""
        printed = np.asarray(printed, dtype=float)
        out, cuts = np.empty(printed.shape), printed[..., self.gaps - 1 :]
        out[..., self.slopes] = printed[..., : self.d - 1]
        out[..., self.d : self.gaps] = printed[..., self.d - 1 : self.gaps - 1]
        if self.moved is not None:
            cuts = cuts - out[..., self.slopes] @ self.moved[:, self.slopes].T
        out[..., self.intercept] = -cuts[..., 0]
        out[..., self.gaps :] = np.diff(cuts, axis=-1)
        return out

    def check_start(self, init):
        """ArgumentError where thresholds of a start (.., k) do not increase, and have to."""
        if self.ordered and (self.sampled(init)[..., self.gaps :] <= 0).any():
            raise ArgumentError(
                f"init: thresholds must increase, {', '.join(self.names[self.gaps - 1 :])}"
            )
