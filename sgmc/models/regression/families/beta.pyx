"""Beta regression of proportions between 0 and 1."""
import numpy as np
from scipy.special import expit, logit, xlogy

from libc.math cimport exp, log, log1p

from sgmc.core.contract cimport OK
from sgmc.core.numerics.limits import HALF_LOG_2PI
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.family import Auxiliary
from sgmc.models.regression.bases.proportions import Proportions
from sgmc.models.regression.bases.functions.gammas cimport Gammas, gammas
from sgmc.models.regression.bases.functions.overdispersed cimport Odds, odds_of
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import half_t

SMALLEST_PRECISION = 0.1              # where the search for the mode begins at least
# of outcomes: simulated ones of tiny shapes are rounded, those of rows of weight 0 may be anything
SMALLEST_SHARE, LARGEST_SHARE = 1e-300, 1 - 2.0 ** -53
cdef double LEAST = SMALLEST_SHARE, MOST = LARGEST_SHARE
ENTROPY_ROUNDING = 16 * np.finfo(float).eps  # of relative entropies, sums of products of logs

cdef struct Row:
    # mean and its complement, phi times relative entropy and its shares, the three log-gammas
    double mu, nu, entropy, log_mu, log_nu, e
    Gammas a, b


cdef inline Row row_of(double y, double eta, double u, double phi) noexcept nogil:
    """What density, scores and curvatures of a row are made of; see `BetaLogit`."""
    cdef Row k
    cdef double held = max(min(y, MOST), LEAST), log_y = log(held), log_rest = log1p(-held)
    cdef Odds o = odds_of(eta)
    k.log_mu, k.log_nu = -o.softplus_minus, -o.softplus
    k.mu, k.nu = o.share, o.rest
    k.entropy = phi * (k.mu * (k.log_mu - log_y) + k.nu * (k.log_nu - log_rest))
    k.a, k.b = gammas(phi * k.mu, k.log_mu + u), gammas(phi * k.nu, k.log_nu + u)
    k.e = (phi * k.mu * k.nu * (log_y - log_rest - eta)
           - k.nu * k.a.slope + k.mu * k.b.slope)
    return k


cdef inline double density_of(Row k, double u, double rest) noexcept nogil:
    """The log density without -log(y (1 - y)) - log(2 pi) / 2; `rest` is J(phi)."""
    return 0.5 * (u + k.log_mu + k.log_nu) + rest - k.a.rest - k.b.rest - k.entropy


cdef class BetaLogit(Dispersed):
    """Outcomes Beta(a, b), a = mu phi and b = (1 - mu) phi, mu = 1 / (1 + exp(-eta_i)), u = log phi
    (Ferrari & Cribari-Neto 2004, equation 4); the density without -log(y (1 - y)) - log(2 pi) / 2.

    With n = 1 - mu, K = mu log(mu / y) + n log(n / (1 - y)), Binet's J, s(a) = a (psi(1 + a) -
    log a), C(a) = a^2 psi'(1 + a) and e = phi mu n (logit(y) - eta) - n s(a) + mu s(b),

        log p = log(phi mu n) / 2 + J(phi) - J(a) - J(b) - phi K,
        scores (e + n - mu, 1 - phi K + s(phi) - s(a) - s(b)),

    curvatures (n^2 C(a) + mu^2 C(b) + 2 mu n - e (n - mu), n C(a) - mu C(b) - e; the same, phi K -
    s(phi) + s(a) + s(b) + C(a) + C(b) - C(phi)).  Expected ones have mu - n for e, and 1 for phi K
    - s(phi) + s(a) + s(b).  None of these cancels where a, b or phi is large or small.
    """

    nanoseconds = 150.0

    def __init__(self, X, y, offset=None, weight=None):
        Dispersed.__init__(self, X, y, offset, weight)
        self.power, self.rounding = -0.5, ENTROPY_ROUNDING

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], phi = exp(u)
        cdef Gammas c = gammas(phi, u)
        cdef Row k
        for i in range(m):
            k = row_of(y[i], eta[i], u, phi)
            r[2 * i] = k.e + k.nu - k.mu
            r[2 * i + 1] = 1 - k.entropy + c.slope - k.a.slope - k.b.slope
            if density != NULL:
                density[i] = density_of(k, u, c.rest)
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], phi = exp(u), late
        cdef Gammas c = gammas(phi, u)
        cdef Row k
        for i in range(m):
            k = row_of(y[i], eta[i], u, phi)
            late = k.entropy - c.slope + k.a.slope + k.b.slope
            self.write(w + 4 * i, k, c, k.e, late)
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], phi = exp(u)
        cdef Gammas c = gammas(phi, u)
        cdef Row k
        for i in range(m):
            k = row_of(y[i], eta[i], u, phi)
            self.write(w + 4 * i, k, c, k.mu - k.nu, 1.0)
        return OK

    cdef void write(self, double *w, Row k, Gammas c, double e, double late) noexcept nogil:
        """The four curvatures of a row."""
        w[0] = (k.nu * k.nu * k.a.curvature + k.mu * k.mu * k.b.curvature + 2 * k.mu * k.nu
                - e * (k.nu - k.mu))
        w[1] = w[2] = k.nu * k.a.curvature - k.mu * k.b.curvature - e
        w[3] = late + k.a.curvature + k.b.curvature - c.curvature


def log_densities(y, eta, phi):
    """log p(y | eta, phi) with every constant, elementwise and broadcast."""
    shape = np.broadcast_shapes(np.shape(y), np.shape(eta), np.shape(phi))
    cdef const double[::1] one = flat(y, shape), at = flat(eta, shape), precision = flat(phi, shape)
    cdef double[::1] out = np.empty(one.shape[0])
    cdef Py_ssize_t i
    cdef double u, constant = HALF_LOG_2PI
    with nogil:
        for i in range(one.shape[0]):
            u = log(precision[i])
            out[i] = (density_of(row_of(one[i], at[i], u, precision[i]), u,
                                 gammas(precision[i], u).rest)
                      - log(one[i]) - log1p(-one[i]) - constant)
    return np.asarray(out).reshape(shape)


def flat(numbers, shape):
    """Numbers of a shape, one after the other."""
    return np.ascontiguousarray(np.broadcast_to(numbers, shape), dtype=float).ravel()


class BetaFamily(Proportions):
    """Proportions with logit link, mean mu and variance mu (1 - mu) / (1 + phi), phi the precision:
    logit E[y] = x . theta.
    """

    name = "beta"
    title = "Beta"
    distribution = "beta"
    link = "logit"
    default_link = True
    kernel = BetaLogit
    log_concave = False
    auxiliary = (Auxiliary("phi", half_t(1, 5.0, autoscale=True), power=-0.5),)

    @staticmethod
    def precision(mean, variance):
        """phi of a model without predictors, from moments of the outcomes."""
        return max(mean * (1 - mean) / variance - 1, SMALLEST_PRECISION)

    @classmethod
    def start(cls, mean, variance):
        return logit(mean), [np.log(cls.precision(mean, variance))]

    @classmethod
    def units(cls, mean, variance):
        """The precision without predictors."""
        return [cls.precision(mean, variance)]

    @staticmethod
    def mean(eta):
        """1 / (1 + exp(-eta))."""
        return expit(eta)

    @staticmethod
    def variance(eta, extra=None):
        """mu (1 - mu) / (1 + phi)."""
        return expit(eta) * expit(np.negative(eta)) / (1 + extra[0])

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Beta numbers."""
        eta, phi = np.asarray(eta), np.broadcast_to(extra[0], np.shape(eta))
        shapes = [np.maximum(expit(sign * eta) * phi, SMALLEST_SHARE) for sign in (1, -1)]
        return np.clip(rng.beta(*shapes), SMALLEST_SHARE, LARGEST_SHARE)

    @staticmethod
    def log_density(y, eta, extra=None):
        return log_densities(y, eta, extra[0])

    @staticmethod
    def deviance(y, mean, extra=None):
        """2 (y log(y / mean) + (1 - y) log((1 - y) / (1 - mean))): that of shares of successes,
        whose variance is the same function of the mean.
        """
        return 2 * (xlogy(y, y) - xlogy(y, mean)
                    + xlogy(1 - y, 1 - y) - xlogy(1 - y, 1 - mean))


class Beta(Regression):
    """Bayesian beta regression of proportions between 0 and 1: E[y] = mu = 1 / (1 + exp(-x . theta
    - offset)), Var[y] = mu (1 - mu) / (1 + phi).

    The density is that of Ferrari & Cribari-Neto (2004), equation 4
    (doi:10.1080/0266476042000214501).  ``phi``, the precision, is an argument of the verb, of the
    model, and of `from_formula`: a known precision, None to learn it, or a formula ``"~ z"`` with
    predictors of its log (Smithson & Verkuilen 2006, doi:10.1037/1082-989X.11.1.54), with
    coefficients ``phi:Intercept``, ``phi:z``.
    """

    family = BetaFamily
    options = {"phi": None}


class DistributionalBeta(DistributionalRegression, Beta):
    """The regression with predictors of phi, see `Beta`."""
