"""Coordinates of a posterior with grouped effects, effects integrated out."""

from dataclasses import replace

import numpy as np
from scipy import linalg

from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.whitened.whitening import Coordinates, coordinates
from sgmc.core.random.rng import seed_sequence
from sgmc.models.regression.latent.covariance.fold import FoldedEffects

FAR = 5.5  # posterior sds from zero: beyond, no chain gets to the other sign
SIGNS = 1000  # the first of the streams of their signs, one a chain, among those of checks


def even(mode: Mode, fold: FoldedEffects) -> Mode:
    """The mode with a covariance that is the same where the signs of sds of correlated effects that
    are not FAR from zero are changed, so that chains that change them find mirrored coordinates.

    What changes its sign with such an sd, itself and correlations of its effect, is taken for
    uncorrelated with what does not.  Of an effect without correlations there is little of that.
    """
    first, loading = fold.first, fold.loading
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


def whitened(mode: Mode, back, precondition, logs: int, fold: FoldedEffects) -> Coordinates:
    """Return coordinates for a way of preconditioning, see `whitening.coordinates`, in which chains
    may change the signs of sds.
    """
    return coordinates(even(mode, fold), back, precondition, False, logs)


def with_signs(where: Coordinates, fold: FoldedEffects, x, mode, free, entropy):
    """Draws (chain, draw, dim) with the sds' signs of a point in natural coordinates, those of some
    effects at random; correlations change theirs too.

    Parameters
    ----------
    where : Coordinates
    fold : FoldedEffects
    x : array (chain, draw, dim)
    mode : array (dim,)
    free : list of int
        Effects whose signs are random.
    entropy : int
    """
    q, first = fold.loading.q, fold.first
    wanted = np.where(mode[first : first + q] < 0, -1.0, 1.0) * np.ones((*x.shape[:2], 1))
    for chain in range(len(x) if free else 0):
        random = np.random.Generator(
            np.random.PCG64(seed_sequence(entropy, "diagnostics", SIGNS + chain))
        )
        wanted[chain][:, free] = 2.0 * random.integers(0, 2, (x.shape[1], len(free))) - 1
    y, changed = fold.turned(where.natural(x), wanted)
    if not changed.any():
        return x
    y, x = y[changed], x.copy()
    x[changed] = y if where.map is None else [where.map.inverse(one) for one in y]
    return x
