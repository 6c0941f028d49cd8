"""Poisson regression of counts."""
import numpy as np
from scipy.special import gammaln, xlogy

from sgmc.core cimport kernels
from sgmc.core.contract cimport OK
from sgmc.errors import DataError
from sgmc.models.family import Family
from sgmc.models.glm cimport Glm

LARGEST = 700.0                   # predictor beyond which exp would overflow, as a number and in products
MOST = 9e18                       # of a simulated count's mean


cdef class PoissonLog(Glm):
    """y_i ~ Poisson(mu_i), mu_i = exp(eta_i): score y_i - mu_i, curvature mu_i; the density without log y_i!."""

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *r,
                    double *density) except -1 nogil:
        cdef Py_ssize_t i
        kernels.exponential(m, eta, r)
        for i in range(m if density != NULL else 0):
            density[i] = y[i] * eta[i] - r[i]
        for i in range(m):
            r[i] = y[i] - r[i]
        return OK

    cdef int bend(self, const double *theta, Py_ssize_t m, const double *eta, const double *y, double *w) except -1 nogil:
        kernels.exponential(m, eta, w)
        return OK


class PoissonFamily(Family):
    """Counts with log link: log E[y] = x . theta + log(exposure)."""

    name = "poisson"
    title = "Poisson"
    counts = True
    kernel = PoissonLog

    @staticmethod
    def mean(eta):
        """exp(eta)."""
        return np.exp(np.minimum(eta, LARGEST))

    @staticmethod
    def log_density(y, eta, extra=None):
        """See `Family.log_density`."""
        return y * eta - PoissonFamily.mean(eta) - gammaln(y + 1)

    @staticmethod
    def variance(eta, extra=None):
        """The mean."""
        return PoissonFamily.mean(eta)

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Counts."""
        return rng.poisson(np.minimum(PoissonFamily.mean(eta), MOST)).astype(float)

    @staticmethod
    def deviance(y, mean):
        """2 (y log(y / mean) - (y - mean))."""
        return 2 * (xlogy(y, y) - xlogy(y, mean) - (y - mean))

    @staticmethod
    def check(y, label):
        """Outcomes are counts: 0, 1, 2, .., not all of them 0."""
        wrong = (y < 0) | (y != np.floor(y))
        if wrong.any():
            raise DataError(f"the outcome {label!r} must be counts, 0, 1, 2, ..; it has {y[wrong][0]:g}")
        if not y.any():
            raise DataError(f"the outcome {label!r} is 0 in every row used: there is nothing to explain")
