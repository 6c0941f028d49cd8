"""Families of outcomes that are known in part: censored, truncated, or both."""

import numpy as np

from sgmc.arguments.data.limited import is_bounded, limited, numbers_of_ends
from sgmc.core.designs.design import design
from sgmc.errors import DataError


def log_densities(kernel, y, eta, *auxiliary):
    """log p(y | eta) by a compiled model of outcomes known in part, elementwise and broadcast.

    Parameters
    ----------
    kernel : type
        An `InPart` model.
    y : array of outcomes, see `sgmc.arguments.data.limited`
    eta : array
        Linear predictors.
    auxiliary : array, optional
        The auxiliary parameter.
    """
    y = limited(y)
    u = np.log(auxiliary[0]) if auxiliary else 0.0
    shape = np.broadcast_shapes(np.shape(y), np.shape(eta), np.shape(u))
    rows, at, scale = (np.broadcast_to(one, shape).ravel() for one in (y, eta, u))
    model = kernel(design(np.ones((len(rows), 1))), rows)
    values = model.log_densities(np.array(at, dtype=float), np.array(scale, dtype=float))
    return values.reshape(shape)


class LimitedFamily:
    """What `Family` has, of outcomes some of which are censored or truncated.

    Means and simulated outcomes are those of the outcome itself, as it would be without censoring
    and truncation; densities are of what is known.

    Attributes
    ----------
    whole : Family
        Of outcomes that were all observed, with at most one auxiliary parameter; its `in_part` is
        this class.
    rows : type
        The compiled model of outcomes known in part, an `InPart`.
    """

    whole, rows = None, None
    errors = summed = bounded_if_known = expands = False
    limited = True

    def __init_subclass__(cls, **how):
        """Become the family in part of the one of outcomes that were all observed."""
        super().__init_subclass__(**how)
        cls.whole.in_part = cls

    def __getattr__(self, name):
        if name.startswith("__"):  # as pickle asks
            raise AttributeError(name)
        return getattr(self.whole, name)

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return self.rows(X, y, offset, weight)

    def unbounded(self):
        """Why curvatures of the linear predictor have no bound."""
        return "outcomes that are known in part bound no curvature of it"

    def of_trials(self, trials):
        """The family itself: outcomes have no trials."""
        return self

    def of_ends(self):
        """The family itself."""
        return self

    def numbers(self, y):
        """Outcomes as numbers: of censored ones the end that is known, or the middle of two."""
        middle = numbers_of_ends(limited(y))
        return np.floor(middle) if self.whole.counts else middle

    @staticmethod
    def telling(y):
        """Outcomes that are known from both sides."""
        return is_bounded(y)

    def open_sides(self, y, trials=None):
        """(up, down): those of the whole family, of outcomes without an end on that side, and of
        those that may be at a bound of truncation.
        """
        down = self.whole.open_sides(y["low"])[1]
        return y["high"] >= y["below"], down | (y["low"] <= y["above"])

    def log_density(self, y, eta, extra=None):
        """log p of what is known, with every constant."""
        return log_densities(self.rows, y, eta, *(() if extra is None else extra))

    def check(self, y, label):
        """The ends of outcomes are outcomes of the family, and some are known from both sides."""
        for end in ("low", "high"):
            known = np.isfinite(y[end])
            self.whole.check(np.append(y[end][known], self.numbers(y)), label)
        if not is_bounded(y).any():
            raise DataError(
                f"every outcome {label!r} is censored on one side, which leaves it unbounded: the "
                "codes of cens() are 'none' for outcomes that were observed"
            )
