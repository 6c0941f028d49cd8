"""Poisson regression of counts."""
import numpy as np
from scipy.special import gammaln, xlogy

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.in_part.counts import PoissonInPart
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Counts
from sgmc.models.regression.bases.glm cimport Glm
from sgmc.models.regression.bases.known import Known
from sgmc.models.regression.bases.in_part.limited import LimitedFamily
from sgmc.models.regression.model import Regression


cdef class PoissonLog(Glm):
    """y_i ~ Poisson(mu_i), mu_i = exp(eta_i): score y_i - mu_i, curvature mu_i;
    the density without log y_i!.
    """

    nanoseconds = 1.8
    unbounded = "its curvature is the mean, exp(eta)"
    growth = 1.0

    def remainder_bounds(self, order, eta):
        """The mean is each derivative's size."""
        return self.weighed((np.exp(eta),))[0]

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        simd.exponential(m, eta, r)
        for i in range(m if density != NULL else 0):
            density[i] = y[i] * eta[i] - r[i]
        for i in range(m):
            r[i] = y[i] - r[i]
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        simd.exponential(m, eta, w)
        return OK


class PoissonFamily(Counts):
    """Counts with log link: log E[y] = x . theta + log(exposure)."""

    name = "poisson"
    title = "Poisson"
    distribution = "poisson"
    link = "log"
    default_link = True
    kernel = PoissonLog
    expands = True

    @staticmethod
    def log_density(y, eta, extra=None):
        return y * eta - Counts.mean(eta) - gammaln(y + 1)

    @staticmethod
    def variance(eta, extra=None):
        """The mean."""
        return Counts.mean(eta)

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Counts."""
        return rng.poisson(np.minimum(Counts.mean(eta), MAX_COUNT_MEAN)).astype(float)

    @staticmethod
    def deviance(y, mean, extra=None):
        """2 (y log(y / mean) - (y - mean))."""
        return 2 * (xlogy(y, y) - xlogy(y, mean) - (y - mean))


class CensoredPoisson(LimitedFamily):
    """Poisson counts of which some are censored or truncated."""

    whole, rows = PoissonFamily, PoissonInPart

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model, of the coefficients alone."""
        return Known(self.rows(X, y, offset, weight), (1.0,))


class Poisson(Regression):
    """Bayesian Poisson regression of counts: E[y] = exposure exp(x . theta + offset)."""

    family = PoissonFamily
