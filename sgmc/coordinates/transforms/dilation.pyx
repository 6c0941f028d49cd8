"""The map of regressions whose coefficients are the more uncertain the larger a scale of the
outcomes is.
"""
import numpy as np

from libc.math cimport exp, log, sqrt

from sgmc.coordinates.transforms.stack cimport MAX_STACKED
from sgmc.core.contract cimport OK, Map



cdef class Dilation(Map):
    """beta = m + L (g(u) z), u = c + R w for x = (z, w), theta = (beta, u), with

        g_j(u) = ((1 - s_j) exp(-2 p (u_1 - c_1)) + s_j)^(-1/2).

    If L whitens the coefficients at u = c, and s_j is the prior's share of the precision of
    direction j there, z is standard normal given any u: the likelihood's precision goes with exp(-2
    p u_1), the prior's does not.  (Exact for normal errors and priors where the mode does not move
    with u.)  The Jacobian's factor prod g_j makes of the joint mode the marginal one of u.

    Parameters
    ----------
    centre : array (d + k,)
        m and c.
    matrix : array (d, d)
        L.
    share : array (d,)
    auxiliary : array (k, k)
        R.
    power : float
        p.
    """

    cdef readonly double[::1] centre, share
    cdef readonly double[:, ::1] matrix, auxiliary
    cdef readonly double power
    cdef readonly Py_ssize_t d, k
    cdef double log_scale

    def __init__(self, centre, matrix, share, auxiliary, double power):
        self.centre, self.share = np.array(centre, dtype=float), np.array(share, dtype=float)
        self.matrix = np.array(matrix, dtype=float, order="C")
        self.auxiliary = np.array(auxiliary, dtype=float, order="C")
        self.d, self.k, self.power = len(matrix), len(auxiliary), power
        self.dim = self.size = self.d + self.k
        if self.d > MAX_STACKED:
            raise ValueError(f"at most {MAX_STACKED} coefficients")
        self.log_scale = np.linalg.slogdet(matrix)[1] + np.linalg.slogdet(auxiliary)[1]

    def widths(self, w):
        """g at points w (..., k), and its derivative in u_1: arrays (..., d)."""
        share, change = np.asarray(self.share), np.asarray(w) @ np.asarray(self.auxiliary)[0]
        likelihood = (1 - share) * np.exp(-2 * self.power * change)[..., None]
        g = (likelihood + share) ** -0.5
        return g, self.power * likelihood * g ** 3

    def __call__(self, x):
        """theta for points x (..., dim)."""
        z, w = x[..., :self.d], x[..., self.d:]
        beta = (self.widths(w)[0] * z) @ np.asarray(self.matrix).T
        moved = np.concatenate([beta, w @ np.asarray(self.auxiliary).T], axis=-1)
        return np.asarray(self.centre) + moved

    def inverse(self, theta):
        """x for a point theta (size,)."""
        e = np.asarray(theta) - np.asarray(self.centre)
        w = np.linalg.solve(np.asarray(self.auxiliary), e[self.d:])
        return np.concatenate([np.linalg.solve(np.asarray(self.matrix), e[:self.d])
                               / self.widths(w)[0], w])

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        x, L, R, d = np.asarray(x), np.asarray(self.matrix), np.asarray(self.auxiliary), self.d
        g, slope = self.widths(x[d:])
        return np.block([[L * g, np.outer(L @ (slope * x[:d]), R[0])], [np.zeros((self.k, d)), R]])

    cdef double likelihood(self, const double *x) noexcept nogil:
        """exp(-2 p (u_1 - c_1))"""
        cdef Py_ssize_t l
        cdef double change = 0
        for l in range(self.k):
            change += self.auxiliary[0, l] * x[self.d + l]
        return exp(-2 * self.power * change)

    cdef void multiply(self, const double *h, const double *w, double *theta) noexcept nogil:
        """theta = (L h, R w)"""
        cdef Py_ssize_t j, l
        cdef double total
        for j in range(self.d):
            total = 0
            for l in range(self.d):
                total += self.matrix[j, l] * h[l]
            theta[j] = total
        for j in range(self.k):
            total = 0
            for l in range(self.k):
                total += self.auxiliary[j, l] * w[l]
            theta[self.d + j] = total

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double[MAX_STACKED] h
        cdef Py_ssize_t j
        cdef double e = self.likelihood(x), precision
        for j in range(self.d):
            precision = (1 - self.share[j]) * e + self.share[j]
            h[j] = x[j] / sqrt(precision)
            if log_jacobian != NULL:
                log_jacobian[0] -= 0.5 * log(precision)
        self.multiply(h, x + self.d, theta)
        for j in range(self.size):
            theta[j] += self.centre[j]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[MAX_STACKED] h
        cdef Py_ssize_t j, l
        cdef double e = self.likelihood(x), turn = 0, likelihood, precision
        for l in range(self.k):
            turn += self.auxiliary[0, l] * v[self.d + l]
        for j in range(self.d):
            likelihood = (1 - self.share[j]) * e
            precision = likelihood + self.share[j]
            h[j] = (v[j] + self.power * likelihood / precision * x[j] * turn) / sqrt(precision)
        self.multiply(h, v + self.d, v_theta)
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[MAX_STACKED] h
        cdef Py_ssize_t j, l
        cdef double e = self.likelihood(x), turn = 0, likelihood, precision
        for j in range(self.d):
            h[j] = 0
        for j in range(self.d):
            for l in range(self.d):
                h[l] += self.matrix[j, l] * grad_theta[j]
        for j in range(self.d):
            likelihood = (1 - self.share[j]) * e
            precision = likelihood + self.share[j]
            h[j] /= sqrt(precision)
            grad_x[j] += h[j]
            turn += self.power * likelihood / precision * (1 + x[j] * h[j])
        for j in range(self.k):
            for l in range(self.k):
                grad_x[self.d + l] += self.auxiliary[j, l] * (grad_theta[self.d + j]
                                                        + (turn if j == 0 else 0))
        return OK
