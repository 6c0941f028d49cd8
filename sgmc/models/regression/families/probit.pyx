"""Probit regression."""
from libc.math cimport exp
from scipy.special import log_ndtr, ndtr
from scipy.special.cython_special cimport log_ndtr as log_cdf

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.bernoulli cimport Bernoulli
from sgmc.models.regression.bases.family import Binary
from sgmc.models.regression.model import Regression

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI


cdef class BernoulliProbit(Bernoulli):
    """p(y_i = 1) = Phi(eta_i).  With t = eta_i for a success and -eta_i for a failure and l =
    phi(t) / Phi(t): score +-l, curvature l (l + t).
    """

    curvature_bound = 1.0  # l (l + t) falls from 1 to 0 (Sampford 1953); the score grows like |t|
    third_bound = 0.29572  # l ((l + t) (2 l + t) - 1), at t = 1.0024

    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t, value
        for i in range(m):
            t = eta[i] if y[i] > 0.5 else -eta[i]
            value = log_cdf(t)
            r[i] = exp(-0.5 * t * t - HALF_LOG_2PI - value)
            if y[i] <= 0.5:
                r[i] = -r[i]
            if density != NULL:
                density[i] = value
        return OK

    cdef int outcome_information(self, Py_ssize_t m, const double *eta, const double *y,
                                 double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t, ratio
        for i in range(m):
            t = eta[i] if y[i] > 0.5 else -eta[i]
            ratio = exp(-0.5 * t * t - HALF_LOG_2PI - log_cdf(t))
            w[i] = ratio * (ratio + t)
        return OK


class ProbitFamily(Binary):
    """Bernoulli outcomes with probit link: Phi^-1(p) = x . theta."""

    name = "probit"
    title = "Probit"
    distribution = "binomial"
    link = "probit"
    kernel = BernoulliProbit
    expands = True
    mean = staticmethod(ndtr)

    @staticmethod
    def log_density(y, eta, extra=None):
        return log_ndtr((2 * y - 1) * eta)


class Probit(Regression):
    """Bayesian probit regression: P(y = 1) = Phi(x . theta + offset)."""

    family = ProbitFamily
