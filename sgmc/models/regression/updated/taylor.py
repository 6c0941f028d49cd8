"""A part of a log posterior by its derivatives at one place: what is left of rows that are gone.

With z the place in whitened coordinates, theta = place + A z, and derivatives g, -H, T and F of the
log density there, gradient and precision nearby are g - H z + T[z, z] / 2 + F[z, z, z] / 6 and
H - T[z] - F[z, z] / 2.  The terms with F are not used but judged: they are what is neglected.  Of
the fourth derivatives those along an axis twice are kept, F_jj; the others of them are bounded by
CROSSED times these (of a normal z, E[z_1^4] is 3 E[z_1^2 z_2^2]).
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.core import expansion
from sgmc.core.system.blas import one_blas_thread

LARGEST_THIRD = 64  # parameters of which third derivatives are kept: two arrays of 2 MB then
EXPANDED_ROWS = 20_000  # rows, in random order, that third derivatives are taken from
SPACING = 0.5  # of the differences, in posterior sds
CROSSED = 3.0
PRIOR_STEP = 1e-3  # of the prior's differences, in posterior sds: it may bend at its own scale


@dataclass(frozen=True)
class ExpandedRows:
    """See the module.

    Attributes
    ----------
    place, gradient : array (d,)
    precision : array (d, d)
        Minus the Hessian.
    axes : array (d, d)
        A.
    third : array (d, d, d) or None
        T, in z; None where there are more than LARGEST_THIRD parameters.
    fourth : array (d, d, d) or None
        fourth[j] is F_jj, in z.
    nobs : float
    tilt : array (d,) or None
        T : I / 2 in z, where T is not kept.
    """

    place: np.ndarray
    gradient: np.ndarray
    precision: np.ndarray
    axes: np.ndarray
    third: np.ndarray | None
    fourth: np.ndarray | None
    nobs: float
    tilt: np.ndarray | None = None

    def white(self, theta):
        """z of theta."""
        return np.linalg.solve(self.axes, theta - self.place)

    def expansion(self, theta):
        """(gradient, precision) at theta, up to third derivatives."""
        step = theta - self.place
        gradient, precision = self.gradient - self.precision @ step, self.precision
        if self.third is None or not step.any():
            return gradient, precision
        bent = self.third @ self.white(theta)
        return (
            gradient + self.back(0.5 * bent @ self.white(theta)),
            precision - self.back(self.back(bent).T),
        )

    def neglected(self, theta):
        """How large the terms with fourth derivatives are at theta, of (gradient, precision); NaN
        where they are not known.
        """
        return self.beyond(np.outer(z := self.white(theta), z), z)

    def beyond(self, square, z):
        """The same for a mean square of z: F : square / 2 on the precision, and a third of it times
        z on the gradient.
        """
        d = len(self.place)
        if self.fourth is None:
            return np.full(d, np.nan), np.full((d, d), np.nan)
        bent = CROSSED * 0.5 * np.tensordot(np.diag(square), self.fourth, 1)
        return self.back(bent @ z / 3), self.back(self.back(bent).T)

    def straight(self):
        """The same up to the second order alone."""
        return replace(self, third=None, fourth=None, tilt=np.zeros(len(self.place)))

    def within(self, covariance):
        """A covariance in z."""
        half = np.linalg.solve(self.axes, covariance)
        return np.linalg.solve(self.axes, half.T)

    def average(self, covariance):
        """T : covariance / 2, by which the mean of the gradient over a normal law differs from that
        at its centre; where T is not kept as if the covariance were in proportion to axes axes'.
        """
        square = self.within(covariance)
        if self.third is None:
            return self.back(self.tilt * np.trace(square) / len(square))
        return self.back(0.5 * np.tensordot(self.third, square, 2))

    def around(self, covariance):
        """-F : covariance / 2, the same of the precision."""
        bent = 0.5 * np.tensordot(np.diag(self.within(covariance)), self.fourth, 1)
        return -self.back(self.back(bent).T)

    def back(self, slopes):
        """Derivatives by theta (first axis) of derivatives by z."""
        return np.linalg.solve(self.axes.T, slopes)


def curves(precision_at, d):
    """(T, F_jj) of minus the log density whose Hessian in z is ``precision_at(z)``, by central
    differences of it along each axis.
    """
    centre = precision_at(np.zeros(d))
    third, fourth = np.empty((d, d, d)), np.empty((d, d, d))
    for j, e in enumerate(SPACING * np.eye(d)):
        ahead, behind = precision_at(e), precision_at(-e)
        third[j] = -(ahead - behind) / (2 * SPACING)
        fourth[j] = -(ahead + behind - 2 * centre) / SPACING**2
    return (third + third.transpose(1, 0, 2) + third.transpose(2, 1, 0)) / 3, fourth


class ExactRows:
    """The same part of a log posterior while its rows are there: exact at every place.

    Parameters
    ----------
    problem : Problem
        Of a regression
    prior : bool
        Whether its prior belongs to it: that of the first fit does, those of updates are the
        other parts.
    """

    def __init__(self, problem, prior):
        self.problem, self.prior = problem, prior

    @property
    def nobs(self):
        """Observations."""
        return self.problem.table.nobs

    @property
    def inverse(self):
        """From theta, less its centre, to natural coordinates."""
        return np.linalg.inv(self.problem.coordinates.to_theta)

    def natural(self, theta):
        """Natural coordinates of theta."""
        return self.inverse @ (theta - self.problem.coordinates.theta_centre)

    def expansion(self, theta, rows=0):
        """(gradient, precision) at theta, of the first `rows` rows, scaled, where given."""
        with one_blas_thread():
            inverse, y = self.inverse, self.natural(theta)
            _, gradient, precision = expansion.expand(self.problem.model, y, rows)
            if self.prior:
                known = prior_expansion(self.problem.prior, y, self.problem.coordinates.inner)
                gradient, precision = gradient + known[0], precision + known[1]
            return inverse.T @ gradient, inverse.T @ precision @ inverse

    def taylor(self, place, axes):
        """What is kept of it where the rows are left behind."""
        gradient, precision = self.expansion(place)
        d, third, fourth = len(place), None, None
        few = self.problem.model.n <= EXPANDED_ROWS
        rows = 0 if few or not self.problem.rows.shuffled else EXPANDED_ROWS
        tilt = None
        if d <= LARGEST_THIRD:
            third, fourth = curves(
                lambda z: axes.T @ self.expansion(place + axes @ z, rows)[1] @ axes, d
            )
        else:
            tilt = axes.T @ self.tilt(place, axes, rows)
        return ExpandedRows(place, gradient, precision, axes, third, fourth, self.nobs, tilt)

    def tilt(self, place, axes, rows):
        """T : axes axes' / 2, by second differences of gradients along each axis."""
        y, inverse, scale = self.natural(place), self.inverse, self.problem.model.n
        some = slice(0, rows or scale)

        def gradient(move):
            of_rows = expansion.of_rows(self.problem.model, y + move, some)[1]
            of_rows *= scale / (rows or scale)
            if self.prior:
                of_rows += expansion.of_prior(self.problem.prior, y + move)[1]
            return of_rows

        with one_blas_thread():
            moves = SPACING * (inverse @ axes).T
            bends = sum(gradient(e) + gradient(-e) for e in moves) - 2 * len(moves) * gradient(0.0)
            return inverse.T @ bends / (2 * SPACING**2)


def prior_expansion(prior, y, axes):
    """(gradient, precision) of a compiled prior at y; the latter by differences along axes of about
    a posterior sd.
    """

    def gradient(at):
        return expansion.of_prior(prior, at)[1]

    columns = [
        (gradient(y - PRIOR_STEP * e) - gradient(y + PRIOR_STEP * e)) / (2 * PRIOR_STEP)
        for e in axes.T
    ]
    precision = np.linalg.solve(axes.T, np.array(columns))
    return gradient(y), 0.5 * (precision + precision.T)
