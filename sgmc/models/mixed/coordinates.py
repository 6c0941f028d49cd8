"""Coordinates of a posterior with grouped effects: signed sds are reported as they are printed."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy import linalg

from sgmc.coordinates.whitening import Coordinates, coordinates
from sgmc.core.rng import seed_sequence
from sgmc.models.mixed.loading import Loading

FAR = 5.5  # posterior sds from zero: beyond, no chain gets to the other sign
SIGNS = 1000  # the first of the streams of their signs, one a chain, among those of checks


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
    affine = False  # signs are lost

    def reported(self, x):
        """Coefficients, positive sds, correlations, auxiliary parameters."""
        return unsigned(super().reported(x), self.reported_first, self.loading)

    @property
    def reported_first(self):
        """Where parameters of effects begin among what is reported."""
        return self.first - (self.report is not None)  # an intercept is a threshold there

    def turned(self, x, mode, free, entropy):
        """Draws (chain, draw, dim) with the sds' signs of a point in natural coordinates, those of
        some effects at random; correlations change theirs too.

        Parameters
        ----------
        x : array (chain, draw, dim)
        mode : array (dim,)
        free : list of int
            Effects whose signs are random.
        entropy : int
        """
        y, q, first = self.natural(x), self.loading.q, self.first
        wanted = np.where(mode[first : first + q] < 0, -1.0, 1.0) * np.ones((*x.shape[:2], 1))
        for chain in range(len(x) if free else 0):
            random = np.random.Generator(
                np.random.PCG64(seed_sequence(entropy, "diagnostics", SIGNS + chain))
            )
            wanted[chain][:, free] = 2.0 * random.integers(0, 2, (x.shape[1], len(free))) - 1
        turn = np.where(y[..., first : first + q] < 0, -1.0, 1.0) * wanted
        changed = (turn < 0).any(axis=-1)
        if not changed.any():
            return x
        y, turn, x = y[changed], turn[changed], x.copy()
        y[:, first : first + q] *= turn
        for k, (i, j) in enumerate(self.loading.correlations()):
            y[:, first + q + k] *= turn[:, i] * turn[:, j]
        x[changed] = y if self.map is None else [self.map.inverse(one) for one in y]
        return x

    def from_reported(self, values):
        theta = np.array(values, dtype=float)
        q = self.loading.q
        where = slice(self.reported_first, self.reported_first + self.loading.size)
        correlation = np.eye(q)
        for one, (i, j) in zip(theta[where][q:], self.loading.correlations()):
            correlation[i, j] = correlation[j, i] = one
        theta[where] = self.loading.coordinates_of(theta[where][:q], correlation)
        return super().from_reported(theta)


def unsigned(theta, first, loading):
    """Points (..., k) with positive sds and correlations in the places of phi, from `first` on;
    they are changed.
    """
    q, end = loading.q, first + loading.size
    sds = loading.sds(theta[..., first : first + q])
    pairs = loading.correlations()
    if pairs:
        units = theta[..., first:end].copy()
        units[..., :q] = np.where(sds < 0, -1.0, 1.0)
        L = Loading(loading.blocks).root(units)
        for k, (i, j) in enumerate(pairs):
            theta[..., first + q + k] = (L[..., i, :] * L[..., j, :]).sum(axis=-1)
    theta[..., first : first + q] = np.abs(sds)
    return theta


def even(mode, first, loading):
    """The mode with a covariance that is the same where the signs of sds of correlated effects that
    are not FAR from zero are changed, so that chains that change them find mirrored coordinates.

    What changes its sign with such an sd, itself and correlations of its effect, is taken for
    uncorrelated with what does not.  Of an effect without correlations there is little of that.
    """
    correlated = {i for pair in loading.correlations() for i in pair}
    if not correlated:
        return mode
    covariance = linalg.inv(mode.precision)
    distance = np.abs(mode.theta) / np.sqrt(np.diag(covariance))
    turned = np.zeros((loading.q, len(mode.theta)), dtype=bool)
    turned[np.arange(loading.q), first + np.arange(loading.q)] = True
    for k, pair in enumerate(loading.correlations()):
        turned[list(pair), first + loading.q + k] = True
    near = distance[first : first + loading.q] < FAR
    turned = turned[[i for i in sorted(correlated) if near[i]]]
    same = (turned[:, :, None] == turned[:, None]).all(axis=0)
    if same.all():
        return mode
    precision = linalg.inv(np.where(same, covariance, 0.0))
    return replace(mode, likelihood=precision - mode.prior)


def folded(mode, back, precondition, priors, first, loading):
    """`FoldedCoordinates` for a way of preconditioning, see `whitening.coordinates`."""
    plain = coordinates(even(mode, first, loading), back, precondition, False, priors.auxiliary)
    held = {one.name: getattr(plain, one.name) for one in fields(plain)}
    held["report"] = priors.report
    return FoldedCoordinates(**held, first=first, loading=loading)
