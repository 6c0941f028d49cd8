"""What of each parameter is linear in the sampler's coordinates."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from sgmc.diagnostics.chains import moments

LINEAR = 1e-6  # share of a parameter's variance left over, below which it is linear in the draws


@dataclass(frozen=True)
class LinearParts:
    """Directions along which parameters move with whitened draws, and these draws along them.

    The latter are made for a few parameters at a time, so that nothing of the size of all draws is
    kept.

    Attributes
    ----------
    directions : array (d, p)
        Of length one.
    centre, spread : array (p,)
        Mean and standard deviation of the parameters.
    curved : dict
        Place of a parameter that is not linear in the draws -> the draws along its direction, (n,).
    """

    directions: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    curved: dict

    def along(self, theta, at):
        """Standardised draws along the directions of the parameters `at`, a slice, from their
        draws (..., k).
        """
        found = standardised(theta, self.centre[at], self.spread[at])
        for k in self.curved.keys() & set(range(*at.indices(len(self.centre)))):
            found[..., k - at.start] = self.curved[k].reshape(theta.shape[:-1])
        return found


def linear_parts(x, origin, root, theta, w):
    """The `LinearParts` of parameters.

    By least squares; of a parameter that is not linear in the draws, of its normal scores, to which
    a monotone map is nothing.

    Parameters
    ----------
    x : array (n, d)
        Draws.
    origin : array (d,)
        Their mean, which is not taken off: no copy of all draws is made.
    root : array (d, d)
        Triangular, of their covariance.
    theta : array (n, p)
    w : array (n,)
    """
    n, p = theta.shape
    centre, spread, curved = w @ theta, np.empty(p), {}
    directions = np.empty((x.shape[1], p))

    def explained(part):
        together = moments.weighted_product(x, part, w) - np.outer(origin, w @ part)
        return linalg.solve_triangular(root, together, lower=True)

    for at in moments.in_parts((1, n, p)):
        away = theta[:, at] - centre[at]
        spread[at] = np.sqrt(np.einsum("i,ij,ij->j", w, away, away))
        away = standardised(theta[:, at], centre[at], spread[at])
        found = explained(away)
        bent = np.flatnonzero(1 - (found**2).sum(axis=0) > LINEAR)
        if len(bent):
            ranks = np.argsort(np.argsort(away[:, bent], axis=0), axis=0)
            found[:, bent] = explained(special.ndtri((ranks + 0.5) / n))
        length = np.sqrt((found**2).sum(axis=0))
        found /= np.where(length > 0, length, 1.0)
        directions[:, at] = found
        if len(bent):
            along = linalg.solve_triangular(root, found[:, bent], lower=True, trans="T")
            away = x @ along - origin @ along
            curved |= {at.start + k: away[:, j] for j, k in enumerate(bent)}
    return LinearParts(directions, centre, spread, curved)


def standardised(theta, centre, spread):
    """Draws (.., k) without units; zeros where they do not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        away = (theta - centre) / spread
    return away if np.isfinite(away).all() else np.nan_to_num(away)
