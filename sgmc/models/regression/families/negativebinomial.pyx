"""Negative binomial regression of counts whose variance exceeds their mean."""
import numpy as np
from scipy.special import gammaln, xlogy

from libc.math cimport exp, log1p

from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Auxiliary, Counts
from sgmc.models.regression.bases.rising cimport Rising, rising
from sgmc.models.regression.bases.rising import log_rising
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t))."""
    return t + log1p(exp(-t)) if t > 0 else log1p(exp(t))


cdef inline double share(double t) noexcept nogil:
    """1 / (1 + exp(-t))."""
    return 1 / (1 + exp(-t)) if t > 0 else exp(t) / (1 + exp(t))


cdef class NegativeBinomialLog(Dispersed):
    """Counts with mean mu_i = exp(eta_i) and variance mu_i + alpha mu_i^2, u = log alpha; the
    density without log y_i!.

    With a = 1/alpha, q = alpha mu / (1 + alpha mu), e = (1 - q) y - a q and R(a) = log Gamma(a +
    y) / Gamma(a),

        log p = R(a) + a log(1 - q) + y log q,    scores (e, e - a s),    s = R'(a) + log(1 - q),

    curvatures (q (1 - q) (a + y), e q; e q, e q - a s - a (a R''(a) + q)).
    """

    def bounds_of_known(self, auxiliary):
        """max(y, a), the limits of the score for small and large means; (a + y) / 4 at q = 1/2."""
        y, a = np.asarray(self.y), 1 / auxiliary[0]
        return np.maximum(y, a), (a + y) / 4

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], a = exp(-u), t, e
        cdef Rising R
        for i in range(m):
            t = eta[i] + u
            R = rising(a, y[i])
            e = share(-t) * y[i] - a * share(t)
            r[2 * i] = e
            r[2 * i + 1] = e - a * (R.slope - softplus(t))
            if density != NULL:
                density[i] = R.value - a * softplus(t) - y[i] * softplus(-t)
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], a = exp(-u), t, e, q
        cdef Rising R
        for i in range(m):
            t = eta[i] + u
            q = share(t)
            R = rising(a, y[i])
            e = share(-t) * y[i] - a * q
            w[4 * i] = q * share(-t) * (a + y[i])
            w[4 * i + 1] = w[4 * i + 2] = e * q
            w[4 * i + 3] = e * q - a * (R.slope - softplus(t)) - a * (a * R.curvature + q)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        """Expected ones for the coefficients; that of u has no closed form:
        q^2 / 2 is its limit for small alpha.
        """
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], a = exp(-u), q
        for i in range(m):
            q = share(eta[i] + u)
            w[4 * i] = a * q
            w[4 * i + 1] = w[4 * i + 2] = 0
            w[4 * i + 3] = 0.5 * q * q
        return OK


class NegativeBinomialFamily(Counts):
    """Counts with log link and variance mu + alpha mu^2 (NB2):
    log E[y] = x . theta + log(exposure).
    """

    name = "negativebinomial"
    title = "Negative binomial"
    distribution = "negativebinomial"
    link = "log"
    default_link = True
    kernel = NegativeBinomialLog
    bounded_if_known = True
    auxiliary = (Auxiliary("alpha", exponential(1.0)),)

    @staticmethod
    def start(mean, variance):
        """See `Family.start`."""
        excess = max((variance - mean) / mean ** 2, 0.05) if mean else 0.05
        return Counts.start(mean, variance)[0], [np.log(excess)]

    @staticmethod
    def log_density(y, eta, extra=None):
        """See `Family.log_density`."""
        a, t = 1 / extra[0], eta + np.log(extra[0])
        return log_rising(a, y) - gammaln(y + 1) - a * np.logaddexp(0, t) - y * np.logaddexp(0, -t)

    @staticmethod
    def variance(eta, extra=None):
        """mu + alpha mu^2."""
        mu = Counts.mean(eta)
        return mu + extra[0] * mu ** 2

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Poisson counts whose means vary as a gamma variable."""
        a = np.broadcast_to(1 / extra[0], np.shape(eta))
        mean = Counts.mean(eta) * rng.gamma(a) / a
        return rng.poisson(np.minimum(mean, MAX_COUNT_MEAN)).astype(float)

    @staticmethod
    def deviance(y, mean, extra=None):
        """2 (y log(y / mean) - (y + a) log((y + a) / (mean + a))), a = 1 / alpha."""
        a = 1 / extra[0]
        return 2 * (xlogy(y, y) - xlogy(y, mean) - (y + a) * (np.log(y + a) - np.log(mean + a)))


class NegativeBinomial(Regression):
    """Bayesian negative binomial regression of counts: E[y] = mu = exposure exp(x . theta +
    offset), Var[y] = mu + alpha mu^2.

    ``alpha`` is an argument of the verb, of the model, and of `from_formula`: a known dispersion,
    or None to learn it.
    """

    family = NegativeBinomialFamily
    options = {"alpha": None}
