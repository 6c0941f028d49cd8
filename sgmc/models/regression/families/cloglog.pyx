"""Regression with complementary log-log link, and with log-log link: the same of failures,
with the sign turned.
"""
import numpy as np

from libc.math cimport exp, expm1, fmin, log

from sgmc.core.contract cimport OK
from sgmc.core.numerics.limits import MAX_LOG
from sgmc.models.regression.bases.bernoulli cimport Bernoulli
from sgmc.models.regression.bases.family import Binary
from sgmc.models.regression.model import Regression

# of the second and third derivatives of log(1 - exp(-exp(eta))), at eta = 0.96 and 1.43
SUCCESS_BOUNDS = (0.41254, 0.42606)
cdef double LARGEST_ETA = MAX_LOG   # its exp does not overflow


cdef class BernoulliCloglog(Bernoulli):
    """p(y_i = 1) = 1 - exp(-mu), mu = exp(eta_i).  Scores s = mu / (exp(mu) - 1) of a success and
    -mu of a failure, curvatures s (mu / (1 - exp(-mu)) - 1) and mu.
    """

    unbounded = "its curvature grows like exp(eta)"
    growth = 1.0

    def remainder_bounds(self, order, eta):
        return self.weighed((of_failures(1 - np.asarray(self.y), eta, order),))[0]

    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            r[i] = score(eta[i], y[i] > 0.5, NULL if density == NULL else density + i)
        return OK

    cdef int outcome_information(self, Py_ssize_t m, const double *eta, const double *y,
                                 double *w) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            w[i] = curvature(eta[i], y[i] > 0.5)
        return OK


cdef class BernoulliLoglog(Bernoulli):
    """p(y_i = 1) = exp(-exp(-eta_i)): a success is a failure of `BernoulliCloglog` at -eta_i."""

    unbounded = "its curvature grows like exp(-eta)"
    growth = 1.0

    def remainder_bounds(self, order, eta):
        return self.weighed((of_failures(np.asarray(self.y), -eta, order),))[0]

    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            r[i] = -score(-eta[i], y[i] <= 0.5, NULL if density == NULL else density + i)
        return OK

    cdef int outcome_information(self, Py_ssize_t m, const double *eta, const double *y,
                                 double *w) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            w[i] = curvature(-eta[i], y[i] <= 0.5)
        return OK


def of_failures(share, eta, order):
    """Bounds of rows with that share of failures under the complementary log-log link: of these
    each derivative is -exp(eta).
    """
    return share * np.exp(eta) + (1 - share) * SUCCESS_BOUNDS[order - 1]


cdef inline double score(double eta, bint success, double *density) noexcept nogil:
    """Of one outcome with complementary log-log link; its log density where that is wanted."""
    cdef double mu = exp(fmin(eta, LARGEST_ETA))
    if density != NULL:
        density[0] = log_of_success(eta, mu) if success else -mu
    if not success:
        return -mu
    return mu / expm1(mu) if mu > 0 else 1


cdef inline double curvature(double eta, bint success) noexcept nogil:
    """Minus the second derivative of that log density."""
    cdef double mu = exp(fmin(eta, LARGEST_ETA))
    if not success:
        return mu
    if mu < 1e-6:
        return 0.5 * mu  # to first order; the difference below would lose its digits
    return mu / expm1(mu) * (-mu / expm1(-mu) - 1) if mu < LARGEST_ETA else 0


cdef double log_of_success(double eta, double mu) noexcept nogil:
    """log(1 - exp(-mu)), which is about eta where mu is small."""
    return log(-expm1(-mu)) if mu > 1e-15 else eta


class CloglogFamily(Binary):
    """Bernoulli outcomes with complementary log-log link: log(-log(1 - p)) = x . theta."""

    name = "cloglog"
    title = "Complementary log-log"
    distribution = "binomial"
    link = "cloglog"
    kernel = BernoulliCloglog
    expands = True

    @staticmethod
    def mean(eta):
        """1 - exp(-exp(eta))."""
        return -np.expm1(-np.exp(np.minimum(eta, MAX_LOG)))

    @staticmethod
    def log_density(y, eta, extra=None):
        mu = np.exp(np.minimum(eta, MAX_LOG))
        with np.errstate(divide="ignore"):
            success = np.where(mu > 1e-15, np.log(-np.expm1(-mu)), eta)
        return np.where(y > 0.5, success, -mu)


class LoglogFamily(Binary):
    """Bernoulli outcomes with log-log link: -log(-log p) = x . theta."""

    name = "loglog"
    title = "Log-log"
    distribution = "binomial"
    link = "loglog"
    kernel = BernoulliLoglog
    expands = True

    @staticmethod
    def mean(eta):
        """exp(-exp(-eta))."""
        return np.exp(-np.exp(np.minimum(-np.asarray(eta), MAX_LOG)))

    @staticmethod
    def log_density(y, eta, extra=None):
        return CloglogFamily.log_density(1 - np.asarray(y), -np.asarray(eta))


class Cloglog(Regression):
    """Bayesian regression with complementary log-log link: P(y = 1) = 1 - exp(-exp(x . theta +
    offset)).
    """

    family = CloglogFamily


class Loglog(Regression):
    """Bayesian regression with log-log link: P(y = 1) = exp(-exp(-(x . theta + offset)))."""

    family = LoglogFamily
