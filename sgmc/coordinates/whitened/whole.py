"""Coordinates of many parameters, of which some are printed: effects of levels and local scales are
sampled beside them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sgmc.coordinates.whitened.report import Report
from sgmc.core.contract import Map


@dataclass(frozen=True)
class WholeCoordinates:
    """From x, about standard normal, to all parameters; it has of `Coordinates` what samplers and
    results need, and no matrix of all parameters.

    Attributes
    ----------
    map : Map
        To natural coordinates: all parameters, coefficients (beta) first.
    places : array of int
        Of what is printed among these, coefficients first.
    others : array of int
        Places in x of what moves the other parameters alone.
    back : array (d, d)
        From the table's coefficients to the user's.
    report : Report
        From these and the other parameters to what is printed.
    arrays : tuple of array
        What tells these coordinates from others.
    """

    map: Map
    places: np.ndarray
    others: np.ndarray
    back: np.ndarray
    report: Report
    arrays: tuple

    scaled, whitened, rotated, affine = True, True, False, False
    heavy, light, walled = False, False, False
    free = None  # of models that are no regressions
    max_precision = min_precision = 1.0

    @property
    def log_params(self) -> int:
        """How many of what is printed are sampled as logs, the last ones."""
        return self.report.log_params

    @property
    def spread_of_logs(self) -> float:
        """The largest sd of the logs among what is printed; 0 where there are none."""
        printed = self.white[: len(self.places)]
        logs = printed[self.report.logs(len(printed))]
        return float(np.sqrt((logs**2).sum(axis=1)).max(initial=0.0))

    @cached_property
    def shear(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the coefficients that differ from the user's, and what is added to them: all
        but the intercept are the same where columns were centred.
        """
        away = self.back - np.eye(len(self.back))
        rows = np.flatnonzero(away.any(axis=1))
        return rows, away[rows]

    @cached_property
    def inner(self) -> np.ndarray:
        """The parameters' covariance is approximately inner inner', by the slopes at the centre."""
        return self.map.jacobian(np.zeros(self.map.dim))

    @cached_property
    def white(self) -> np.ndarray:
        """The same of `theta`, and of the parameters that are not printed below it."""
        d, hidden = len(self.back), np.setdiff1d(np.arange(len(self.inner)), self.places)
        kept = self.inner[self.places]
        return np.vstack([self.back @ kept[:d], kept[d:], self.inner[hidden]])

    def natural(self, x):
        """All parameters of points x (..., dim)."""
        with np.errstate(over="ignore", invalid="ignore"):  # of chains that diverged
            return self.map(x)

    def as_given(self, beta):
        """Coefficients (..., d) of the columns as the user has them."""
        rows, away = self.shear
        out = np.array(beta, dtype=float)
        for j, one in zip(rows, away):
            out[..., j] += beta @ one
        return out

    def printed(self, kept):
        """What is printed of the parameters in its `places`, (..., k)."""
        with np.errstate(over="ignore", invalid="ignore"):  # of chains that diverged
            return self.report.printed(self.theta_of(kept))

    def theta_of(self, kept):
        """The user's coefficients, and the others of the parameters in its `places`, (..., k)."""
        d = len(self.back)
        return np.concatenate([self.as_given(kept[..., :d]), kept[..., d:]], axis=-1)

    def theta(self, x):
        """The same of points x (..., dim)."""
        return self.theta_of(self.natural(x)[..., self.places])

    def reported(self, x):
        """What is printed of points x (..., dim)."""
        return self.printed(self.natural(x)[..., self.places])

    def from_white(self, z):
        """x of a standard normal draw z (dim,)."""
        return z

    def pull_white(self, x, g):
        """The gradient in x of one in natural coordinates, the map's Jacobian included."""
        return self.map.pulled(x, g)

    def from_natural(self, y):
        """x of all parameters (dim,)."""
        return self.map.inverse(y)

    def from_reported(self, values):
        """x of what is printed, (k,), all other parameters in the middle of what they are given
        these.
        """
        wanted, d = self.report.sampled(values), len(self.back)
        wanted[:d] = np.linalg.solve(self.back, wanted[:d])
        x = np.zeros(self.map.dim)
        # sds and scales, which the others do not move, come out at once, and with them their middle
        for _ in range(2):
            x[self.others] = 0.0
            y = self.natural(x)
            y[self.places] = wanted
            x = self.map.inverse(y)
        return x
