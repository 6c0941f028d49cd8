"""Coordinates of many parameters, of which some are printed: effects of levels and local scales are
sampled beside them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sgmc.coordinates.report import Report
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

    scaled, whitened, rotated, heavy, affine, walled = True, True, False, False, False, False
    max_precision = min_precision = 1.0

    @property
    def log_params(self) -> int:
        """How many of what is printed are sampled as logs, the last ones."""
        return self.report.log_params

    @cached_property
    def shear(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the coefficients that differ from the user's, and what is added to them: all
        but the intercept are the same where columns were centred.
        """
        away = self.back - np.eye(len(self.back))
        rows = np.flatnonzero(away.any(axis=1))
        return rows, away[rows]

    def natural(self, x):
        """All parameters of points x (..., dim)."""
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
        d = len(self.back)
        theta = np.concatenate([self.as_given(kept[..., :d]), kept[..., d:]], axis=-1)
        return self.report.printed(theta)

    def theta(self, x):
        """The user's coefficients, and the other parameters in `places`, of points x (..., dim)."""
        kept, d = self.natural(x)[..., self.places], len(self.back)
        kept[..., :d] = self.as_given(kept[..., :d])
        return kept

    def reported(self, x):
        """What is printed of points x (..., dim)."""
        return self.report.printed(self.theta(x))

    def from_white(self, z):
        """x of a standard normal draw z (dim,)."""
        return z

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
