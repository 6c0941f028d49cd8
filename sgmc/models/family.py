"""What a regression family is to the rest of the package; a family leaf defines one of these beside its compiled kernel."""
import numpy as np
from scipy.special import gammaln, xlogy

from sgmc.errors import DataError


class Family:
    """Base of regression families.

    All functions are of blocks: `eta` has a row for each row of the data and a column for each draw, outcomes `y` are (row, 1),
    and `extra` has the draws of the family's own parameters (a scale, a dispersion), (parameter, draw), or is None where there
    are none.  In the draws of a result these parameters follow the coefficients.

    Attributes
    ----------
    name : str
        As in the verb ``sgmc.logit``.
    title : str
        As printed in summaries.
    outcome : {"binary", "numeric"}
        How the formula codes the response.
    kernel : type
        The compiled model, called with (design, y, offset, weight); its density may lack what does not depend on coefficients.
    counts : bool
        Whether outcomes are counts, for which an exposure has a meaning.
    walled : bool
        Whether columns with few contrary outcomes get quantile coordinates, which are made for logistic tails.
    graded : bool
        Whether an interval of single outcomes says something, as it does not of 0 and 1.
    """

    name = None
    title = None
    outcome = "numeric"
    kernel = None
    counts = False
    walled = False
    graded = True

    @staticmethod
    def mean(eta):
        """E[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def variance(eta, extra=None):
        """Var[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Outcomes drawn by a numpy Generator, one for each linear predictor; these are finite."""
        raise NotImplementedError

    @staticmethod
    def log_density(y, eta, extra=None):
        """log p(y | eta), with every constant: it is compared between models."""
        raise NotImplementedError

    @staticmethod
    def deviance(y, mean):
        """Unit deviance, 2 (log p(y; y) - log p(y; mean)) at unit dispersion, elementwise."""
        raise NotImplementedError

    @staticmethod
    def check(y, label):
        """Raise DataError where the outcomes do not suit the family; `label` names the response."""

    @classmethod
    def of_trials(cls, trials):
        """The family of a row's outcome where a row has so many trials; itself where nothing is known of any (None)."""
        return cls


class Binary(Family):
    """Base of families of outcomes 0 and 1, which `of_trials` adds up to counts of successes."""

    outcome = "binary"
    graded = False

    @classmethod
    def variance(cls, eta, extra=None):
        """p (1 - p)."""
        p = cls.mean(eta)
        return p * (1 - p)

    @classmethod
    def simulate(cls, eta, rng, extra=None):
        """1 with probability p, else 0."""
        return (rng.random(np.shape(eta)) < cls.mean(eta)).astype(float)

    @staticmethod
    def deviance(y, mean):
        """-2 log p(y)."""
        with np.errstate(divide="ignore"):
            return -2 * np.log1p(-np.abs(np.asarray(y) - mean))

    @staticmethod
    def check(y, label):
        """Outcomes are 0 or 1, and both occur."""
        if not np.isin(y, (0.0, 1.0)).all():
            raise DataError(f"the outcome {label!r} must be 0 or 1 (or bool, or two levels); recode it first")
        if y.min() == y.max():
            raise DataError(f"the outcome {label!r} is {y[0]:g} in every row used: there is nothing to explain")

    @classmethod
    def of_trials(cls, trials):
        """Counts of successes where there are trials, else 0 and 1."""
        return cls if trials is None else Binomial(cls, trials)


class Binomial:
    """Counts of successes in known numbers of trials: what `Family` has of outcomes, with y and means as counts.

    Parameters
    ----------
    single : Binary
        Of one trial.
    trials : array, (row,) or (row, 1)
    """

    graded = True

    def __init__(self, single, trials):
        self.single, self.trials = single, trials

    def mean(self, eta):
        """n p."""
        return self.trials * self.single.mean(eta)

    def variance(self, eta, extra=None):
        """n p (1 - p)."""
        return self.trials * self.single.variance(eta)

    def simulate(self, eta, rng, extra=None):
        """Counts of successes."""
        return rng.binomial(self.trials.astype(np.int64), self.single.mean(eta)).astype(float)

    def log_density(self, y, eta, extra=None):
        """log C(n, y) + y log p + (n - y) log(1 - p)."""
        n = self.trials
        ways = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
        return ways + y * self.single.log_density(1.0, eta) + (n - y) * self.single.log_density(0.0, eta)

    def deviance(self, y, mean):
        """2 (y log(y / mean) + (n - y) log((n - y) / (n - mean)))."""
        n = self.trials
        return 2 * (xlogy(y, y) - xlogy(y, mean) + xlogy(n - y, n - y) - xlogy(n - y, n - mean))

    def check(self, y, label):
        """Both outcomes occur."""
        for outcome, count in (("success", y), ("failure", self.trials - y)):
            if not count.any():
                raise DataError(f"the counts {label!r} have no {outcome} in any row used: there is nothing to explain")
