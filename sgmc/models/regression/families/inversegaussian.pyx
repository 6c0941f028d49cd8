"""Inverse Gaussian regression of positive outcomes whose sd grows faster than their mean."""
import numpy as np

from libc.math cimport exp

from sgmc.core.contract cimport OK
from sgmc.core.numerics.limits import MAX_LOG_CUBED
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.dispersed import rounding_of_logs
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Auxiliary, Positive
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential

cdef double LARGEST_ETA = MAX_LOG_CUBED


cdef inline double inverse_mean(double eta) noexcept nogil:
    """exp(-eta), held where its square is a number."""
    return exp(-max(min(eta, LARGEST_ETA), -LARGEST_ETA))


cdef class InverseGaussianLog(Dispersed):
    """Inverse Gaussian outcomes with mean mu_i = exp(eta_i) and variance phi mu_i^3, u = log phi;
    the density without its constant.

    With t = 1/phi, z = y / mu and q = (z - 1) (1/mu - 1/y) = (y - mu)^2 / (mu^2 y),

        log p = -u / 2 - t q / 2 - 3/2 log y,    scores (t (z - 1) / mu, (t q - 1) / 2),

    curvatures (t (2 z - 1) / mu, t (z - 1) / mu; t (z - 1) / mu, t q / 2), expected (t / mu, 0; 0,
    1/2).
    """

    def __init__(self, X, y, offset=None, weight=None):
        Dispersed.__init__(self, X, y, offset, weight)
        self.power, self.rounding = 0.5, rounding_of_logs(y, offset) / np.mean(y)

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], t = exp(-u), c, z, q
        for i in range(m):
            c = inverse_mean(eta[i])
            z = y[i] * c
            q = (z - 1) * (c - 1 / y[i])
            r[2 * i] = t * (z - 1) * c
            r[2 * i + 1] = 0.5 * (t * q - 1)
            if density != NULL:
                density[i] = -0.5 * (u + t * q)
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-theta[self.X.d]), c, z
        for i in range(m):
            c = inverse_mean(eta[i])
            z = y[i] * c
            w[4 * i] = t * (2 * z - 1) * c
            w[4 * i + 1] = w[4 * i + 2] = t * (z - 1) * c
            w[4 * i + 3] = 0.5 * t * (z - 1) * (c - 1 / y[i])
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-theta[self.X.d])
        for i in range(m):
            w[4 * i] = t * inverse_mean(eta[i])
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = 0.5
        return OK


class InverseGaussianFamily(Positive):
    """Positive outcomes with log link and variance phi mu^3, phi the dispersion, in units of 1/y:
    log E[y] = x . theta.
    """

    name = "inversegaussian"
    title = "Inverse Gaussian"
    distribution = "inversegaussian"
    link = "log"
    default_link = True
    kernel = InverseGaussianLog
    auxiliary = (Auxiliary("dispersion", exponential(1.0, autoscale=True), power=0.5),)

    @staticmethod
    def start(mean, variance):
        return np.log(mean), [np.log(variance / mean ** 3)]

    @staticmethod
    def units(mean, variance):
        """One over the mean."""
        return [1 / mean]

    @staticmethod
    def open_sides(y, trials=None):
        # the density has a limit, above 0, as its mean grows for ever
        return np.ones(len(y), dtype=bool), np.zeros(len(y), dtype=bool)

    @staticmethod
    def log_density(y, eta, extra=None):
        c = np.exp(-np.clip(eta, -MAX_LOG_CUBED, MAX_LOG_CUBED))
        return -0.5 * (np.log(2 * np.pi * extra[0]) + 3 * np.log(y)
                       + (y * c - 1) * (c - 1 / y) / extra[0])

    @staticmethod
    def variance(eta, extra=None):
        """phi mu^3."""
        return extra[0] * Positive.mean(eta) ** 3

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Inverse Gaussian numbers: mu times one of two roots whose product is 1 (Michael,
        Schucany & Haas 1976).
        """
        mu = Positive.mean(eta)
        v = np.minimum(extra[0] * mu, MAX_COUNT_MEAN) * rng.standard_normal(np.shape(eta)) ** 2
        root = 1 / (1 + v / 2 + np.sqrt(v + v * v / 4))
        return mu * np.where(rng.random(np.shape(eta)) * (1 + root) <= 1, root, 1 / root)

    @staticmethod
    def deviance(y, mean, extra=None):
        """(y - mean)^2 / (mean^2 y)."""
        return (y / mean - 1) * (1 / mean - 1 / y)


class InverseGaussian(Regression):
    """Bayesian inverse Gaussian regression of positive outcomes: E[y] = mu = exp(x . theta +
    offset), Var[y] = dispersion mu^3.

    ``dispersion`` is an argument of the verb, of the model, and of `from_formula`: a known
    dispersion, None to learn it, or a formula ``"~ z"`` with predictors of its log, with
    coefficients ``dispersion:Intercept``, ``dispersion:z``.
    """

    family = InverseGaussianFamily
    options = {"dispersion": None}


class DistributionalInverseGaussian(DistributionalRegression, InverseGaussian):
    """The regression with predictors of the dispersion, see `InverseGaussian`."""
