"""A look at the posterior before sampling: gradient noise and shape,
at draws of the Laplace approximation.

The draws come in pairs z, -z.  At each the exact gradient and the covariance of the estimator's row
terms are computed, which is all that step size, batch size and warnings need.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.deadline import Pace
from sgmc.core.engine import full_many
from sgmc.core.expansion import row_noise
from sgmc.core.rng import Rng, seed_sequence
from sgmc.fit.tolerance import SMALLEST_BATCH, VARIANCE_TOLERANCE

PAIRS = 8  # of draws
SHAPE_PAIRS = 64  # where the shape is what the answer rests on: its error is then about a sixth
# looked at where control values leave little to each; rows are in random order
PILOT_ROWS = 200_000
LITTLE_NOISE_ROWS = 25_000  # of these, where the smallest batch has noise to spare
# V1 with which it has: half of what it may have at a whole step (V h / 4 <= VARIANCE_TOLERANCE)
LITTLE_NOISE = 2 * SMALLEST_BATCH * VARIANCE_TOLERANCE
SINGLE_ROWS = 500  # of models without scores, whose rows are gone through one by one


@dataclass(frozen=True)
class Pilot:
    """What the pilot saw; everything in units of the Laplace approximation's sds.

    Attributes
    ----------
    noise : array (strata, d)
        V1 a parameter: variance of the gradient estimate from one row, relative to the posterior
        precision, in stationarity: what is seen with control values at the mode, times the
        estimator's `staleness`.  One row, but for stratified sampling.
    covariance : array (strata, d, d)
        Of that estimate's noise, in the sampler's coordinates.
    mean_shift, sd_ratio : array (d,)
        The posterior's mean minus the mode in sds, and its sd over the Laplace sd, to first order
        in the departure from a Gaussian: what skewness does to the sd is of second order, and shows
        in the shift long before.
    thin, warmup : int or None
        Steps between draws, and of warmup, that the sampler of `auto` was counted with; None: the
        plan's own.
    single : bool
        Whether it was counted with products in float32.
    """

    noise: np.ndarray
    covariance: np.ndarray
    mean_shift: np.ndarray
    sd_ratio: np.ndarray
    thin: int | None = None
    warmup: int | None = None
    single: bool = False

    def worst_noise(self, factors=1.0):
        """Largest noise of a parameter, for factors of V1 (one a stratum); V1 itself by default."""
        return float((np.reshape(factors, (-1, 1)) * self.noise).sum(axis=0).max())

    def widest_noise(self, factors=1.0):
        """The same over all directions of the sampler's coordinates:
        the largest eigenvalue of the noise's covariance.
        """
        return float(np.linalg.eigvalsh(self.total(factors))[-1])

    def tau(self, factors=1.0):
        """Standard deviation of the gradient estimate, a coordinate of the sampler, (d,)."""
        return np.sqrt(np.maximum(np.diagonal(self.total(factors)), 0.0))

    def total(self, factors):
        """Covariance of the noise for factors of V1 (one a stratum)."""
        return (np.reshape(factors, (-1, 1, 1)) * self.covariance).sum(axis=0)

    @property
    def departure(self):
        """How far the posterior is from the Laplace approximation:
        the largest shift or relative change of sd.
        """
        return float(max(np.abs(self.mean_shift).max(), np.abs(self.sd_ratio - 1).max()))


def draws_of_laplace(entropy, d, pairs=PAIRS):
    """Draws z of N(0, I), (pairs, d), to be used with both signs."""
    return Rng(seed_sequence(entropy, "pilot")).normals(pairs * d).reshape(pairs, d)


def pilot_rows(n, entropy, given, grouped, most=PILOT_ROWS):
    """Rows that tell the noise where control values leave little to each, for `row_noise`.

    The first `most` of a table in random order; of one in the order that the user gave, random
    ones, or with strata all.
    """
    if not given or n <= most:
        return min(most, n)
    random = np.random.Generator(np.random.PCG64(seed_sequence(entropy, "pilot", 2)))
    return 0 if grouped else random.choice(n, most, replace=False)


def pilot(gradient, coordinates, z, noisy=True, shared=None, rows=PILOT_ROWS, at_once=False):
    """Measure noise and shape with a gradient estimator of the wanted kind.

    Under log pi(x) = -|x|^2/2 + e(x) with small e, Stein's identity gives E_pi x = E e'(x) and
    Var_pi x_jk - I = E x_j d_k e(x), both under N(0, I), with e' the exact gradient plus x.

    Parameters
    ----------
    gradient : Gradient
    coordinates : Coordinates
    z : array (pairs, d)
    noisy : bool
        Whether noise is wanted, besides shape.
    shared : object, optional
        What the subsamplers share: noise is then that of rows with its probabilities, or within its
        strata.
    rows : int or array of int
        Looked at where control values are at hand; see `pilot_rows`.
    at_once : bool
        Whether gradients in whitened coordinates are computed by products of matrices, where no
        noise is wanted.
    """
    white = coordinates.white
    d, both = z.shape[1], np.concatenate([z, -z])
    weight, groups = (None, None) if shared is None or not noisy else (shared.weight, shared.groups)
    shift, spread = np.zeros(d), np.zeros((d, d))
    rows = 0 if gradient.anchor is None and gradient.model.width else rows
    pace = Pace(2.0 * gradient.model.n * d)
    together = None if noisy or not at_once else full_many(gradient, both)[1]

    def look(one, rows):
        """The gradient in whitened coordinates, and the noise's covariance in natural ones."""
        x = coordinates.from_white(one)
        y = coordinates.natural(x)
        g, covariance = pace.run(lambda: row_noise(gradient, y, rows, noisy, weight, groups))
        return x, coordinates.pull_white(x, g), gradient.staleness * covariance

    def relative(x, noise):
        """Noise of the parameters in units of their variance by the approximation."""
        half = white if coordinates.whitened else white @ coordinates.spread(x).T
        return diagonal(half, noise) / (white**2).sum(axis=1)

    x = coordinates.from_white(both[0])
    if np.ndim(rows) == 0 and rows == PILOT_ROWS and noisy and shared is None:
        x, _, covariance = look(both[0], LITTLE_NOISE_ROWS)
        if relative(x, noise_in_x(coordinates, x, covariance)).max() < LITTLE_NOISE:
            rows = LITTLE_NOISE_ROWS
    straight = coordinates.map is None or coordinates.map.affine  # the same slopes everywhere
    noise = np.zeros((1 if groups is None else len(groups), d, d))
    for k, one in enumerate(both):
        if together is None:
            x, g, covariance = look(one, rows)
        else:
            g = together[k]
        if noisy:
            here = covariance if straight else noise_in_x(coordinates, x, covariance)
            noise += here / len(both)
        e = g + one
        shift += e / len(both)
        spread += np.outer(one, e) / len(both)
    if noisy and straight:
        noise = noise_in_x(coordinates, x, noise)
    variance = (white**2).sum(axis=1)
    ratio = 1 + diagonal(white, spread) / variance
    return Pilot(
        relative(x, noise),
        noise,
        white @ shift / np.sqrt(variance),
        np.sqrt(np.maximum(ratio, 0.05)),
    )


def diagonal(A, M):
    """The diagonal of A M A', or of each of a stack of them."""
    return np.einsum("...jk,jk->...j", A @ M, A)


def noise_in_x(coordinates, x, covariance):
    """Covariance of the gradient's noise in the sampler's coordinates from that in natural ones,
    (..., d, d).

    A Langevin step in whitened coordinates moves theta by white times it.
    """
    if coordinates.map is None or coordinates.map.diagonal:
        slope = 1.0 if coordinates.map is None else coordinates.map.slopes(x)
        return covariance * np.outer(slope, slope)
    matrix = coordinates.map.jacobian(x)
    return matrix.T @ covariance @ matrix
