"""Local scales on a grid of their logs, and what N(place, h) tells of them."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from sgmc.coordinates.shapes.separation_transform import BEYOND, GRID, quantiles
from sgmc.models.regression.latent.shrunk.shrinking import SMALLEST_SHRUNK

LOG_REACH, REACH_NODES = 42.0, 8001  # logs of half-Cauchy scales: its tails fall as exp(-|v|)
HIGHEST_ROOT = 4.0  # log of the root of a gamma variate whose square overflows no density
LEAST_LOCAL = -24.0  # scales below are one: the data do not tell them from zero
LOCAL_NODES = 97  # of expectation propagation


@dataclass(frozen=True)
class Local:
    """The prior of v, the log of a local scale.

    Attributes
    ----------
    kind : str
        See `shrinking.LOCAL_KINDS`.
    shape : float
        a where exp(2 v) ~ Gamma(a, 1).
    """

    kind: str
    shape: float

    def log(self, v):
        """Log density, up to a constant, and its derivative."""
        if self.kind == "half_cauchy":
            return -np.logaddexp(v, -v), -np.tanh(v)
        square = np.exp(2 * v)
        return 2 * self.shape * v - square, 2 * self.shape - 2 * square

    def nodes(self):
        """Points (m,) and the log of the prior mass of each; all mass below is in the first one."""
        if self.kind == "none":
            return np.zeros(1), np.zeros(1)
        top = -LEAST_LOCAL if self.kind == "half_cauchy" else HIGHEST_ROOT
        v = np.linspace(LEAST_LOCAL, top, LOCAL_NODES)
        edges = 0.5 * (v[1:] + v[:-1])
        if self.kind == "half_cauchy":
            # masses by differences of the smaller tail, so that none is lost to rounding
            tail = 2 / np.pi * np.arctan(np.exp(-np.abs(edges)))
            below = np.where(edges < 0, tail, 1 - tail)
            mass = np.where(edges[1:] < 0, np.diff(tail), -np.diff(tail))
            middle = (edges[:-1] < 0) & (edges[1:] >= 0)
            mass[middle] = np.diff(below)[middle]
        else:
            below = special.gammainc(self.shape, np.exp(2 * edges))
            above = special.gammaincc(self.shape, np.exp(2 * edges))
            mass = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
            tail = above
        mass = np.concatenate([below[:1], mass, tail[-1:]])
        return v, np.log(np.maximum(mass, 1e-300))

    def quantiles(self, log_scale, unit, slab, place, h):
        """Return the quantiles of v given N(place, h) for a coefficient whose scale is
        exp(log_scale + v) unit, bounded by `slab`.
        """

        def log(v):
            own = np.exp(np.minimum(2 * (log_scale + v), 600.0))
            wide = (own + SMALLEST_SHRUNK**2) * unit**2
            variance = 1 / (1 / wide + 1 / slab**2)
            slope = 2 * variance / wide * own * unit**2 / wide
            total = variance + h
            value, by_v = self.log(v)
            value = value - 0.5 * np.log(total) - 0.5 * place**2 / total
            return value, by_v + 0.5 * (place**2 / total - 1) * slope * variance / total

        if self.kind == "half_cauchy":
            return quantiles(log, np.linspace(-LOG_REACH, LOG_REACH, REACH_NODES), GRID)
        low = 0.5 * np.log(BEYOND) / self.shape + LEAST_LOCAL
        v = np.concatenate(
            [np.linspace(low, LEAST_LOCAL, 4001), np.linspace(LEAST_LOCAL, HIGHEST_ROOT, 8001)]
        )
        return quantiles(log, np.unique(v), GRID)
