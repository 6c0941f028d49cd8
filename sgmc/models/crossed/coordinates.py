"""Coordinates of a posterior with effects among its parameters."""

from dataclasses import dataclass

import numpy as np

from sgmc.coordinates.composed import Composed
from sgmc.models.mixed.coordinates import unsigned


@dataclass(frozen=True)
class CrossedCoordinates:
    """From whitened coordinates x to (beta, b, phi, u), see `Loaded`; it has of `Coordinates` what
    samplers and results need, and no matrix of all parameters.

    Attributes
    ----------
    map : Composed
    blocks : Blocks
    shift : array (d,)
        Taken off the columns of the design.
    intercept : int or None
    logs : int
    report : Thresholds or None
        What is printed in the place of these parameters, see `PriorTable`.
    """

    map: Composed
    blocks: object
    shift: np.ndarray
    intercept: int | None
    logs: int
    report: object = None

    scaled, whitened, rotated, heavy = True, True, False, False
    max_precision = min_precision = 1.0

    @property
    def arrays(self):
        """What tells these coordinates from others."""
        return [np.asarray(self.map.inner.centre), self.map.inner.roots]

    @property
    def first(self):
        """Where phi begins among what is reported."""
        return self.blocks.d

    def natural(self, x):
        """(beta, b, phi, u) of points x (..., dim)."""
        return self.map(x)

    def as_given(self, beta):
        """Coefficients (..., d) of the columns as the user has them."""
        beta = np.array(beta, dtype=float)
        if self.intercept is not None:
            beta[..., self.intercept] -= beta @ self.shift
        return beta

    def printed(self, kept):
        """Coefficients, sds, correlations and auxiliary parameters of (beta, phi, u), (..., k)."""
        d = self.blocks.d
        out = np.concatenate([self.as_given(kept[..., :d]), kept[..., d:]], axis=-1)
        out = unsigned(out, d, self.blocks.loading)
        if self.logs:
            out[..., -self.logs :] = np.exp(out[..., -self.logs :])
        return out if self.report is None else self.report.printed(out)

    def reported(self, x):
        """What is printed of points x (..., dim)."""
        return self.printed(self.natural(x)[..., self.blocks.places])

    def from_white(self, z):
        """x of a standard normal draw z (dim,)."""
        return z

    def from_reported(self, theta):
        """x of a whole draw (beta, b, phi, u), (dim,)."""
        return self.map.inverse(theta)
