"""Linear regression with normal errors."""
import numpy as np

from libc.math cimport exp

from sgmc.core.contract cimport OK
from sgmc.models.dispersed cimport Dispersed
from sgmc.models.family import Continuous, Own
from sgmc.priors import exponential

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


cdef class GaussianIdentity(Dispersed):
    """y_i ~ N(eta_i, sigma^2), u = log sigma; the density without its constant.

    With e = y_i - eta_i and t = 1/sigma^2: scores (t e, t e^2 - 1), curvatures (t, 2 t e; 2 t e, 2 t e^2), expected (t, 0; 0, 2).
    """

    def units(self, theta):
        """sigma for eta, 1 for u."""
        return np.array([np.exp(theta[self.X.d]), 1.0])

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *r,
                    double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], t = exp(-2 * u), e
        for i in range(m):
            e = y[i] - eta[i]
            r[2 * i] = t * e
            r[2 * i + 1] = t * e * e - 1
            if density != NULL:
                density[i] = -u - 0.5 * t * e * e
        return OK

    cdef int bend(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d]), e
        for i in range(m):
            e = y[i] - eta[i]
            w[4 * i] = t
            w[4 * i + 1] = w[4 * i + 2] = 2 * t * e
            w[4 * i + 3] = 2 * t * e * e
        return OK

    cdef int inform(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d])
        for i in range(m):
            w[4 * i] = t
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = 2
        return OK


class OlsFamily(Continuous):
    """Real outcomes with normal errors: y = x . theta + N(0, sigma^2)."""

    name = "ols"
    title = "Linear"
    kernel = GaussianIdentity
    own = (Own("sigma", exponential(1.0, autoscale=True)),)

    @staticmethod
    def variance(eta, extra=None):
        """sigma^2."""
        return np.broadcast_to(extra[0] ** 2, np.shape(eta))

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Normal numbers."""
        return eta + extra[0] * rng.standard_normal(np.shape(eta))

    @staticmethod
    def log_density(y, eta, extra=None):
        """See `Family.log_density`."""
        return -0.5 * ((y - eta) / extra[0]) ** 2 - np.log(extra[0]) - HALF_LOG_2PI

    @staticmethod
    def deviance(y, mean, extra=None):
        """(y - mean)^2."""
        return (np.asarray(y) - mean) ** 2
