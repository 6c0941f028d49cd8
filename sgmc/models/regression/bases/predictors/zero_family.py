"""What zero-inflated and hurdle counts are to the rest of the package."""

import numpy as np
from scipy.special import expit, gammaln, log_expit

from sgmc.arguments.data import values
from sgmc.errors import DataError
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN, Auxiliary, Counts
from sgmc.models.regression.bases.functions.rising import log_rising
from sgmc.models.regression.bases.predictors.two_predictors import TwoPredictors
from sgmc.models.regression.bases.predictors.zeros import CountsWithZeros
from sgmc.priors import exponential

COUNT_DISTRIBUTIONS = ("poisson", "negativebinomial")
TITLES = {"poisson": "Poisson", "negativebinomial": "negative binomial"}
LEAST_SHARE = 0.05  # of zeros of their own, in a first guess


class ZeroFamily(TwoPredictors, Counts):
    """Counts of which zeros have a probability of their own, see `CountsWithZeros`.

    `eta` has the predictors of the count and of the zeros, and with negative binomial counts log
    alpha, each (row, draw).

    Parameters
    ----------
    columns, constants
        As in `TwoPredictors`.
    dist : {"poisson", "negativebinomial"}
    zeros : float
        Share of the outcomes.
    """

    hurdle = False
    parts = "zero:"
    second_link = "logit"
    scale = "log odds of zeros: exp of a slope is an odds ratio"

    def __init__(self, columns=None, constants=(), dist="poisson", zeros=0.5):
        super().__init__(columns, constants)
        self.dist, self.zeros = dist, zeros
        self.dispersed = dist == "negativebinomial"
        self.auxiliary = (Auxiliary("alpha", exponential(1.0)),) if self.dispersed else ()
        self.title = f"{'Hurdle' if self.hurdle else 'Zero-inflated'} {TITLES[dist]}"

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return CountsWithZeros(X, y, offset, weight, self.columns, self.dispersed, self.hurdle)

    def start(self, mean, variance):
        # half of the zeros are of their own, or all of a hurdle's
        share = np.clip(self.zeros if self.hurdle else self.zeros / 2, LEAST_SHARE, 0.95)
        level = np.log(mean / (1 - share)), np.log(share / (1 - share))
        return np.array([level[k] for k in self.constants]), [np.log(0.5)] * self.dispersed

    def placed(self, eta, extra):
        if not self.dispersed:
            return eta
        return np.append(eta, np.broadcast_to(np.log(extra[0]), (1, *eta[0].shape)), axis=0)

    def log_count(self, y, eta):
        """log f(y) of the count's own distribution."""
        if not self.dispersed:
            return y * eta[0] - Counts.mean(eta[0]) - gammaln(y + 1)
        a, t = np.exp(-eta[2]), eta[0] + eta[2]
        y = np.broadcast_to(y, t.shape)
        with np.errstate(invalid="ignore"):  # rows that lack a predictor
            other = a * np.logaddexp(0, t) + y * np.logaddexp(0, -t)
        return log_rising(a, y) - gammaln(y + 1) - other

    def log_none(self, eta):
        """log f(0)."""
        return self.log_count(0.0, eta)

    def log_density(self, y, eta, extra=None):
        none, count = self.log_none(eta), self.log_count(y, eta)
        if self.hurdle:
            with np.errstate(divide="ignore"):
                above = count - np.log(-np.expm1(none))
            return np.where(np.equal(y, 0), log_expit(eta[1]), log_expit(-eta[1]) + above)
        zero = np.logaddexp(log_expit(eta[1]), log_expit(-eta[1]) + none)
        return np.where(np.equal(y, 0), zero, log_expit(-eta[1]) + count)

    def above(self, eta):
        """E[y] and E[y^2] where zeros of their own, or all zeros of a hurdle, are left out."""
        mu = Counts.mean(eta[0])
        square = mu + mu**2 * (1 + (np.exp(eta[2]) if self.dispersed else 0.0))
        if not self.hurdle:
            return mu, square
        some = np.maximum(-np.expm1(self.log_none(eta)), 1e-300)
        return np.maximum(mu / some, 1.0), np.maximum(square / some, 1.0)

    def mean(self, eta):
        """E[y | x], zeros included."""
        return expit(-eta[1]) * self.above(eta)[0]

    def variance(self, eta, extra=None):
        """E[y^2] - E[y]^2."""
        mean, square = self.above(eta)
        p = expit(-eta[1])
        return p * square - (p * mean) ** 2

    @staticmethod
    def second(zeta):
        """pi, the probability of a zero that is none of the count's."""
        return expit(zeta)

    def zero_probability(self, eta):
        """P(y = 0 | x)."""
        p = expit(eta[1])
        return p if self.hurdle else p + (1 - p) * np.exp(self.log_none(eta))

    def simulate(self, eta, rng, extra=None):
        """Zeros by their probability, else counts."""
        none = rng.random(eta[1].shape) < expit(eta[1])
        mu = np.minimum(Counts.mean(eta[0]), MAX_COUNT_MEAN)
        if not self.hurdle:
            if self.dispersed:
                a = np.exp(-eta[2])
                mu = np.minimum(mu * rng.gamma(a) / a, MAX_COUNT_MEAN)
            return np.where(none, 0.0, rng.poisson(mu))
        if self.dispersed:
            from scipy.stats import nbinom  # only here: it takes long to import

            a, tail = np.exp(-eta[2]), rng.random(mu.shape) * -np.expm1(self.log_none(eta))
            count = nbinom.isf(tail, a, 1 / (1 + mu / a))
        else:  # the first event falls into the unit of time, others follow it
            first = -np.log1p(rng.random(mu.shape) * np.expm1(-mu))
            count = 1 + rng.poisson(np.maximum(mu - first, 0.0))
        return np.where(none, 0.0, np.maximum(count, 1.0))

    @classmethod
    def check(cls, y, label):
        """Counts, some of them zero and some not."""
        values.counts(f"the outcome {label!r}", y)
        if (y == 0).all():
            raise DataError(
                f"the outcome {label!r} is 0 in every row used: {cls.name} needs positive counts, "
                "too"
            )
        if not (y == 0).any():
            raise DataError(
                f"the outcome {label!r} has no 0 in the rows used, so that nothing bounds the "
                f"zero part of {cls.name}: use poisson or negativebinomial"
            )
