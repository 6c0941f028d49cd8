"""Regression with the inverse distribution function of Cauchy as link."""
import numpy as np

from libc.math cimport M_PI, atan2, log, log1p

from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.bernoulli cimport Bernoulli
from sgmc.models.regression.bases.family import Binary
from sgmc.models.regression.model import Regression


cdef class BernoulliCauchit(Bernoulli):
    """p(y_i = 1) = F(eta_i) = 1/2 + atan(eta_i) / pi.  With t = eta_i for a success and -eta_i for
    a failure and l = F'(t) / F(t): score +-l, curvature l (l + 2 t / (1 + t^2)), which is negative
    where t is far below 0.
    """

    score_bound, curvature_bound = 0.72462, 0.51414      # at t = -0.43 and t = 0.29
    third_bound = 1.02137                              # at t = -0.22

    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t
        for i in range(m):
            t = eta[i] if y[i] > 0.5 else -eta[i]
            r[i] = ratio(t) if y[i] > 0.5 else -ratio(t)
            if density != NULL:
                density[i] = log(atan2(1, -t) / M_PI) if t < 0 else log1p(-atan2(1, t) / M_PI)
        return OK

    cdef int outcome_information(self, Py_ssize_t m, const double *eta, const double *y,
                                 double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t, slope
        for i in range(m):
            t = eta[i] if y[i] > 0.5 else -eta[i]
            slope = ratio(t)
            w[i] = slope * (slope + 2 * t / (1 + t * t))
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        """l(eta) l(-eta), the expected curvature, which is positive."""
        cdef Py_ssize_t i
        for i in range(m):
            w[i] = ratio(eta[i]) * ratio(-eta[i])
        return OK


cdef inline double ratio(double t) noexcept nogil:
    """F'(t) / F(t), F(t) = atan2(1, -t) / pi having its digits in both tails."""
    return 1 / ((1 + t * t) * atan2(1, -t))


class CauchitFamily(Binary):
    """Bernoulli outcomes with cauchit link: tan(pi (p - 1/2)) = x . theta."""

    log_concave = False
    name = "cauchit"
    title = "Cauchit"
    distribution = "binomial"
    link = "cauchit"
    kernel = BernoulliCauchit
    expands = True

    @staticmethod
    def mean(eta):
        """1/2 + atan(eta) / pi, with its digits in the lower tail too."""
        return np.arctan2(1.0, -np.asarray(eta)) / np.pi

    @staticmethod
    def log_density(y, eta, extra=None):
        t = np.where(np.asarray(y) > 0.5, eta, -np.asarray(eta))
        lower, upper = np.arctan2(1.0, -t) / np.pi, np.arctan2(1.0, t) / np.pi
        return np.where(t < 0, np.log(lower), np.log1p(-upper))


class Cauchit(Regression):
    """Bayesian regression with cauchit link: P(y = 1) = 1/2 + atan(x . theta + offset) / pi."""

    family = CauchitFamily
