"""A part of a log posterior by its derivatives at one place: what is left of rows that are gone.

With z the place in whitened coordinates, theta = place + A z, and derivatives g, -H, T and F of the
log density there, gradient and precision nearby are g - H z + T[z, z] / 2 + F[z, z, z] / 6 and
H - T[z] - F[z, z] / 2.  The terms with F are not used but judged: they are what is neglected.  Of
the fourth derivatives those along an axis twice are kept, F_jj; the others of them are bounded by
CROSSED times these (of a normal z, E[z_1^4] is 3 E[z_1^2 z_2^2]).
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.blas import one_blas_thread

LARGEST_THIRD = 64  # parameters of which third derivatives are kept: two arrays of 2 MB then
EXPANDED_ROWS = 20_000  # rows, in random order, that third derivatives are taken from
STEP = 0.5  # of the differences, in posterior sds
CROSSED = 3.0


@dataclass(frozen=True)
class Taylor:
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
    """

    place: np.ndarray
    gradient: np.ndarray
    precision: np.ndarray
    axes: np.ndarray
    third: np.ndarray | None
    fourth: np.ndarray | None
    nobs: float

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

    def spread(self, covariance):
        """Means of the third- and fourth-order terms over a normal law of that covariance: of the
        gradient, T : covariance / 2, and of the precision, -F : covariance / 2.
        """
        if self.third is None:
            return None
        half = np.linalg.solve(self.axes, covariance)
        square = np.linalg.solve(self.axes, half.T)
        gradient = 0.5 * np.tensordot(self.third, square, 2)
        bent = 0.5 * np.tensordot(np.diag(square), self.fourth, 1)
        return self.back(gradient), -self.back(self.back(bent).T)

    def back(self, slopes):
        """Derivatives by theta (first axis) of derivatives by z."""
        return np.linalg.solve(self.axes.T, slopes)


def curves(precision_at, d):
    """(T, F_jj) of minus the log density whose Hessian in z is ``precision_at(z)``, by central
    differences of it along each axis.
    """
    centre = precision_at(np.zeros(d))
    third, fourth = np.empty((d, d, d)), np.empty((d, d, d))
    for j, e in enumerate(STEP * np.eye(d)):
        ahead, behind = precision_at(e), precision_at(-e)
        third[j] = -(ahead - behind) / (2 * STEP)
        fourth[j] = -(ahead + behind - 2 * centre) / STEP**2
    return (third + third.transpose(1, 0, 2) + third.transpose(2, 1, 0)) / 3, fourth


class Rows:
    """The same part of a log posterior while its rows are there: exact at every place.

    Parameters
    ----------
    problem : RegressionProblem
    prior : bool
        Whether its prior belongs to it: that of the first fit does, those of updates are the
        other parts.
    """

    def __init__(self, problem, prior):
        self.problem, self.prior = problem, prior

    @property
    def nobs(self):
        """Observations."""
        return self.problem.own_nobs

    def expansion(self, theta, rows=0):
        """(gradient, precision) at theta, of the first `rows` rows, scaled, where given."""
        from sgmc.core.expansion import expand

        where = self.problem.coordinates
        with one_blas_thread():
            y = np.linalg.solve(where.to_theta, theta - where.theta_centre)
        _, gradient, precision = expand(self.problem.model, y, rows)
        if self.prior:
            of_prior = prior_expansion(self.problem.prior, y, where.inner)
            gradient, precision = gradient + of_prior[0], precision + of_prior[1]
        with one_blas_thread():
            inverse = np.linalg.inv(where.to_theta)
            return inverse.T @ gradient, inverse.T @ precision @ inverse

    def taylor(self, place, axes):
        """What is kept of it where the rows are left behind."""
        gradient, precision = self.expansion(place)
        d, n, third, fourth = len(place), self.problem.model.n, None, None
        few = n <= EXPANDED_ROWS
        if d <= LARGEST_THIRD and (few or self.problem.shuffled):
            rows = 0 if few else EXPANDED_ROWS
            third, fourth = curves(
                lambda z: axes.T @ self.expansion(place + axes @ z, rows)[1] @ axes, d
            )
        return Taylor(place, gradient, precision, axes, third, fourth, self.nobs)


def prior_expansion(prior, y, axes):
    """(gradient, precision) of a compiled prior at y; the latter by differences along axes of about
    a posterior sd.
    """
    from sgmc.core.expansion import of_prior

    small = 1e-3
    columns = [
        (of_prior(prior, y - small * e)[1] - of_prior(prior, y + small * e)[1]) / (2 * small)
        for e in axes.T
    ]
    with one_blas_thread():
        precision = np.linalg.solve(axes.T, np.array(columns))
    return of_prior(prior, y)[1], 0.5 * (precision + precision.T)
