"""One parameter between ends: its margin under a Gaussian likelihood, in free numbers.

A parameter near an end has a margin that no normal law describes, in whatever free number v: the
quantile map w -> v makes it standard normal.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from sgmc.coordinates.priors.prior_curve import prior_curve
from sgmc.coordinates.shapes.separation_transform import GRID, quantiles
from sgmc.core.numerics.limits import MAX_LOG

COARSE = np.linspace(-45.0, 45.0, 1801)  # of v, around the log of the cavity's sd, or 0
REACH = np.linspace(-12.0, 12.0, 1201)  # of the parameter, in the cavity's sds
LOST_DENSITY = 60.0  # log density lost
FINE = 6001  # nodes of a margin
POWERS = ("student_t", "inverse_gamma")  # whose densities fall as powers of the parameter
TOLD = 0.3  # of such a prior's scale: with a larger sd the data leave it the tail


class TabulatedMap(NamedTuple):
    """Of w's map at `GRID`: v, log dv/dw and its derivative."""

    values: np.ndarray
    log_slopes: np.ndarray
    bends: np.ndarray


@dataclass(frozen=True)
class Cut:
    """A parameter phi = c(v) with its prior.

    Attributes
    ----------
    prior : PriorSpec
    logged : bool
        Whether phi is the log of what the prior is of.
    low, high : float
        Ends of phi, of which one may be infinite.
    """

    prior: object
    logged: bool
    low: float
    high: float

    def parameter(self, v):
        """phi, the log of its slope and the derivative of that log, at free numbers."""
        if np.isinf(self.high):
            return self.low + np.exp(np.clip(v, -MAX_LOG, MAX_LOG)), v, np.ones_like(v)
        if np.isinf(self.low):
            return self.high - np.exp(np.clip(-v, -MAX_LOG, MAX_LOG)), -v, -np.ones_like(v)
        width, up = self.high - self.low, special.expit(v)
        log_slope = np.log(width) + special.log_expit(v) + special.log_expit(-v)
        return self.low + width * up, log_slope, 1 - 2 * up

    def free(self, phi):
        """Free numbers of parameters inside the ends."""
        above = 0.0 if np.isinf(self.low) else np.log(phi - self.low)
        return above - (0.0 if np.isinf(self.high) else np.log(self.high - phi))

    def log(self, v, place, variance):
        """The log density of v for a likelihood N(place, variance) of phi, and its derivative."""
        phi, log_slope, bend = self.parameter(v)
        natural = np.exp(np.minimum(phi, MAX_LOG)) if self.logged else phi
        with np.errstate(all="ignore"):
            value, slope = prior_curve(self.prior, natural)
            if self.logged:
                value, slope = value + phi, slope * natural + 1
            value = value + log_slope - 0.5 * (phi - place) ** 2 / variance
            slope = (slope + (place - phi) / variance) * np.exp(log_slope) + bend
        good = np.isfinite(value) & np.isfinite(slope)
        return np.where(good, value, -np.inf), np.where(good, slope, 0.0)

    def nodes(self, place, variance):
        """Values of v that hold what matters of that density, in order."""
        sd = np.sqrt(variance)
        middle = 0.0 if np.isfinite(self.high - self.low) else np.log(sd)
        if np.isinf(self.low):
            middle = -middle
        near = place + sd * REACH
        near = near[(near > self.low) & (near < self.high)]
        at = np.unique(np.concatenate([middle + COARSE, self.free(near)]))
        value, _ = self.log(at, place, variance)
        kept = np.flatnonzero(value > value.max() - LOST_DENSITY)
        first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, len(at) - 1)
        return np.unique(np.concatenate([np.linspace(at[first], at[last], FINE), at[first:last]]))

    def moments(self, place, variance):
        """Mean and variance of phi."""
        from scipy import integrate  # only here: it takes long to import

        at = self.nodes(place, variance)
        value, _ = self.log(at, place, variance)
        density, phi = np.exp(value - value.max()), self.parameter(at)[0]
        total = integrate.simpson(density, x=at)
        mean = integrate.simpson(density * phi, x=at) / total
        return mean, integrate.simpson(density * (phi - mean) ** 2, x=at) / total

    def tailed(self, variance):
        """Whether the tail is that of a prior whose density falls as a power."""
        wide = variance > (TOLD * self.prior.scale) ** 2
        open_ended = np.isinf(self.low) or np.isinf(self.high)
        return bool(wide and open_ended and self.prior.family in POWERS and not self.logged)

    def margin(self, place, variance, grid=GRID):
        """The `TabulatedMap` of v, on a grid."""
        return TabulatedMap(
            *quantiles(lambda v: self.log(v, place, variance), self.nodes(place, variance), grid)
        )
