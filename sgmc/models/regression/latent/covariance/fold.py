"""Standard deviations that are sampled with a sign, as in `Loading`, and printed without it."""

from dataclasses import dataclass

import numpy as np

from sgmc.errors import ArgumentError
from sgmc.models.mixed.loading import Loading


@dataclass(frozen=True)
class FoldedEffects:
    """From phi, see `Loading`, to positive sds and the correlations of effects; from coordinates to
    shares rho, of which they are atanh(2 rho - 1), or correlations rho in time, atanh(rho).

    Attributes
    ----------
    first : int
        Where phi begins among the parameters.
    loading : Loading
    lows : tuple of float
        Ends below of shares, 0, and of correlations in time, -1, which are behind phi.
    """

    first: int
    loading: Loading
    lows: tuple[float, ...] = ()

    @property
    def places(self) -> slice:
        """Where phi stands."""
        return slice(self.first, self.first + self.loading.size)

    @property
    def of_shares(self) -> slice:
        """Where shares stand."""
        return slice(self.places.stop, self.places.stop + len(self.lows))

    def folded(self, theta: np.ndarray) -> np.ndarray:
        """Points (..., k) with positive sds, correlations and shares in the places of coordinates;
        they are changed.
        """
        first, q = self.first, self.loading.q
        sds = self.loading.sds(theta[..., first : first + q])
        pairs = self.loading.correlations()
        if pairs:
            units = theta[..., self.places].copy()
            units[..., :q] = np.where(sds < 0, -1.0, 1.0)
            L = Loading(self.loading.blocks).root(units)
            for k, (i, j) in enumerate(pairs):
                theta[..., first + q + k] = (L[..., i, :] * L[..., j, :]).sum(axis=-1)
        theta[..., first : first + q] = np.abs(sds)
        lows = np.array(self.lows)
        share = 0.5 * (1 + np.tanh(theta[..., self.of_shares]))
        theta[..., self.of_shares] = lows + (1 - lows) * share
        return theta

    def unfolded(self, theta: np.ndarray) -> np.ndarray:
        """A point (k,) with coordinates in the places of sds, correlations and shares; it is
        changed.

        Raises
        ------
        ArgumentError
            Where there is no correlation matrix with these correlations, and for shares that are
            not between their ends.
        """
        lows = np.array(self.lows)
        share = (theta[self.of_shares] - lows) / (1 - lows)
        if not ((share > 0) & (share < 1)).all():
            raise ArgumentError(
                "init: rho of bym2 is between 0 and 1, of ar1 between -1 and 1; give e.g. 0.5"
            )
        theta[self.of_shares] = np.arctanh(2 * share - 1)
        q, correlation = self.loading.q, np.eye(self.loading.q)
        given = theta[self.places].copy()
        for one, (i, j) in zip(given[q:], self.loading.correlations()):
            correlation[i, j] = correlation[j, i] = one
        try:
            theta[self.places] = self.loading.coordinates_of(given[:q], correlation)
        except np.linalg.LinAlgError:
            raise ArgumentError(
                "init: the correlations of effects make no correlation matrix, whose eigenvalues "
                "are positive; give others, e.g. 0"
            ) from None
        return theta

    def turned(self, y: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points (..., k) whose sds have such signs (..., q), with correlations to match, and which
        of them are others, (...).
        """
        first, q = self.first, self.loading.q
        turn = np.where(y[..., first : first + q] < 0, -1.0, 1.0) * signs
        changed = (turn < 0).any(axis=-1)
        y = y.copy()
        y[..., first : first + q] *= turn
        for k, (i, j) in enumerate(self.loading.correlations()):
            y[..., first + q + k] *= turn[..., i] * turn[..., j]
        return y, changed
