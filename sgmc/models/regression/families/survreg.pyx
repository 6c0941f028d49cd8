"""Parametric survival regression: accelerated failure times, some of them censored."""
import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtri

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.limited import is_bounded, limited
from sgmc.arguments.data.survival import check_times, logs_of, uncensored
from sgmc.core.numerics.limits import MAX_LOG_CUBED
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.in_part.censored cimport CensoredTimes
from sgmc.models.regression.bases.family import Auxiliary, Continuous
from sgmc.models.regression.bases.known import with_known
from sgmc.models.regression.bases.in_part.limited import log_densities
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential


cdef class WeibullTimes(CensoredTimes):
    """W of the law of the log of an exponential variable: P(W > z) = exp(-exp(z))."""

    law_name = "weibull"


cdef class LognormalTimes(CensoredTimes):
    """W ~ N(0, 1)."""

    law_name = "normal"


cdef class LoglogisticTimes(CensoredTimes):
    """W of the logistic law: P(W > z) = 1 / (1 + exp(z))."""

    law_name = "loglogistic"


# name: title, compiled model, log P(W > z), quantiles of W
DISTRIBUTIONS = {
    "weibull": ("Weibull", WeibullTimes, lambda z: -np.exp(np.minimum(z, MAX_LOG_CUBED)),
                lambda p: np.log(-np.log1p(-p))),
    "exponential": ("Exponential", WeibullTimes, lambda z: -np.exp(np.minimum(z, MAX_LOG_CUBED)),
                    lambda p: np.log(-np.log1p(-p))),
    "lognormal": ("Log-normal", LognormalTimes, lambda z: log_ndtr(-z), ndtri),
    "loglogistic": ("Log-logistic", LoglogisticTimes, lambda z: -np.logaddexp(0, z), logit),
}


class SurvregFamily(Continuous):
    """Times with log T = x . theta + sigma W, observed or censored.

    Parameters
    ----------
    dist : {"weibull", "exponential", "lognormal", "loglogistic"}
        The exponential law is Weibull's with a known sigma of 1.
    """

    name = "survreg"
    outcome = "survival"
    accepts = "times, some censored: Surv(time, event)"
    auxiliary = (Auxiliary("sigma", exponential(1.0, autoscale=True), power=1.0),)
    kernel = WeibullTimes
    limited = True

    def __init__(self, dist="weibull"):
        self.dist = dist
        self.title, self.kernel, self.log_tail, self.tail_quantile = DISTRIBUTIONS[dist]
        self.title += " survival"

    def __getstate__(self):
        return {"dist": self.dist}

    def __setstate__(self, state):
        self.__init__(state["dist"])

    def of_trials(self, trials):
        # families of this file are objects
        return self

    @staticmethod
    def numbers(y):
        # logs of the times, of intervals of their middle
        return logs_of(y)

    @staticmethod
    def mean(eta):
        """exp(eta), the scale of the times."""
        return np.exp(np.clip(eta, -MAX_LOG_CUBED, MAX_LOG_CUBED))

    def centre(self, eta, extra=None):
        # the median of T
        return self.quantile(0.5, eta, extra)

    def quantile(self, p, eta, extra=None):
        """The p-quantile of T, exp(eta + sigma Q_W(p)), elementwise."""
        return self.mean(eta + extra[0] * self.tail_quantile(p))

    def log_survival(self, times, eta, extra=None):
        """log P(T > t), elementwise; 0 at and before time 0."""
        times = np.asarray(times, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.log_tail((np.log(np.maximum(times, 0.0)) - eta) / extra[0])
        return np.where(times > 0, value, 0.0)

    def log_density(self, y, eta, extra=None):
        # of censored times, log probabilities
        y = limited(y)
        observed = y["low"] == y["high"]
        logs = np.log(np.where(observed, y["low"], 1.0))
        return log_densities(self.kernel, y, eta, extra[0]) - logs

    def simulate(self, eta, rng, extra=None):
        """Times, none of them censored."""
        p = rng.random(np.shape(eta))
        return self.quantile(np.clip(p, 1e-16, 1 - 1e-16), eta, extra)

    @staticmethod
    def open_sides(y, trials=None):
        # up for times that are censored on the right, down for those that are so on the left
        return y["high"] >= y["below"], y["low"] <= y["above"]

    @staticmethod
    def telling(y):
        # times that are observed, or known between two ends
        return is_bounded(y)

    def of_ends(self):
        """The family itself."""
        return self

    @staticmethod
    def check(y, label):
        """Times are positive; some are observed, or known between two ends."""
        check_times(f"the outcome {label!r}", y)


class Survreg(Regression):
    """Bayesian parametric survival regression of times, some of them censored: log T = x . theta +
    offset + sigma W, W of the law that ``dist`` names, as R's ``survreg``.

    ``dist`` is an argument of the verb, of the model, and of `from_formula`: ``"weibull"`` (the
    default), ``"exponential"``, ``"lognormal"`` or ``"loglogistic"``.  So is ``sigma``: a known
    scale, None to learn it, or a formula ``"~ z"`` with predictors of its log.  The response is
    ``Surv(time, event)``, see `sgmc.Surv`; a number is a time that was observed.
    """

    family = SurvregFamily()
    options = {"dist": "weibull", "sigma": None}

    @classmethod
    def chosen_family(cls, dist, sigma):
        one_of("dist", dist, DISTRIBUTIONS)
        if dist == "exponential":
            if sigma not in (None, 1):
                raise ArgumentError(f"sigma={sigma!r} with dist='exponential', whose sigma is 1: "
                                    "leave it out, or use dist='weibull'")
            sigma = 1.0
        return with_known(SurvregFamily(dist), {"sigma": sigma})

    @classmethod
    def coded(cls, endog):
        # times, and how each is censored
        return uncensored("endog", endog), None


class DistributionalSurvreg(DistributionalRegression, Survreg):
    """The regression with predictors of sigma, see `Survreg`."""
