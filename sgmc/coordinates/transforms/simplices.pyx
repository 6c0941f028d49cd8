"""Rows of probabilities in the four coordinates of Patterson & Teh (2013, table 1), each with the
metric that goes with it.

For samplers with a metric of the coordinates: steps of others would leave what the means are
restricted to.  Expanded coordinates are a number more than the probabilities have: the prior of
what they are shares of is Gamma(A, 1), and probabilities have the law that they have without them.
A sets the unit of time alone; with the sum of a Dirichlet prior's concentrations the gamma
variables are independent under the prior, as in the paper.
"""
import numpy as np

from libc.math cimport exp, log

from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Map
from sgmc.coordinates.transforms.metrics import LogRatios, Logs, PositiveMetric, Simplex

cdef double SMALLEST_PROBABILITY = limits.SMALLEST_PROBABILITY


cdef class Simplices(Map):
    """Rows of probabilities side by side; subclasses say what a row is.

    Parameters
    ----------
    lengths : list of int
        Probabilities of each row.
    totals : list of float
        A of each row; only expanded coordinates have a use for it.
    """

    cdef readonly Py_ssize_t[::1] length, at, x_at
    cdef readonly double[::1] total

    def __init__(self, lengths, totals):
        self.length, self.total = np.array(lengths, dtype=np.intp), np.array(totals, dtype=float)
        own = np.asarray(self.length) - self.fewer
        self.at, self.x_at = np.cumsum(lengths) - lengths, np.cumsum(own) - own
        self.size, self.dim, self.diagonal = sum(lengths), own.sum(), False

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t r
        cdef double value = 0
        for r in range(self.length.shape[0]):
            value += self.row(r, x + self.x_at[r], theta + self.at[r])
        if log_jacobian != NULL:
            log_jacobian[0] += value
        return OK

    cdef double row(self, Py_ssize_t r, const double *x, double *theta) noexcept nogil:
        """Probabilities of a row; returns its log-Jacobian."""
        return 0

    def __call__(self, x):
        """theta for points x (..., dim)."""
        cdef double[:, ::1] points = np.array(x, dtype=float, order="C").reshape(-1, self.dim)
        cdef double[:, ::1] out = np.empty((points.shape[0], self.size))
        cdef Py_ssize_t i
        for i in range(points.shape[0]):
            self.forward(&points[i, 0], &out[i, 0], NULL)
        return np.asarray(out).reshape(*np.shape(x)[:np.ndim(x) - 1], self.size)

    def inverse(self, theta):
        """x for a point theta (size,), the expanded ones with the sum A; ValueError where a row is
        none of probabilities.
        """
        rows = [np.asarray(theta[i:i + n], dtype=float) for i, n in zip(self.at, self.length)]
        for row in rows:
            if not (row > 0).all() or abs(row.sum() - 1) > 1e-8:
                raise ValueError(f"{row} is not simplex")
        return np.concatenate([self.coordinates(row, A) for row, A in zip(rows, self.total)])


cdef class ExpandedMean(Simplices):
    """theta = x / S, S = sum x, x > 0.

    log|J| = (A - K) log S - S: the density of K gamma variables over that of their shares.
    """

    fewer = 0

    cdef double row(self, Py_ssize_t r, const double *x, double *theta) noexcept nogil:
        cdef Py_ssize_t k, K = self.length[r]
        cdef double S = 0
        for k in range(K):
            S += x[k]
        for k in range(K):
            theta[k] = max(x[k] / S, SMALLEST_PROBABILITY)
        return (self.total[r] - K) * log(S) - S

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t r, k, at
        cdef double S, along
        for r in range(self.length.shape[0]):
            at, S, along = self.at[r], 0, 0
            for k in range(self.length[r]):
                S += x[at + k]
                along += v[at + k]
            for k in range(self.length[r]):
                v_theta[at + k] = (v[at + k] - x[at + k] / S * along) / S
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        """(g_k - theta . g + A - K) / S - 1."""
        cdef Py_ssize_t r, k, at
        cdef double S, mean
        for r in range(self.length.shape[0]):
            at, S, mean = self.at[r], 0, 0
            for k in range(self.length[r]):
                S += x[at + k]
            for k in range(self.length[r]):
                mean += max(x[at + k] / S, SMALLEST_PROBABILITY) * grad_theta[at + k]
            mean -= self.total[r] - self.length[r]
            for k in range(self.length[r]):
                grad_x[at + k] += (grad_theta[at + k] - mean) / S - 1
        return OK

    def coordinates(self, theta, A):
        """x of a row."""
        return A * theta

    def metric(self):
        """M = diag(x)."""
        return PositiveMetric(self.dim)


cdef class ExpandedNatural(Simplices):
    """theta = e^x / S, S = sum e^x: logs of the gamma variables of `ExpandedMean`."""

    fewer = 0

    cdef double row(self, Py_ssize_t r, const double *x, double *theta) noexcept nogil:
        cdef Py_ssize_t k, K = self.length[r]
        cdef double S = 0, total = 0
        for k in range(K):
            S += exp(x[k])
            total += x[k]
        for k in range(K):
            theta[k] = max(exp(x[k]) / S, SMALLEST_PROBABILITY)
        return total + (self.total[r] - K) * log(S) - S

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t r, k, at
        cdef double S, along
        for r in range(self.length.shape[0]):
            at, S, along = self.at[r], 0, 0
            for k in range(self.length[r]):
                S += exp(x[at + k])
                along += exp(x[at + k]) * v[at + k]
            for k in range(self.length[r]):
                v_theta[at + k] = exp(x[at + k]) / S * (v[at + k] - along / S)
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        """theta_k (g_k - theta . g + A - K) - e^{x_k} + 1."""
        cdef Py_ssize_t r, k, at
        cdef double S, mean
        for r in range(self.length.shape[0]):
            at, S, mean = self.at[r], 0, 0
            for k in range(self.length[r]):
                S += exp(x[at + k])
            for k in range(self.length[r]):
                mean += max(exp(x[at + k]) / S, SMALLEST_PROBABILITY) * grad_theta[at + k]
            mean -= self.total[r] - self.length[r]
            for k in range(self.length[r]):
                grad_x[at + k] += exp(x[at + k]) * ((grad_theta[at + k] - mean) / S - 1) + 1
        return OK

    def coordinates(self, theta, A):
        """x of a row."""
        return np.log(A * theta)

    def metric(self):
        """M = diag(e^-x)."""
        return Logs(self.dim)


cdef class ReducedMean(Simplices):
    """The first K - 1 probabilities themselves."""

    fewer = 1

    cdef double row(self, Py_ssize_t r, const double *x, double *theta) noexcept nogil:
        cdef Py_ssize_t k, last = self.length[r] - 1
        theta[last] = 1
        for k in range(last):
            theta[k] = max(x[k], SMALLEST_PROBABILITY)
            theta[last] -= x[k]
        theta[last] = max(theta[last], SMALLEST_PROBABILITY)
        return 0

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t r, k, last
        for r in range(self.length.shape[0]):
            last = self.at[r] + self.length[r] - 1
            v_theta[last] = 0
            for k in range(self.length[r] - 1):
                v_theta[self.at[r] + k] = v[self.x_at[r] + k]
                v_theta[last] -= v[self.x_at[r] + k]
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t r, k
        for r in range(self.length.shape[0]):
            for k in range(self.length[r] - 1):
                grad_x[self.x_at[r] + k] += (grad_theta[self.at[r] + k]
                                             - grad_theta[self.at[r] + self.length[r] - 1])
        return OK

    def coordinates(self, theta, A):
        """x of a row."""
        return theta[:len(theta) - 1]

    def metric(self):
        """M = diag(x) - x x', row by row."""
        return Simplex(np.asarray(self.length) - 1)


class ReducedNatural(Constrained):
    """Log-ratios to the last probability, as in mirrored Langevin dynamics;
    see `Simplices` for the arguments.
    """

    def __init__(self, lengths, totals):
        super().__init__([("mirrored", n, 0, 0) for n in lengths])
        self.lengths = lengths

    def metric(self):
        """M = diag(1 / theta) + 1 1' / theta_K, row by row."""
        return LogRatios(np.array(self.lengths) - 1)


COORDINATES = {"expanded-mean": ExpandedMean, "expanded-natural": ExpandedNatural,
               "reduced-mean": ReducedMean,
               "reduced-natural": ReducedNatural}
