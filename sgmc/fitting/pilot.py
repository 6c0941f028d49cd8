"""A look at the posterior before sampling: gradient noise and shape, at draws of the Laplace approximation.

The draws come in pairs z, -z.  At each the exact gradient and the covariance of the estimator's row terms are computed,
which is all that step size, batch size and warnings need.
"""
from dataclasses import dataclass

import numpy as np

from sgmc.core.expansion import row_noise
from sgmc.core.rng import Rng, seed_sequence

PAIRS = 8                 # of draws
SHAPE_PAIRS = 64          # where the shape is what the answer rests on: its error is then about a sixth
ROWS = 200_000            # looked at where control values leave little to each; rows are in random order


@dataclass(frozen=True)
class Pilot:
    """What the pilot saw; everything in units of the Laplace approximation's sds.

    Attributes
    ----------
    noise : array (strata, d)
        V1 a coefficient: variance of the gradient estimate from one row, relative to the posterior precision, in
        stationarity: what is seen with control values at the mode, times the estimator's `staleness`.  One row, but for
        stratified sampling.
    mean_shift, sd_ratio : array (d,)
        The posterior's mean minus the mode in sds, and its sd over the Laplace sd, to first order in the departure from a
        Gaussian: what skewness does to the sd is of second order, and shows in the shift long before.
    """

    noise: np.ndarray
    mean_shift: np.ndarray
    sd_ratio: np.ndarray

    def worst_noise(self, factors=1.0):
        """Largest noise of a coefficient, for factors of V1 (one a stratum); V1 itself by default."""
        return float((np.reshape(factors, (-1, 1)) * self.noise).sum(axis=0).max())

    @property
    def departure(self):
        """How far the posterior is from the Laplace approximation: the largest shift or relative change of sd."""
        return float(max(np.abs(self.mean_shift).max(), np.abs(self.sd_ratio - 1).max()))


def draws_of_laplace(entropy, d, pairs=PAIRS):
    """Draws z of N(0, I), (pairs, d), to be used with both signs."""
    return Rng(seed_sequence(entropy, "pilot")).normals(pairs * d).reshape(pairs, d)


def pilot(gradient, coordinates, z, noisy=True, shared=None):
    """Measure noise and shape with a gradient estimator of the wanted kind.

    Under log pi(x) = -|x|^2/2 + e(x) with small e, Stein's identity gives E_pi x = E e'(x) and Var_pi x_jk - I =
    E x_j d_k e(x), both under N(0, I), with e' the exact gradient plus x.

    Parameters
    ----------
    gradient : Gradient
    coordinates : Coordinates
    z : array (pairs, d)
    noisy : bool
        Whether noise is wanted, besides shape.
    shared : object, optional
        What the subsamplers share: noise is then that of rows with its probabilities, or within its strata.
    """
    white = coordinates.white
    variance = (white ** 2).sum(axis=1)
    d, both = len(variance), np.concatenate([z, -z])
    weight, groups = (None, None) if shared is None or not noisy else (shared.weight, shared.groups)
    noise, shift, spread = np.zeros((1 if groups is None else len(groups), d)), np.zeros(d), np.zeros((d, d))
    directions = fixed_directions(coordinates) if noisy else None
    rows = 0 if gradient.anchor is None else min(ROWS, gradient.model.n)
    for one in both:
        x = coordinates.from_white(one)
        g, covariance = row_noise(gradient, coordinates.natural(x), rows, noisy, weight, groups)
        if noisy:
            along = directions * slopes(coordinates, x) if coordinates.whitened else directions
            noise += gradient.staleness * diagonal(along, covariance) / variance / len(both)
        e = to_white(coordinates, x, g) + one
        shift += e / len(both)
        spread += np.outer(one, e) / len(both)
    ratio = 1 + diagonal(white, spread) / variance
    return Pilot(noise, white @ shift / np.sqrt(variance), np.sqrt(np.maximum(ratio, 0.05)))


def diagonal(A, M):
    """The diagonal of A M A', or of each of a stack of them."""
    return np.einsum("...jk,jk->...j", A @ M, A)


def fixed_directions(coordinates):
    """D with D C D' the noise of the gradient in theta's dual, times the covariance: rows are coefficients.

    A Langevin step in whitened coordinates moves theta by white white' times the gradient in theta.  Where a diagonal map
    whitens, the columns are still to be multiplied by its slopes.
    """
    if not coordinates.whitened:
        return coordinates.white @ coordinates.inner.T
    if coordinates.map is None or coordinates.map.diagonal:
        return coordinates.white
    return coordinates.white @ np.asarray(coordinates.map.matrix).T


def slopes(coordinates, x):
    """dy_j/dx_j of a diagonal map, else 1."""
    return coordinates.map.slopes(x) if coordinates.map is not None and coordinates.map.diagonal else 1.0


def to_white(coordinates, x, g):
    """The gradient in whitened coordinates of one in natural ones, the map's Jacobian included."""
    in_x = g if coordinates.map is None else coordinates.map.pulled(x, g)
    return in_x if coordinates.whitened else coordinates.inner.T @ (in_x / slopes(coordinates, x))
