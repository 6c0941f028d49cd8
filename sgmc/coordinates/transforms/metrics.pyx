"""Metrics of parameters with edges: positive numbers, and probabilities.

At an edge M vanishes, so that the dynamics stay inside; steps of finite length do not, and are
brought back (`fold`), which is where the error of the discretisation is largest: see `sgrld`.
"""
import numpy as np

from libc.math cimport exp, fabs, sqrt

from sgmc.core.contract cimport OK, Metric


cdef class Diagonal(Metric):
    """M = diag(s^2); a leaf writes `move`, which sets s, and `divergence`.

    Parameters
    ----------
    dim : int
    """

    cdef double[::1] s

    def __init__(self, Py_ssize_t dim):
        self.s = np.ones(dim)

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            out[j] = self.s[j] * self.s[j] * g[j]
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            out[j] = self.s[j] * z[j]
        return OK

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        return self.root(g, out)


cdef class PositiveMetric(Diagonal):
    """M = diag(x) for positive x, Gamma = 1; steps are mirrored at zero (Patterson & Teh 2013,
    "expanded-mean").

    Langevin steps of h = 0.1 on Gamma(shape, 1) have the mean right to 0.01 sd for a shape of 2,
    and 0.03 sd and 0.14 sd too large for 1 and 1/2, where much of the law is at the edge.
    """

    cdef int move(self, const double *x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            self.s[j] = sqrt(x[j])
        return OK

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            out[j] = 1
        return OK

    cdef int fold(self, double *x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            x[j] = fabs(x[j])
        return OK


cdef class Logs(Diagonal):
    """M = diag(e^-x) for the logs x of gamma variables, Gamma = -e^-x (Patterson & Teh 2013,
    "expanded-natural").
    """

    cdef int move(self, const double *x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            self.s[j] = exp(-0.5 * x[j])
        return OK

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.s.shape[0]):
            out[j] = -self.s[j] * self.s[j]
        return OK


cdef class SimplexRows(Metric):
    """Metrics of rows of K probabilities each, by their first K - 1;
    a leaf's `move` sets their roots.

    Parameters
    ----------
    dim : int or list of int
        K - 1; one of each row, where there are several.
    """

    cdef double[::1] s, last  # roots of the first ones, and of the last one of each row
    cdef Py_ssize_t[::1] at

    def __init__(self, dim):
        lengths = np.atleast_1d(dim)
        self.s, self.last = np.ones(lengths.sum()), np.ones(len(lengths))
        self.at = np.append(0, np.cumsum(lengths))


cdef class Simplex(SimplexRows):
    """M = diag(x) - x x' for the first K - 1 of K probabilities, Gamma = 1 - K x (Patterson & Teh
    2013, "reduced-mean").

    R = diag(s) (I - s s' / (1 + sqrt(x_K))) with s = sqrt(x).  Steps that end outside are mirrored
    in each of the K and scaled to the sum one.
    """

    cdef int move(self, const double *x) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double rest
        for r in range(self.last.shape[0]):
            rest = 1
            for j in range(self.at[r], self.at[r + 1]):
                self.s[j] = sqrt(x[j])
                rest -= x[j]
            self.last[r] = sqrt(max(rest, 0.))
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double mean
        for r in range(self.last.shape[0]):
            mean = 0
            for j in range(self.at[r], self.at[r + 1]):
                mean += self.s[j] * self.s[j] * g[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = self.s[j] * self.s[j] * (g[j] - mean)
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double along
        for r in range(self.last.shape[0]):
            along = 0
            for j in range(self.at[r], self.at[r + 1]):
                along += self.s[j] * z[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = self.s[j] * (z[j] - self.s[j] * along / (1 + self.last[r]))
        return OK

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double along
        for r in range(self.last.shape[0]):
            along = 0
            for j in range(self.at[r], self.at[r + 1]):
                along += self.s[j] * self.s[j] * g[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = self.s[j] * (g[j] - along / (1 + self.last[r]))
        return OK

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        for r in range(self.last.shape[0]):
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = 1 - (self.at[r + 1] - self.at[r] + 1) * self.s[j] * self.s[j]
        return OK

    cdef int fold(self, double *x) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double rest, total
        cdef bint outside
        for r in range(self.last.shape[0]):
            rest, total, outside = 1, 0, False
            for j in range(self.at[r], self.at[r + 1]):
                rest -= x[j]
                outside |= x[j] < 0
                total += fabs(x[j])
            if outside or rest < 0:
                for j in range(self.at[r], self.at[r + 1]):
                    x[j] = fabs(x[j]) / (total + fabs(rest))
        return OK


cdef class LogRatios(SimplexRows):
    """M = diag(1 / p) + 1 1' / p_K for the log-ratios of the first K - 1 of K probabilities p to
    the last one, Gamma_i = 1 / p_K - 1 / p_i (Patterson & Teh 2013, "reduced-natural").

    R = diag(1 / s) (I + c s s') with s = sqrt(p), c = (1 / sqrt(p_K) - 1) / (1 - p_K) = 1 /
    (sqrt(p_K) (1 + sqrt(p_K))).
    """

    cdef int move(self, const double *x) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double top, total
        for r in range(self.last.shape[0]):
            top = 0
            for j in range(self.at[r], self.at[r + 1]):
                top = max(top, x[j])
            total = exp(-top)
            for j in range(self.at[r], self.at[r + 1]):
                total += exp(x[j] - top)
            for j in range(self.at[r], self.at[r + 1]):
                self.s[j] = exp(0.5 * (x[j] - top)) / sqrt(total)
            self.last[r] = exp(-0.5 * top) / sqrt(total)
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double total
        for r in range(self.last.shape[0]):
            total = 0
            for j in range(self.at[r], self.at[r + 1]):
                total += g[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = g[j] / (self.s[j] * self.s[j]) + total / (self.last[r] * self.last[r])
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double along
        for r in range(self.last.shape[0]):
            along = 0
            for j in range(self.at[r], self.at[r + 1]):
                along += self.s[j] * z[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = z[j] / self.s[j] + along / (self.last[r] * (1 + self.last[r]))
        return OK

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        cdef double total
        for r in range(self.last.shape[0]):
            total = 0
            for j in range(self.at[r], self.at[r + 1]):
                total += g[j]
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = g[j] / self.s[j] + self.s[j] * total / (self.last[r] * (1 + self.last[r]))
        return OK

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j, r
        for r in range(self.last.shape[0]):
            for j in range(self.at[r], self.at[r + 1]):
                out[j] = 1 / (self.last[r] * self.last[r]) - 1 / (self.s[j] * self.s[j])
        return OK
