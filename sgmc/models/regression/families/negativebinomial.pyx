"""Negative binomial regression of counts whose variance exceeds their mean; their dispersion is one
number, or has predictors of its own.
"""
import numpy as np
from scipy.special import gammaln, xlogy

from libc.math cimport exp, fabs

from sgmc.core.contract cimport OK
from sgmc.core.numerics cimport simd
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.in_part.counts import NegativeBinomialInPart
from sgmc.models.regression.bases.predictors.distributional import DistributionalFamily
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Auxiliary, Counts
from sgmc.models.regression.bases.functions.overdispersed cimport (
    LARGEST_LOG_ALPHA, Count, Odds, expected_of, odds_by, odds_of, overdispersed, share,
)
from sgmc.models.regression.bases.known import with_known
from sgmc.models.regression.bases.in_part.limited import LimitedFamily
from sgmc.models.regression.bases.functions.rising cimport Rising, Risings, begin, risen
from sgmc.models.regression.bases.functions.rising import log_rising
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel
from sgmc.models.regression.bases.predictors.two_predictors import TwoPredictors
from sgmc.models.regression.model import Regression
from sgmc.models.regression.two_parts import TwoDesigns
from sgmc.priors import exponential

cdef enum:
    ODDS_AT_ONCE = 128              # rows whose exponentials and logarithms are taken together

LEAST_EXCESS = 0.05                   # alpha in a first guess


cdef class DispersionLog(TwoDesignsModel):
    """Counts with mean mu_i = exp(eta_i) and variance mu_i + alpha_i mu_i^2, log alpha_i of the
    second linear predictor; scores and curvatures as of `NegativeBinomialLog`.
    """

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef Count C
        for i in range(m):
            C = overdispersed(y[i], eta[2 * i], eta[2 * i + 1])
            r[2 * i], r[2 * i + 1] = C.by_eta, C.by_u
            if density != NULL:
                density[i] = C.value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef Count C
        for i in range(m):
            C = overdispersed(y[i], eta[2 * i], eta[2 * i + 1])
            w[4 * i] = C.eta_eta
            w[4 * i + 1] = w[4 * i + 2] = C.eta_u
            w[4 * i + 3] = C.u_u
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            expected_of(eta[2 * i], eta[2 * i + 1], w + 4 * i, w + 4 * i + 3)
            w[4 * i + 1] = w[4 * i + 2] = 0
        return OK


cdef class NegativeBinomialLog(Dispersed):
    """Counts with mean mu_i = exp(eta_i) and variance mu_i + alpha mu_i^2, u = log alpha; the
    density without log y_i!.

    With a = 1/alpha, q = alpha mu / (1 + alpha mu), e = (1 - q) y - a q and R(a) = log Gamma(a +
    y) / Gamma(a),

        log p = R(a) + a log(1 - q) + y log q,    scores (e, e - a s),    s = R'(a) + log(1 - q),

    curvatures (q (1 - q) (a + y), e q; e q, e q - a s - a (a R''(a) + q)).
    """

    nanoseconds = 25.0

    def bounds_of_known(self, auxiliary):
        """max(y, a), the limits of the score for small and large means; (a + y) / 4 at q = 1/2."""
        y, a = np.asarray(self.y), 1 / auxiliary[0]
        return np.maximum(y, a), (a + y) / 4

    def third_of_known(self, auxiliary):
        """(a + y) / (6 sqrt 3), as of a logit."""
        return (1 / auxiliary[0] + np.asarray(self.y)) * 3 ** 0.5 / 18

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, k, some, start = 0
        cdef double u = theta[self.X.d], a = exp(-u), score
        cdef double[ODDS_AT_ONCE] t, e, logs
        cdef Rising R
        cdef Risings kept
        cdef Odds o
        begin(&kept, a)
        while start < m:
            some = min(m - start, ODDS_AT_ONCE)
            for k in range(some):
                t[k] = eta[start + k] + u
                e[k] = -fabs(t[k])
            simd.exponential(some, e, e)
            simd.log1p_unit(some, e, logs)
            for k in range(some):
                i = start + k
                o, R = odds_by(t[k], e[k], logs[k]), risen(&kept, y[i])
                score = o.rest * y[i] - a * o.share
                r[2 * i] = score
                r[2 * i + 1] = score - a * (R.slope - o.softplus)
                if density != NULL:
                    density[i] = R.value - a * o.softplus - y[i] * o.softplus_minus
            start += some
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], a = exp(-u), e, q
        cdef Rising R
        cdef Risings kept
        cdef Odds o
        begin(&kept, a)
        for i in range(m):
            o, R = odds_of(eta[i] + u), risen(&kept, y[i])
            q = o.share
            e = o.rest * y[i] - a * q
            w[4 * i] = q * o.rest * (a + y[i])
            w[4 * i + 1] = w[4 * i + 2] = e * q
            w[4 * i + 3] = e * q - a * (R.slope - o.softplus) - a * (a * R.curvature + q)
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
    rootless = ("counts that vary no more than Poisson counts do not determine alpha, and large "
                "ones have too few digits for it: use sgmc.poisson")
    auxiliary = (Auxiliary("alpha", exponential(1.0)),)

    @staticmethod
    def start(mean, variance):
        excess = max((variance - mean) / mean ** 2, LEAST_EXCESS) if mean else LEAST_EXCESS
        return Counts.start(mean, variance)[0], [np.log(excess)]

    @staticmethod
    def log_density(y, eta, extra=None):
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


class CensoredNegativeBinomial(LimitedFamily):
    """Negative binomial counts of which some are censored or truncated."""

    whole, rows = NegativeBinomialFamily, NegativeBinomialInPart


class DispersionFamily(TwoPredictors, Counts):
    """Counts with log link and variance mu + alpha mu^2 (NB2), of which log alpha has a linear
    predictor, too: `eta` has log mu and log alpha.
    """

    name = "negativebinomial"
    title = "Negative binomial with dispersion model"
    link = "log"
    parts = "dispersion:"
    scale = "log alpha, Var[y] = mu + alpha mu^2: exp of a slope is a ratio of alphas"

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return DispersionLog(X, y, offset, weight, self.columns)

    def start(self, mean, variance):
        # as of one alpha
        level, excess = NegativeBinomialFamily.start(mean, variance)
        return np.array([[level, *excess][k] for k in self.constants]), []

    def of_ends(self):
        """The family of censored and truncated counts."""
        return CensoredDispersion(self.columns, self.constants)

    @staticmethod
    def second(zeta):
        """alpha."""
        return np.exp(np.clip(zeta, -LARGEST_LOG_ALPHA, LARGEST_LOG_ALPHA))

    def alpha(self, eta):
        """alpha, as the first auxiliary parameter of other functions."""
        return self.second(eta[1:])

    def mean(self, eta):
        """exp of the first predictor."""
        return Counts.mean(eta[0])

    def variance(self, eta, extra=None):
        """mu + alpha mu^2."""
        return NegativeBinomialFamily.variance(eta[0], self.alpha(eta))

    def log_density(self, y, eta, extra=None):
        return NegativeBinomialFamily.log_density(y, eta[0], self.alpha(eta))

    def simulate(self, eta, rng, extra=None):
        """Poisson counts whose means vary as a gamma variable."""
        return NegativeBinomialFamily.simulate(eta[0], rng, self.alpha(eta))


class CensoredDispersion(DistributionalFamily):
    """Counts of which some are censored or truncated, with predictors of the dispersion."""

    def __init__(self, columns=None, constants=()):
        super().__init__(CensoredNegativeBinomial(), columns, constants)
        self.parts, self.title = DispersionFamily.parts, DispersionFamily.title
        self.scale = DispersionFamily.scale


class NegativeBinomial(Regression):
    """Bayesian negative binomial regression of counts: E[y] = mu = exposure exp(x . theta +
    offset), Var[y] = mu + alpha mu^2.

    ``alpha`` is an argument of the verb, of the model, and of `from_formula`: a known dispersion,
    or None to learn it.  With ``dispersion="~ z"``, or a formula of two parts, ``"y ~ x | z"``,
    there are predictors of the dispersion: log alpha = z . gamma, with coefficients
    ``dispersion:Intercept``, ``dispersion:z``; exp of a slope is a ratio of alphas (glmmTMB's
    nbinom2 models 1 / alpha).

    References
    ----------
    Smyth (1989), Generalized linear models with varying dispersion, Journal of the Royal
    Statistical Society B 51, 47-60, doi:10.1111/j.2517-6161.1989.tb01747.x.
    """

    family = NegativeBinomialFamily
    options = {"alpha": None, "dispersion": None}

    @classmethod
    def for_formula(cls, formula, options):
        # with a second part that of a dispersion with predictors
        given = options.get("dispersion")
        if given is None and not TwoDesigns.suits(formula):
            return NegativeBinomial if cls is NegativeBinomialDispersion else cls
        if given is not None and "~" not in str(given):
            raise ArgumentError(f"dispersion={given!r} must be a formula with predictors of the "
                                "dispersion, such as '~ z'; a known dispersion is alpha=")
        if options.get("alpha") is not None:
            told = repr(formula) if given is None else f"dispersion={given!r}"
            raise ArgumentError(
                f"alpha={options['alpha']!r} is a known dispersion, and {told} has predictors of "
                "it: leave one of them out"
            )
        return NegativeBinomialDispersion

    @classmethod
    def chosen_family(cls, alpha, dispersion=None):
        if dispersion is not None:  # arrays
            raise ArgumentError(f"dispersion={dispersion!r}: predictors of the dispersion belong "
                                "to from_formula(); a known dispersion is alpha=")
        return with_known(cls.family, {"alpha": alpha})


class NegativeBinomialDispersion(TwoDesigns, NegativeBinomial):
    """The regression of a formula of two parts, see `NegativeBinomial`."""

    by_name, second = False, "dispersion"
    family = DispersionFamily()

    @classmethod
    def chosen_family(cls, alpha, dispersion=None):
        return cls.family
