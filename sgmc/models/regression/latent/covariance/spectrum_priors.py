"""Priors of parameters by which the sds of a term's columns differ, and how these are printed."""

import math
from dataclasses import dataclass

import numpy as np

from sgmc.errors import ArgumentError
from sgmc.priors import as_spec, lkj, lognormal, uniform
from sgmc.splines.spectra import LengthScale

TAIL = 2.3263478740408408  # beyond so many sds of the log a length scale's default prior has 1 %
START_IN_TIME = 0.5  # correlation of neighbouring times, as of most series


@dataclass(frozen=True)
class SpectralPrior:
    """A length scale, of which the log is sampled, a share rho, of which atanh(2 rho - 1) is, or a
    correlation rho in time, of which atanh(rho) is.

    Attributes
    ----------
    name : str
        ``"scale(gp(x))"``.
    parameter : SpectralParameter
    """

    name: str
    parameter: object

    @property
    def logged(self):
        """Whether the log is sampled."""
        return isinstance(self.parameter, LengthScale)

    @property
    def default(self):
        """Of a length scale a lognormal prior with 1 % below its ends, and 1 % above; of a share a
        uniform one; of a correlation in time one that is zero at its ends, near which the data
        tell nothing of the sd.
        """
        if not self.logged:
            return lkj(2.0) if self.parameter.low < 0 else uniform(0.0, 1.0)
        low, high = np.log(self.parameter.ends)
        return lognormal((low + high) / 2, (high - low) / (2 * TAIL))

    @property
    def start(self):
        """Where the search for the mode begins."""
        if self.logged:
            return math.log(self.default.scale)
        return math.atanh(START_IN_TIME) if self.parameter.low < 0 else 0.0

    @property
    def short(self):
        """Another place to begin, of a short length scale."""
        if not self.logged:
            return self.start
        low, high = np.log(self.parameter.ends)
        return 0.75 * low + 0.25 * high

    def checked(self, given):
        """The prior that the user gave, or the default; ArgumentError for one that does not
        suit.
        """
        if given is None:
            return self.default
        one = as_spec(given, f"prior[{self.name!r}]")
        if self.logged:
            suits, such = one.positive and not one.cut, "lognormal(1, 0.5) or inverse_gamma(3, 2)"
        else:
            suits = one == uniform(self.parameter.low, 1.0) or one.family == "lkj"
            such = "uniform(0, 1) or lkj(0.5), which is Beta(0.5, 0.5) of it"
            if self.parameter.low < 0:
                such = "uniform(-1, 1) or lkj(2), whose density is 1 - rho^2"
        if not suits or one.autoscale:
            raise ArgumentError(f"prior: {one} does not suit {self.name!r}; use e.g. sgmc.{such}")
        return one

    def used(self, one):
        """The prior of what is sampled: rho ~ Beta(a, a) is the law of 2 rho - 1 with a density
        (1 - r^2)^(a - 1).
        """
        return lkj(1.0) if one.family == "uniform" else one
