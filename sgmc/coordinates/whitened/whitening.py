"""Coordinates of a fit: the user's theta, the table's phi, the model's natural ones,
and the sampler's x.

theta has the logs of auxiliary parameters, which are reported as they are.  theta = T phi
undoes the centring of the columns.  The model's natural coordinates y are phi itself, or, where the
package made the table and may rotate it, phi = origin + L y.  A map leads from x to y; it is the
identity (None) where whitening was left to the rotation.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from sgmc.coordinates.transforms.maps import Affine, Scaling
from sgmc.coordinates.whitened.arrow import FEWEST_TIPS, Arrow
from sgmc.coordinates.whitened.report import Report
from sgmc.core.contract import Map
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import ArgumentError, DataError

# what the other levels of a factor may have in common with one, relative to its own precision
NEARLY_DIAGONAL = 1e-3
COORDINATES_AT_ONCE = 1 << 17  # numbers of draws that are mapped together: a megabyte
DEGENERATE = 1e-9  # distance of such a share from 1 within which directions are alike


@dataclass(frozen=True)
class Coordinates:
    """Everything between x and theta.

    Attributes
    ----------
    rotated : bool
        The model's table is to be rotated by `L`.
    L : array (d, d)
    origin : array (d,)
        phi = origin + L y where rotated.
    back : array (d, d)
        T, theta = T phi.
    map : Map or None
        From x to y; its Python call does the same for arrays of points.
    to_theta : array (d, d)
    theta_centre : array (d,)
        theta = theta_centre + to_theta y.
    white : array (d, d)
        theta's covariance, approximately white white'; for a map that is affine or None, the
        Laplace approximation.
    max_precision, min_precision : float
        Largest and smallest precision of the approximation in x: 1 and 1 where x is whitened.
    report : Report
        From theta to what is printed.
    approximation : Affine or None
        From a standard normal draw to x, for x that are not whitened, where no affine map leads
        from x to theta.
    heavy : bool
        The map leads to tails that fall as powers, as a t prior's do where data say nothing.
    light : bool
        The map's own tails may be lighter than powers that the posterior's fall as.
    walled : bool
        The map is one of lopsided columns, whose posterior is no Gaussian at the mode.
    """

    rotated: bool
    L: np.ndarray
    origin: np.ndarray
    back: np.ndarray
    map: Map | None
    to_theta: np.ndarray
    theta_centre: np.ndarray
    white: np.ndarray
    max_precision: float
    min_precision: float
    report: Report = Report()
    approximation: Affine | None = None
    heavy: bool = False
    light: bool = False
    walled: bool = False
    scaled = True  # the Gaussian approximation is known
    free = None  # of models that are no regressions

    @property
    def arrays(self):
        """What tells these coordinates from others."""
        return [self.L, self.origin, self.to_theta]

    @property
    def whitened(self):
        """Whether x is about standard normal under the posterior."""
        return self.max_precision == self.min_precision == 1.0

    @property
    def affine(self):
        """Whether what is reported moves along straight lines as x does."""
        return self.report.affine and (self.map is None or self.map.affine)

    @property
    def log_params(self):
        """How many of the last theta are logs."""
        return self.report.log_params

    @property
    def spread_of_logs(self):
        """The largest sd of the logs among theta; 0 where there are none."""
        logs = self.white[self.report.logs(len(self.white))]
        return float(np.sqrt((logs**2).sum(axis=1)).max(initial=0.0))

    @cached_property
    def inner(self):
        """y's covariance is approximately inner inner'."""
        with one_blas_thread():
            return np.linalg.solve(self.to_theta, self.white)

    @cached_property
    def mixed(self):
        """Places of the theta that are not the same y, but for a constant."""
        return np.flatnonzero((self.to_theta != np.eye(len(self.to_theta))).any(axis=1))

    @cached_property
    def factor(self):
        """LU factors of to_theta."""
        with one_blas_thread():
            return linalg.lu_factor(self.to_theta)

    def natural(self, x):
        """Natural coordinates of points x (..., d)."""
        return x if self.map is None else self.map(x)

    def theta(self, x):
        """The user's coordinates of points x (..., d)."""
        flat = np.reshape(x, (-1, np.shape(x)[-1]))
        size = max(1, COORDINATES_AT_ONCE // flat.shape[1])
        if len(flat) > size:  # nothing else of the size of all draws is made
            theta = np.empty((len(flat), len(self.to_theta)))
            for a in range(0, len(flat), size):
                theta[a : a + size] = self.theta(flat[a : a + size])
            return theta.reshape(*np.shape(x)[:-1], -1)
        if np.ndim(x) > 2:  # draws of chains: a product with a single row would have other bits
            rows = flat if len(flat) > 1 else np.repeat(flat, 2, axis=0)
            return self.theta(rows)[: len(flat)].reshape(*np.shape(x)[:-1], -1)
        with one_blas_thread():
            if self.rotated and self.map is not None and self.map.affine:  # in one product
                centre = self.theta_centre + self.to_theta @ np.asarray(self.map.centre)
                return x @ self.white.T + centre
            y, rows = self.natural(x), self.mixed
            if len(rows) == len(self.to_theta):
                return y @ self.to_theta.T + self.theta_centre
            theta = y + self.theta_centre
            theta[..., rows] = y @ self.to_theta[rows].T + self.theta_centre[rows]
            return theta

    def reported(self, x):
        """What is printed of points x (..., d)."""
        return self.report.printed(self.theta(x))

    def slopes(self, x):
        """dy_j/dx_j of a diagonal map, else 1."""
        return self.map.slopes(x) if self.map is not None and self.map.diagonal else 1.0

    def spread(self, x):
        """A, where the covariance of x is approximately A A'."""
        return self.inner / np.reshape(self.slopes(x), (-1, 1))

    def pull_white(self, x, g):
        """The gradient in whitened coordinates of one in natural ones,
        the map's Jacobian included.
        """
        in_x = g if self.map is None else self.map.pulled(x, g)
        return in_x if self.whitened else self.inner.T @ (in_x / self.slopes(x))

    def from_theta(self, theta):
        """Sampler coordinates of the user's, (d,)."""
        y = linalg.lu_solve(self.factor, np.asarray(theta) - self.theta_centre)
        return y if self.map is None else self.map.inverse(y)

    def from_reported(self, values):
        """Sampler coordinates of what is printed, (d,).

        Raises
        ------
        ArgumentError
            Where that is beyond the ends of a prior.
        """
        theta = self.report.sampled(values)
        try:
            return self.from_theta(theta)
        except ValueError:  # the map leads to no such place
            raise ArgumentError(
                "init: a parameter is not between the ends of its prior; start inside"
            ) from None

    def from_white(self, z):
        """x of a standard normal draw z (d,): one of the posterior's Gaussian approximation."""
        if self.whitened:
            return z
        if self.approximation is not None:
            return self.approximation(z)
        return self.from_theta(self.back @ self.origin + self.white @ z)


def whitener(mode):
    """L with L' H L = I and L' P L diagonal, and that diagonal: the prior's share of each
    direction's precision.

    H is the posterior's precision at the mode, P the prior's.  Solved with the diagonal of H scaled
    to one.

    Raises
    ------
    DataError
        Where H is no precision: not finite, not positive, or singular.
    """
    precision = mode.precision
    refuse_undefined(precision)
    scale = 1 / np.sqrt(np.diag(precision))
    with one_blas_thread():
        share, vectors = joint_axes(mode.prior * np.outer(scale, scale), precision, scale)
        alike = np.flatnonzero(share > 1 - DEGENERATE)
        if len(alike):  # any basis of them would do; without a rule rounding chooses it
            Q, R, _ = linalg.qr(vectors[:, alike].T, pivoting=True)
            vectors[:, alike] = vectors[:, alike] @ (Q * np.where(np.diag(R) < 0, -1.0, 1.0))
    return scale[:, None] * vectors, np.clip(share, 0.0, 1.0)


def refuse_undefined(precision):
    """DataError where a precision has diagonal entries that are not positive, or any that are no
    numbers: linear algebra would stop without a name, or go on with NaN.
    """
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isfinite(precision).all(axis=0) & (np.diag(precision) > 0))
    if wrong.any():
        raise DataError(
            f"the posterior's precision is not finite and positive for {wrong.sum()} of "
            f"{len(wrong)} parameters: numbers overflow there, or the density has no mode; rescale "
            "predictors and outcomes, or give tighter priors"
        )


def joint_axes(matrix, precision, scale):
    """Eigenvalues and vectors v of matrix v = mu H v, H a precision whose diagonal `scale` makes
    one; DataError where it is singular.
    """
    try:
        return linalg.eigh(matrix, precision * np.outer(scale, scale))
    except linalg.LinAlgError:
        raise DataError(
            "the posterior's precision is singular to rounding: predictors are collinear, or fit "
            "the outcome exactly; drop some of them"
        ) from None


def undo_centring(dim, shift, intercepts):
    """T: theta = T phi, for equations of as many coefficients as `shift` (d,) has numbers; or
    (k, d), with a row for each intercept.
    """
    back, d = np.eye(dim), np.shape(shift)[-1]
    for j, own in zip(intercepts, np.broadcast_to(shift, (len(intercepts), d))):
        first = j - j % d
        back[j, first : first + d] -= own
    return back


def diagonal_block(precision, places):
    """Whether some parameters are all but independent of each other, given the rest."""
    if len(places) < FEWEST_TIPS:
        return False
    block = np.abs(precision[np.ix_(places, places)])
    scale = np.sqrt(np.diag(block))
    return bool(((block / np.outer(scale, scale)).sum(axis=1) < 1 + NEARLY_DIAGONAL).all())


def coordinates(mode, back, precondition, rotate, log_params=0, tips=()):
    """Coordinates for a way of preconditioning.

    Parameters
    ----------
    mode : Mode
        In phi.
    back : array (d, d)
        T, from phi to theta.
    precondition : {"dense", "diag", None}
    rotate : bool
        Whether the table will be rotated (dense only).
    log_params : int
        How many of the last theta are logs.
    tips : array of int
        Places of a factor's levels, whose block of the precision is about diagonal.
    """
    d, m = len(mode.theta), mode.theta
    if precondition == "dense" and not rotate and diagonal_block(mode.precision, tips):
        map = Arrow.of_matrix(m, mode.precision, tips)
        L = map.jacobian(m)
    else:
        L = mode.axes[0]
        map = Affine(m, L) if precondition == "dense" and not rotate else None
    common = dict(L=L, origin=m, back=back, white=back @ L, report=Report(log_params))
    if precondition == "dense" and rotate:
        return Coordinates(
            rotated=True,
            map=None,
            to_theta=back @ L,
            theta_centre=back @ m,
            max_precision=1.0,
            min_precision=1.0,
            **common,
        )
    common.update(rotated=False, to_theta=back, theta_centre=np.zeros(d))
    if precondition == "dense":
        return Coordinates(map=map, max_precision=1.0, min_precision=1.0, **common)
    if precondition == "diag":
        scale = 1 / np.sqrt(np.diag(mode.precision))
        soft, stiff = eigenvalue_range(mode.precision * np.outer(scale, scale))
        return Coordinates(map=Scaling(m, scale), max_precision=stiff, min_precision=soft, **common)
    soft, stiff = eigenvalue_range(mode.precision)
    return Coordinates(map=None, max_precision=stiff, min_precision=soft, **common)


def eigenvalue_range(matrix):
    """Smallest (at least 1e-12 of the largest) and largest eigenvalue of a symmetric matrix."""
    with one_blas_thread():
        values = linalg.eigvalsh(matrix)
    return max(values[0], 1e-12 * values[-1]), values[-1]
