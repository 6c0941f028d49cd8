"""Coordinates of a posterior with grouped effects: signed sds are reported as they are printed."""

from dataclasses import dataclass, fields

import numpy as np

from sgmc.coordinates.whitening import Coordinates, coordinates
from sgmc.models.mixed.loading import Loading


@dataclass(frozen=True, kw_only=True)
class FoldedCoordinates(Coordinates):
    """`Coordinates` of (beta, phi, logs), phi as in `Loading`.

    Attributes
    ----------
    first : int
        Where phi begins.
    loading : Loading
    """

    first: int
    loading: Loading

    def reported(self, x):
        """Coefficients, positive sds, correlations, auxiliary parameters."""
        theta = super().reported(x)
        q, end = self.loading.q, self.first + self.loading.size
        sds = self.loading.sds(theta[..., self.first : self.first + q])
        pairs = self.loading.correlations()
        if pairs:
            units = theta[..., self.first : end].copy()
            units[..., :q] = np.where(sds < 0, -1.0, 1.0)
            L = Loading(self.loading.blocks).root(units)
            for k, (i, j) in enumerate(pairs):
                theta[..., self.first + q + k] = (L[..., i, :] * L[..., j, :]).sum(axis=-1)
        theta[..., self.first : self.first + q] = np.abs(sds)
        return theta

    def from_reported(self, values):
        """See `Coordinates`."""
        theta = np.array(values, dtype=float)
        q = self.loading.q
        where = slice(self.first, self.first + self.loading.size)
        correlation = np.eye(q)
        for one, (i, j) in zip(theta[where][q:], self.loading.correlations()):
            correlation[i, j] = correlation[j, i] = one
        theta[where] = self.loading.coordinates_of(theta[where][:q], correlation)
        return super().from_reported(theta)


def folded(mode, back, precondition, logs, first, loading):
    """`FoldedCoordinates` for a way of preconditioning, see `whitening.coordinates`."""
    plain = coordinates(mode, back, precondition, False, logs)
    held = {one.name: getattr(plain, one.name) for one in fields(plain)}
    return FoldedCoordinates(**held, first=first, loading=loading)
