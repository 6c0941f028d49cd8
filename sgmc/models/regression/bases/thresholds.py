"""What is printed of ordered outcomes: thresholds, where an intercept and gaps are sampled."""

import numpy as np

from sgmc.errors import ArgumentError


class Thresholds:
    """Coefficients and thresholds, from coefficients with an intercept and gaps.

    With intercept b and gaps g_1, .., g_{K-2} the thresholds are c_1 = -b and c_{k+1} = c_k + g_k.

    Parameters
    ----------
    coefficients : list of str
        With the intercept.
    intercept : int
        Its place.
    thresholds : list of str
        K - 1 names.

    Attributes
    ----------
    names : list of str
        Of what is printed: coefficients but for the intercept, then thresholds.
    """

    def __init__(self, coefficients, intercept, thresholds):
        self.d, self.intercept = len(coefficients), intercept
        self.slopes = [j for j in range(self.d) if j != intercept]
        self.names = [coefficients[j] for j in self.slopes] + list(thresholds)

    def printed(self, values):
        """Points (..., k) as they are printed, from coefficients and gaps."""
        values = np.asarray(values, dtype=float)
        first = -values[..., self.intercept, None]
        cuts = np.concatenate([first, values[..., self.d :]], axis=-1).cumsum(axis=-1)
        return np.concatenate([values[..., self.slopes], cuts], axis=-1)

    def sampled(self, printed):
        """The inverse: coefficients and gaps."""
        printed = np.asarray(printed, dtype=float)
        out, cuts = np.empty(printed.shape), printed[..., self.d - 1 :]
        out[..., self.slopes] = printed[..., : self.d - 1]
        out[..., self.intercept] = -cuts[..., 0]
        out[..., self.d :] = np.diff(cuts, axis=-1)
        return out

    def check_start(self, init):
        """ArgumentError where thresholds of a start (.., k) do not increase."""
        if (self.sampled(init)[..., self.d :] <= 0).any():
            raise ArgumentError(
                f"init: thresholds must increase, {', '.join(self.names[self.d - 1 :])}"
            )
