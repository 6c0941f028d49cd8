"""Regression with complementary log-log link."""
import numpy as np

from libc.math cimport exp, expm1, fmin, log

from sgmc.core.contract cimport OK
from sgmc.models.family import Binary
from sgmc.models.glm cimport Glm

LARGEST = 700.0                   # predictor beyond which exp would overflow, as a number and in products
cdef double C_LARGEST = LARGEST


cdef class BernoulliCloglog(Glm):
    """p(y_i = 1) = 1 - exp(-mu), mu = exp(eta_i).  Scores s = mu / (exp(mu) - 1) of a success and -mu of a failure, curvatures
    s (mu / (1 - exp(-mu)) - 1) and mu."""

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *r,
                    double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double mu
        for i in range(m):
            mu = exp(fmin(eta[i], C_LARGEST))
            if y[i] < 0.5:
                r[i] = -mu
            else:
                r[i] = mu / expm1(mu) if mu > 0 else 1
            if density != NULL:
                density[i] = -mu if y[i] < 0.5 else log_of_success(eta[i], mu)
        return OK

    cdef int bend(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double mu
        for i in range(m):
            mu = exp(fmin(eta[i], C_LARGEST))
            if y[i] < 0.5:
                w[i] = mu
            elif mu < 1e-6:
                w[i] = 0.5 * mu                               # to first order; the difference below would lose its digits
            else:
                w[i] = mu / expm1(mu) * (-mu / expm1(-mu) - 1) if mu < C_LARGEST else 0
        return OK


cdef double log_of_success(double eta, double mu) noexcept nogil:
    """log(1 - exp(-mu)), which is about eta where mu is small."""
    return log(-expm1(-mu)) if mu > 1e-15 else eta


class CloglogFamily(Binary):
    """Bernoulli outcomes with complementary log-log link: log(-log(1 - p)) = x . theta."""

    name = "cloglog"
    title = "Complementary log-log"
    kernel = BernoulliCloglog

    @staticmethod
    def mean(eta):
        """1 - exp(-exp(eta))."""
        return -np.expm1(-np.exp(np.minimum(eta, LARGEST)))

    @staticmethod
    def log_density(y, eta, extra=None):
        """See `Family.log_density`."""
        mu = np.exp(np.minimum(eta, LARGEST))
        with np.errstate(divide="ignore"):
            success = np.where(mu > 1e-15, np.log(-np.expm1(-mu)), eta)
        return np.where(y > 0.5, success, -mu)
