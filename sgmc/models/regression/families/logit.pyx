"""Logistic regression."""
import numpy as np

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.family import Binary
from sgmc.models.regression.bases.glm cimport Glm
from sgmc.models.regression.model import Regression


cdef class BernoulliLogit(Glm):
    """p(y_i = 1) = 1 / (1 + exp(-eta_i)); score y_i - p_i, curvature p_i (1 - p_i)."""

    nanoseconds = 1.5
    score_bound, curvature_bound = 1.0, 0.25
    third_bound = 3 ** 0.5 / 18                   # at p = (1 +- 1 / sqrt 3) / 2

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        simd.logit_score(m, eta, y, r)
        if density != NULL:
            simd.logit_density(m, eta, y, density)
        return OK

    cdef int family_sums(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                         const double *y, const double *weight, double *r, double *density,
                         double *total) except -1 nogil:
        """Without weights with one exponential a row, and one logarithm a node."""
        if weight != NULL:
            return Glm.family_sums(self, theta, nodes, m, eta, y, weight, r, density, total)
        simd.logit_terms(nodes * m, eta, y, r, density)
        simd.logit_sums(nodes, m, eta, density, total)
        return OK

    cdef int family_values(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                           const double *y, const double *weight, double *r, double *density,
                           double *total) except -1 nogil:
        """Without weights with no division."""
        if weight != NULL:
            return Glm.family_sums(self, theta, nodes, m, eta, y, weight, r, density, total)
        simd.logit_terms(nodes * m, eta, y, NULL, density)
        simd.logit_sums(nodes, m, eta, density, total)
        return OK

    cdef int family_total(self, const double *theta, Py_ssize_t m, double *eta, const double *y,
                          const double *weight, double *r, double *density,
                          double *total) except -1 nogil:
        """Without weights a row is an exponential and no division."""
        if weight != NULL:
            return Glm.family_total(self, theta, m, eta, y, weight, r, density, total)
        if self.single:
            total[0] += simd.logit_total_single(m, eta, y)
            return OK
        simd.logit_terms(m, eta, y, NULL, density)
        total[0] += simd.logit_sum(m, eta, density)
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        simd.logit_curvature(m, eta, w)
        return OK


def expit(eta):
    """1 / (1 + exp(-eta)), elementwise."""
    cdef const double[::1] x = np.ascontiguousarray(eta, dtype=float).ravel()
    cdef double[::1] p = np.empty(x.shape[0])
    if x.shape[0]:
        with nogil:
            simd.expit(x.shape[0], &x[0], &p[0])
    return np.asarray(p).reshape(np.shape(eta))


def log_density(y, eta):
    """y eta - log(1 + exp(eta)), elementwise; y is broadcast to eta."""
    cdef const double[::1] x = np.ascontiguousarray(eta, dtype=float).ravel()
    cdef double[::1] value = np.empty(x.shape[0])
    cdef const double[::1] outcome = np.ascontiguousarray(np.broadcast_to(y, np.shape(eta)),
                                                          dtype=float).ravel()
    if x.shape[0]:
        with nogil:
            simd.logit_density(x.shape[0], &x[0], &outcome[0], &value[0])
    return np.asarray(value).reshape(np.shape(eta))


class LogitFamily(Binary):
    """Bernoulli outcomes with logit link: log p / (1 - p) = x . theta."""

    name = "logit"
    title = "Logit"
    distribution = "binomial"
    link = "logit"
    default_link = True
    kernel = BernoulliLogit
    expands = True
    mean = staticmethod(expit)

    @staticmethod
    def variance(eta, extra=None):
        """p (1 - p), without cancellation where p is near 1."""
        return expit(eta) * expit(-np.asarray(eta))

    @staticmethod
    def log_density(y, eta, extra=None):
        """y eta - log(1 + exp(eta))."""
        return log_density(y, eta)


class Logit(Regression):
    """Bayesian logistic regression: P(y = 1) = 1 / (1 + exp(-(x . theta + offset)))."""

    family = LogitFamily
