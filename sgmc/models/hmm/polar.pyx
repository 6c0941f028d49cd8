"""Coordinates of a hidden autoregression with one outcome a step, in which its posterior is about
normal also where the data hardly tell noise of the state from noise of the outcome.
"""
import numpy as np

from libc.math cimport M_PI, erfc, exp, log, sin, sqrt
from scipy.special import ndtri

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Map

cdef double SMALLEST_POSITIVE = limits.SMALLEST_POSITIVE


cdef double normal_cdf(double x) noexcept nogil:
    return 0.5 * erfc(-x / sqrt(2.0))


cdef double normal_pdf(double x) noexcept nogil:
    return exp(-0.5 * x * x) / sqrt(2 * M_PI)


cdef class Polar(Map):
    """theta = (a, q, r, level) of x = (z, s, w, level):

        a = 2 Phi(z) - 1,   q = e^s cos(pi Phi(w) / 2),   r = e^s sin(pi Phi(w) / 2).

    Where r is poorly determined the posterior lies along an arc q^2 + r^2 = const, and its density
    does not vanish at r = 0: in log q and log r that is a curved ridge with an exponential tail, in
    the angle a straight one, and in its normal quantile w the tail is a Gaussian's.
    log |dtheta/dx| = 2 s - (z^2 + w^2) / 2 - log 2.
    """

    def __init__(self):
        self.dim = self.size = 4
        self.diagonal = False

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double size = exp(x[1])
        theta[0] = normal_cdf(x[0]) - normal_cdf(-x[0])
        theta[1] = max(size * sin(0.5 * M_PI * normal_cdf(-x[2])), SMALLEST_POSITIVE)
        theta[2] = max(size * sin(0.5 * M_PI * normal_cdf(x[2])), SMALLEST_POSITIVE)
        theta[3] = x[3]
        if log_jacobian != NULL:
            log_jacobian[0] += 2 * x[1] - 0.5 * (x[0] * x[0] + x[2] * x[2]) - log(2.0)
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[4] theta
        cdef double turn = 0.5 * M_PI * normal_pdf(x[2])
        self.forward(x, theta, NULL)
        v_theta[0] = 2 * normal_pdf(x[0]) * v[0]
        v_theta[1] = theta[1] * v[1] - theta[2] * turn * v[2]
        v_theta[2] = theta[2] * v[1] + theta[1] * turn * v[2]
        v_theta[3] = v[3]
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[4] theta
        cdef double turn = 0.5 * M_PI * normal_pdf(x[2])
        self.forward(x, theta, NULL)
        grad_x[0] += 2 * normal_pdf(x[0]) * grad_theta[0] - x[0]
        grad_x[1] += theta[1] * grad_theta[1] + theta[2] * grad_theta[2] + 2
        grad_x[2] += turn * (theta[1] * grad_theta[2] - theta[2] * grad_theta[1]) - x[2]
        grad_x[3] += grad_theta[3]
        return OK

    def __call__(self, x):
        """theta for points x (..., 4)."""
        cdef double[:, ::1] points = np.array(x, dtype=float, order="C").reshape(-1, 4)
        cdef double[:, ::1] out = np.empty((points.shape[0], 4))
        cdef Py_ssize_t i
        for i in range(points.shape[0]):
            self.forward(&points[i, 0], &out[i, 0], NULL)
        return np.asarray(out).reshape(np.shape(x))

    def log_jacobian(self, x):
        """log |dtheta/dx| at a point x (4,)."""
        cdef double[::1] point = np.array(x, dtype=float)
        cdef double[4] theta
        cdef double total = 0
        self.forward(&point[0], theta, &total)
        return total

    def inverse(self, theta):
        """x for a point theta (4,); ValueError where theta is not inside."""
        a, q, r, level = theta
        if not (-1 < a < 1 and q > 0 and r > 0):
            raise ValueError(f"{theta} must be -1 < a < 1, q > 0 and r > 0")
        angle = 2 / np.pi * np.arctan2(r, q)
        return np.array([ndtri(0.5 * (1 + a)), np.log(np.hypot(q, r)), ndtri(angle), level])

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (4,), an array (4, 4)."""
        cdef double[::1] point = np.array(x, dtype=float), column = np.empty(4)
        cdef double[:, ::1] unit = np.eye(4)
        cdef Py_ssize_t k
        matrix = np.empty((4, 4))
        for k in range(4):
            self.jvp(&point[0], &unit[k, 0], &column[0])
            matrix[:, k] = column
        return matrix
