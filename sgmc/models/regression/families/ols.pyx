"""Linear regression with normal errors."""
import numpy as np

from libc.math cimport exp

from sgmc.core.contract cimport OK
from sgmc.core.numerics cimport simd
from sgmc.core.numerics.limits import HALF_LOG_2PI, MAX_LOG_CUBED
from sgmc.models.regression.bases.in_part.censored cimport Censored
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.dispersed import rounding_of
from sgmc.models.regression.bases.family import Auxiliary, Continuous
from sgmc.models.regression.bases.in_part.limited import LimitedFamily
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential

cdef enum:
    SCALES_AT_ONCE = 64  # exponentials of so many are vectors

cdef double LARGEST_ETA = MAX_LOG_CUBED


cdef class GaussianIdentity(Dispersed):
    """y_i ~ N(eta_i, sigma^2), u = log sigma; the density without its constant.

    With e = y_i - eta_i and t = 1/sigma^2: scores (t e, t e^2 - 1), curvatures (t, 2 t e; 2 t e, 2
    t e^2), expected (t, 0; 0, 2).
    """

    nanoseconds = 2.0
    def __init__(self, X, y, offset=None, weight=None):
        Dispersed.__init__(self, X, y, offset, weight)
        self.rounding = rounding_of(y, offset)

    def units(self, theta):
        """sigma, and 1 for its log."""
        return np.array([np.exp(theta[self.X.d]), 1.0])

    def bounds_of_known(self, auxiliary):
        """None of the score; 1 / sigma^2."""
        return np.inf, auxiliary[0] ** -2

    def third_of_known(self, auxiliary):
        """None: the log density is a parabola."""
        return 0.0

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], t = exp(-2 * u), e
        for i in range(m):
            e = y[i] - eta[i]
            r[2 * i] = t * e
            r[2 * i + 1] = t * e * e - 1
            if density != NULL:
                density[i] = -u - 0.5 * t * e * e
        return self.rounded(theta, m, r, density)

    cdef int family_by_row(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                           double *density) except -1 nogil:
        cdef Py_ssize_t i, at = 0, count
        cdef double[SCALES_AT_ONCE] t
        cdef double e, square
        while at < m:
            count = min(<Py_ssize_t> SCALES_AT_ONCE, m - at)
            for i in range(count):
                t[i] = -2 * eta[2 * (at + i) + 1]
            simd.exponential(count, t, t)
            for i in range(count):
                e = y[at + i] - eta[2 * (at + i)]
                square = t[i] * (e * e + self.rounding)
                r[2 * (at + i)] = t[i] * e
                r[2 * (at + i) + 1] = square - 1
                if density != NULL:
                    density[at + i] = -eta[2 * (at + i) + 1] - 0.5 * square
            at += count
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d]), e
        for i in range(m):
            e = y[i] - eta[i]
            w[4 * i] = t
            w[4 * i + 1] = w[4 * i + 2] = 2 * t * e
            w[4 * i + 3] = 2 * t * e * e
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d])
        for i in range(m):
            w[4 * i] = t
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = 2
        return OK


cdef inline double held(double eta) noexcept nogil:
    """exp(eta), held where its square is a number."""
    return exp(max(min(eta, LARGEST_ETA), -LARGEST_ETA))


cdef class GaussianLogLink(Dispersed):
    """y_i ~ N(mu_i, sigma^2) with mu_i = exp(eta_i), u = log sigma;
    the density without its constant.

    With e = y_i - mu_i and t = 1/sigma^2: scores (t e mu, t e^2 - 1), curvatures (t mu (mu - e), 2
    t e mu; 2 t e mu, 2 t e^2), expected (t mu^2, 0; 0, 2).
    """

    def __init__(self, X, y, offset=None, weight=None):
        Dispersed.__init__(self, X, y, offset, weight)
        self.rounding = rounding_of(y)

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], t = exp(-2 * u), mu, e
        for i in range(m):
            mu = held(eta[i])
            e = y[i] - mu
            r[2 * i] = t * e * mu
            r[2 * i + 1] = t * e * e - 1
            if density != NULL:
                density[i] = -u - 0.5 * t * e * e
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d]), mu, e
        for i in range(m):
            mu = held(eta[i])
            e = y[i] - mu
            w[4 * i] = t * mu * (mu - e)
            w[4 * i + 1] = w[4 * i + 2] = 2 * t * e * mu
            w[4 * i + 3] = 2 * t * e * e
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double t = exp(-2 * theta[self.X.d])
        for i in range(m):
            w[4 * i] = t * held(eta[i]) ** 2
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = 2
        return OK


cdef class CensoredNormal(Censored):
    """y_i ~ N(eta_i, sigma^2), u = log sigma, of outcomes that are known in part."""


class OlsFamily(Continuous):
    """Real outcomes with normal errors: y = x . theta + N(0, sigma^2)."""

    name = "ols"
    title = "Linear"
    distribution = "gaussian"
    link = "identity"
    default_link = True
    kernel = GaussianIdentity
    bounded_if_known = errors = summed = True
    auxiliary = (Auxiliary("sigma", exponential(1.0, autoscale=True), power=1.0),)

    @staticmethod
    def variance(eta, extra=None):
        """sigma^2."""
        return np.broadcast_to(extra[0] ** 2, np.shape(eta))

    @classmethod
    def simulate(cls, eta, rng, extra=None):
        """Normal numbers."""
        return cls.mean(eta) + extra[0] * rng.standard_normal(np.shape(eta))

    @classmethod
    def log_density(cls, y, eta, extra=None):
        return -0.5 * ((y - cls.mean(eta)) / extra[0]) ** 2 - np.log(extra[0]) - HALF_LOG_2PI

    @staticmethod
    def deviance(y, mean, extra=None):
        """(y - mean)^2."""
        return (np.asarray(y) - mean) ** 2


class CensoredOls(LimitedFamily):
    """Normal outcomes of which some are censored or truncated."""

    whole, rows = OlsFamily, CensoredNormal


class GaussianLogFamily(OlsFamily):
    """Real outcomes with normal errors around a positive mean: y = exp(x . theta) + N(0,
    sigma^2).
    """

    name = "gaussianlog"
    title = "Linear (log link)"
    distribution = "gaussian"
    link = "log"
    default_link = False
    kernel = GaussianLogLink
    bounded_if_known = errors = summed = False
    identity, in_part = False, None

    @staticmethod
    def start(mean, variance):
        return 0.5 * np.log(max(mean, 0.0) ** 2 + 0.01 * variance), [0.5 * np.log(variance)]

    @staticmethod
    def linear_moments(mean, variance):
        size = np.sqrt(max(mean, 0.0) ** 2 + 0.01 * variance)
        return np.log(size), np.sqrt(variance) / size

    @staticmethod
    def open_sides(y, trials=None):
        # the density has a limit, above 0, as its mean goes to 0
        return np.zeros(len(y), dtype=bool), np.ones(len(y), dtype=bool)

    @staticmethod
    def mean(eta):
        """exp(eta)."""
        return np.exp(np.clip(eta, -MAX_LOG_CUBED, MAX_LOG_CUBED))


class OLS(Regression):
    """Bayesian linear regression: y = x . theta + offset + N(0, sigma^2).

    ``sigma`` is an argument of the verb, of the model, and of `from_formula`: a known scale, None
    to learn it, or a formula ``"~ z"`` with predictors of its log: log sigma_i = z_i . gamma, with
    coefficients ``sigma:Intercept``, ``sigma:z``.  With ``se``, each outcome has a known standard
    error in place of sigma.
    """

    family = OlsFamily
    options = {"sigma": None}


class DistributionalOLS(DistributionalRegression, OLS):
    """The regression with predictors of sigma, see `OLS`."""


class GaussianLog(Regression):
    """Bayesian regression with normal errors and log link: y = exp(x . theta + offset) + N(0,
    sigma^2).

    ``sigma`` is an argument of the verb, of the model, and of `from_formula`: a known scale, None
    to learn it, or a formula ``"~ z"`` with predictors of its log.
    """

    family = GaussianLogFamily
    options = {"sigma": None}


class DistributionalGaussianLog(DistributionalRegression, GaussianLog):
    """The regression with predictors of sigma, see `GaussianLog`."""
