"""Families whose scale, dispersion or precision has a linear predictor of its own."""

import numpy as np

from sgmc.core.numerics.limits import MAX_LOG_CUBED
from sgmc.models.regression.bases.predictors.two_predictors import TwoPredictors
from sgmc.models.regression.bases.predictors.varying import Columnless, Varying


class DistributionalFamily(TwoPredictors):
    """A family whose first auxiliary parameter has a linear predictor of its log, in the place of
    one number for all rows; all else is as in the family with the number.

    Parameters
    ----------
    whole : Family
        With the number.
    columns, constants
        As in `TwoPredictors`.
    """

    known, extra = {}, None
    errors = summed = bounded_if_known = expands = False

    def __init__(self, whole, columns=None, constants=()):
        super().__init__(columns, constants)
        self.whole, self.auxiliary = whole, whole.auxiliary[1:]
        parameter = whole.auxiliary[0].name
        self.parts, self.title = f"{parameter}:", f"{whole.title} with predictors of {parameter}"
        self.scale = f"log {parameter}: exp of a slope is a ratio of {parameter}s"

    def __getattr__(self, name):
        # as pickle asks before there is anything
        if name.startswith("__") or "whole" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.whole, name)

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        whole = self.whole.kernel(Columnless(len(y)), y, offset)
        return Varying(whole, X, offset, weight, self.columns)

    def start(self, mean, variance):
        """(intercepts, logs of auxiliary parameters) to begin the search for the mode at."""
        # as of one number
        level, logs = self.whole.start(mean, variance)
        return np.array([[level, logs[0]][k] for k in self.constants]), logs[1:]

    def units(self, mean, variance):
        """Of the auxiliary parameters that stay numbers."""
        return self.whole.units(mean, variance)[1:]

    def second_level(self, mean, variance):
        # the unit of the number's own default prior
        own = self.whole.auxiliary[0].prior.autoscale
        return float(np.log(self.whole.units(mean, variance)[0])) if own else 0.0

    def of_ends(self):
        """The family of censored and truncated outcomes, with the same predictors."""
        return type(self)(self.whole.of_ends(), self.columns, self.constants)

    @staticmethod
    def second(zeta):
        """exp of the predictor, held where products of three are numbers."""
        return np.exp(np.clip(zeta, -MAX_LOG_CUBED, MAX_LOG_CUBED))

    def all_extra(self, eta, extra):
        """All auxiliary parameters, as functions of the whole family take them."""
        return [self.second(eta[1]), *(() if extra is None else extra)]

    def mean(self, eta):
        """Of the first predictor."""
        return self.whole.mean(eta[0])

    def centre(self, eta, extra=None):
        """What predictions average over draws: E[y | x], of survival times their median."""
        return self.whole.centre(eta[0], self.all_extra(eta, extra))

    def variance(self, eta, extra=None):
        """Var[y | x]."""
        return self.whole.variance(eta[0], self.all_extra(eta, extra))

    def log_density(self, y, eta, extra=None):
        """log p(y | x), with every constant."""
        return self.whole.log_density(y, eta[0], self.all_extra(eta, extra))

    def simulate(self, eta, rng, extra=None):
        """Outcomes drawn by a numpy Generator."""
        return self.whole.simulate(eta[0], rng, self.all_extra(eta, extra))

    def quantile(self, p, eta, extra=None):
        """Of survival times, see `SurvregFamily`."""
        return self.whole.quantile(p, eta[0], self.all_extra(eta, extra))

    def log_survival(self, times, eta, extra=None):
        """log P(T > t) of survival times."""
        return self.whole.log_survival(times, eta[0], self.all_extra(eta, extra))
