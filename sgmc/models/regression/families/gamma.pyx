"""Gamma regression of positive outcomes whose sd is in proportion to their mean."""
import numpy as np

from libc.math cimport exp, fabs, frexp, log

from sgmc.core.contract cimport OK
from sgmc.core.numerics cimport simd
from sgmc.core.numerics.limits import MAX_LOG_CUBED
from sgmc.models.regression.bases.functions.binet cimport Binet, binet
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.dispersed import rounding_of_logs
from sgmc.models.regression.bases.family import Auxiliary, Positive
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential

cdef double LARGEST_ETA = MAX_LOG_CUBED
cdef double LOG_2 = log(2)
cdef double SMALL = 0.25                      # where 13 terms of a series are exact to rounding
cdef enum:
    OUTCOMES_AT_ONCE = 128                    # whose logarithms and exponentials are taken together


cdef inline double excess(double d, double e) noexcept nogil:
    """e - 1 - d for e = exp(d), by its series where it would cancel."""
    cdef double s
    if not fabs(d) < SMALL:
        return e - 1 - d
    s = 1.0 / 87178291200.0 + d / 1307674368000.0      # 1 / 14! and 1 / 15!
    s = 1.0 / 6227020800.0 + d * s
    s = 1.0 / 479001600 + d * s
    s = 1.0 / 39916800 + d * s
    s = 1.0 / 3628800 + d * s
    s = 1.0 / 362880 + d * s
    s = 1.0 / 40320 + d * s
    s = 1.0 / 5040 + d * s
    s = 1.0 / 720 + d * s
    s = 1.0 / 120 + d * s
    s = 1.0 / 24 + d * s
    s = 1.0 / 6 + d * s
    return d * d * (0.5 + d * s)


cdef void residuals(Py_ssize_t m, const double *eta, const double *y, double *d,
                    double *e) noexcept nogil:
    """d = log(y) - eta of at most OUTCOMES_AT_ONCE rows, and e = exp(d)."""
    cdef Py_ssize_t k
    cdef int exponent
    for k in range(m):                        # y = 2^(exponent - 1) (1 + e), 0 <= e < 1
        e[k] = 2 * frexp(y[k], &exponent) - 1
        d[k] = (exponent - 1) * LOG_2 - eta[k]
    simd.log1p_unit(m, e, e)
    for k in range(m):
        d[k] = min(d[k] + e[k], LARGEST_ETA)
    simd.exponential(m, d, e)


cdef class GammaLog(Dispersed):
    """Gamma outcomes with mean mu_i = exp(eta_i) and variance phi mu_i^2, u = log phi;
    the density without -log y_i.

    With a = 1/phi, d = log(y / mu), q = exp(d) - 1 - d and Binet's J(a) = log Gamma(a) - (a - 1/2)
    log a + a - log(2 pi) / 2,

        log p = log(a) / 2 - J(a) - a q,    scores (a (exp(d) - 1), s),    s = a q - 1/2 + a J'(a),

    curvatures (a exp(d), a (exp(d) - 1); a (exp(d) - 1), s + b), expected (a, 0; 0, b), b = 1/2 +
    a^2 J''(a).
    """

    nanoseconds = 28.0

    def __init__(self, X, y, offset=None, weight=None):
        Dispersed.__init__(self, X, y, offset, weight)
        self.power, self.rounding = 0.5, rounding_of_logs(y, offset)

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, k, some, start = 0
        cdef double u = theta[self.X.d], a = exp(-u), more
        cdef double[OUTCOMES_AT_ONCE] d, e
        cdef Binet J = binet(a)
        while start < m:
            some = min(m - start, OUTCOMES_AT_ONCE)
            residuals(some, eta + start, y + start, d, e)
            for k in range(some):
                i, more = start + k, excess(d[k], e[k])
                r[2 * i] = a * (d[k] + more)
                r[2 * i + 1] = a * more - 0.5 + a * J.slope
                if density != NULL:
                    density[i] = -0.5 * u - J.value - a * more
            start += some
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k, some, start = 0
        cdef double a = exp(-theta[self.X.d]), more
        cdef double[OUTCOMES_AT_ONCE] d, e
        cdef Binet J = binet(a)
        while start < m:
            some = min(m - start, OUTCOMES_AT_ONCE)
            residuals(some, eta + start, y + start, d, e)
            for k in range(some):
                i, more = start + k, excess(d[k], e[k])
                w[4 * i] = a * e[k]
                w[4 * i + 1] = w[4 * i + 2] = a * (d[k] + more)
                w[4 * i + 3] = a * (more + J.slope + a * J.curvature)
            start += some
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double a = exp(-theta[self.X.d]), b = 0.5 + a * a * binet(a).curvature
        for i in range(m):
            w[4 * i] = a
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = b
        return OK


def log_gamma_rest(a):
    """log(a) / 2 - J(a) - log(2 pi) / 2, elementwise:
    the gamma log density at its mean, times the outcome.
    """
    cdef const double[::1] base = np.ascontiguousarray(a, dtype=float).ravel()
    out = np.array([-binet(one).value for one in base]).reshape(np.shape(a))
    return out + 0.5 * np.log(a) - 0.5 * np.log(2 * np.pi)


class GammaFamily(Positive):
    """Positive outcomes with log link and variance phi mu^2, phi the dispersion (one over
    the shape): log E[y] = x . theta.
    """

    name = "gamma"
    title = "Gamma"
    distribution = "gamma"
    link = "log"
    default_link = True
    kernel = GammaLog
    auxiliary = (Auxiliary("dispersion", exponential(1.0), power=0.5),)

    @staticmethod
    def start(mean, variance):
        return np.log(mean), [np.log(variance / mean ** 2)]

    @staticmethod
    def log_density(y, eta, extra=None):
        a, d = 1 / extra[0], np.minimum(np.log(y) - eta, MAX_LOG_CUBED)
        return log_gamma_rest(a) - a * (np.expm1(d) - d) - np.log(y)

    @staticmethod
    def variance(eta, extra=None):
        """phi mu^2."""
        return extra[0] * Positive.mean(eta) ** 2

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Gamma numbers."""
        a = np.broadcast_to(1 / extra[0], np.shape(eta))
        return Positive.mean(eta) * (rng.gamma(a) / a)

    @staticmethod
    def deviance(y, mean, extra=None):
        """2 ((y - mean) / mean - log(y / mean))."""
        return 2 * ((y - mean) / mean - np.log(y / mean))


class Gamma(Regression):
    """Bayesian gamma regression of positive outcomes:
    E[y] = mu = exp(x . theta + offset), Var[y] = dispersion mu^2.

    ``dispersion`` is an argument of the verb, of the model, and of `from_formula`: a known
    dispersion, None to learn it, or a formula ``"~ z"`` with predictors of its log, with
    coefficients ``dispersion:Intercept``, ``dispersion:z``.
    """

    family = GammaFamily
    options = {"dispersion": None}


class DistributionalGamma(DistributionalRegression, Gamma):
    """The regression with predictors of the dispersion, see `Gamma`."""
