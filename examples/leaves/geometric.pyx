"""Geometric regression of counts whose sd is about as large as their mean."""
import numpy as np
from scipy.special import xlogy

from libc.math cimport exp, log1p

from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Counts
from sgmc.models.regression.bases.glm cimport Glm
from sgmc.models.regression.model import Regression


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t))."""
    return t + log1p(exp(-t)) if t > 0 else log1p(exp(t))


cdef inline double share(double t) noexcept nogil:
    """1 / (1 + exp(-t))."""
    return 1 / (1 + exp(-t)) if t > 0 else exp(t) / (1 + exp(t))


cdef class GeometricLog(Glm):
    """p(y_i) = q_i^y_i (1 - q_i) with q_i = mu_i / (1 + mu_i) and mu_i = exp(eta_i):
    score y_i - (1 + y_i) q_i, curvature (1 + y_i) q_i (1 - q_i).
    """

    unbounded = "its curvature grows with the outcome, up to (1 + y) / 4"

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            r[i] = y[i] * share(-eta[i]) - share(eta[i])
            if density != NULL:
                density[i] = -y[i] * softplus(-eta[i]) - softplus(eta[i])
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            w[i] = (1 + y[i]) * share(eta[i]) * share(-eta[i])
        return OK


class GeometricFamily(Counts):
    """Counts with log link and variance mu + mu^2: log E[y] = x . theta + log(exposure)."""

    name = "geometric"
    title = "Geometric"
    distribution = "geometric"
    link = "log"
    default_link = True
    kernel = GeometricLog

    @staticmethod
    def log_density(y, eta, extra=None):
        return -y * np.logaddexp(0, -eta) - np.logaddexp(0, eta)

    @staticmethod
    def variance(eta, extra=None):
        """mu + mu^2."""
        mu = Counts.mean(eta)
        return mu + mu ** 2

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Poisson counts whose means are exponential variables."""
        mu = Counts.mean(eta)
        mean = mu * rng.exponential(size=np.shape(mu))
        return rng.poisson(np.minimum(mean, MAX_COUNT_MEAN)).astype(float)

    @staticmethod
    def deviance(y, mean, extra=None):
        """2 (y log(y / mean) - (1 + y) log((1 + y) / (1 + mean)))."""
        return 2 * (xlogy(y, y) - xlogy(y, mean) - (1 + y) * (np.log1p(y) - np.log1p(mean)))


class Geometric(Regression):
    """Bayesian geometric regression of counts: E[y] = mu = exposure exp(x . theta + offset),
    Var[y] = mu + mu^2.
    """

    family = GeometricFamily
