"""What a regression family is to the rest of the package; a family leaf defines one of these beside
its compiled kernel.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from sgmc.arguments.data import values
from sgmc.arguments.data.limited import refuse_records
from sgmc.core.numerics.limits import MAX_LOG, MAX_LOG_CUBED
from sgmc.errors import DataError
from sgmc.priors import PriorSpec

MAX_COUNT_MEAN = 9e18  # of a simulated count's mean
MEAN_OF_ZEROS = 0.1  # where the search for the mode begins if all counts are 0
MAX_SD = 1e150  # sd of outcomes whose sum of squares is a number


class Auxiliary(NamedTuple):
    """A positive parameter besides the coefficients (a scale, a dispersion, a shape);
    models sample its log.

    Attributes
    ----------
    name : str
        As printed, and as it is called in ``prior={name: ..}``.
    prior : PriorSpec
        Default.
    power : float
        p, where it is a scale of the outcomes: the coefficients' sds are proportional to its p-th
        power, priors aside.
    proper : bool
        Whether it needs a proper prior, because the likelihood does not vanish for large values.
    """

    name: str
    prior: PriorSpec
    power: float = 0.0
    proper: bool = False


class Family:
    """Base of regression families.

    All functions are of blocks: `eta` has a row for each row of the data and a column for each
    draw, outcomes `y` are (row, 1), and `extra` has the draws of the auxiliary parameters (a
    scale, a dispersion), (parameter, draw), or is None where there are none.  In the draws of a
    result these parameters follow the coefficients.

    Attributes
    ----------
    name : str
        As in the verb ``sgmc.logit``.
    title : str
        As printed in summaries.
    distribution, link : str or None
        As in ``glm(family=, link=)``; None for models that are none of R's.
    default_link : bool
        Whether it stands for its distribution where no link is given.
    outcome : {"binary", "numeric", "category", "ordered", "survival"}
        How the formula codes the response: 0 and 1, numbers, 0, 1, .. with an equation for each
        kind but the first, 0, 1, .. in the order of the levels, or times that may be censored, see
        `sgmc.arguments.data.survival`.
    accepts : str
        The outcomes that it takes, as documentation and the command line print them.
    kernel : type
        The compiled model, called with (design, y, offset, weight); its density may lack what does
        not depend on coefficients.
    counts : bool
        Whether outcomes are counts, for which an exposure has a meaning.
    graded : bool
        Whether an interval of single outcomes says something, as it does not of 0 and 1.
    auxiliary : tuple of Auxiliary
        Its auxiliary parameters.
    log_concave : bool
        The likelihood has one mode, whatever the data.
    clusters : bool
        Whether outliers may be errors of few degrees of freedom, the last auxiliary parameter, or
        of a large scale: a mode for each, of which the usual start leads to one.
    summed : bool
        Whether the log density is a function of X'WX, X'Wy and y'Wy, auxiliary parameters apart.
    identity : bool
        Whether outcomes are in the units of the linear predictor: default priors then are in units
        of their sd.
    bounded_if_known, expands : bool
        Whether curvatures have a bound, auxiliary parameters being known; Taylor remainders do.
    known : dict
        Auxiliary parameters that are not sampled, and their values.
    errors : bool
        Whether standard errors of single outcomes may be known.
    several : bool
        Whether outcomes are of several kinds, each with a probability: means then have an axis of
        kinds, first.
    linear_predictors : int
        Of each outcome; where there are two, `eta` has both, first.
    report : Thresholds or None
        What is printed in the place of what is sampled, where these differ.
    parts : str
        What names of the second part's coefficients begin with, where the design has two parts,
        each with a linear predictor of its own, see `of_second`; else empty.
    working : bool
        Whether its likelihood is a working one: outcomes have no law, see `QuantRegFamily`.
    limited : bool
        Whether outcomes may be censored or truncated: they are records, see
        `sgmc.arguments.data.limited`.
    in_part : type or None
        Its `LimitedFamily`.
    rootless : str
        What may be the cause, and the cure, where the curvature at the mode has no root.
    """

    name = None
    title = None
    distribution = None
    link = None
    default_link = False
    outcome = "numeric"
    accepts = "numbers"
    kernel = None
    counts = False
    graded = True
    auxiliary = ()
    log_concave = True
    clusters = summed = False
    identity = False
    bounded_if_known = expands = False
    known = {}
    errors = several = False
    linear_predictors, report = 1, None
    parts, working, rootless = "", False, ""
    limited, in_part = False, None

    @classmethod
    def unbounded(cls):
        """Why curvatures of the linear predictor have no bound; empty where they have one."""
        if not cls.auxiliary:
            return "" if np.isfinite(cls.kernel.curvature_bound) else cls.kernel.unbounded
        names = [one.name for one in cls.auxiliary]
        hint = (
            f" (not where {' and '.join(f'{name}=' for name in names)} is given)"
            if cls.bounded_if_known
            else ""
        )
        return f"{' and '.join(names)}, sampled too, scale its curvature without limit{hint}"

    @staticmethod
    def start(mean, variance):
        """(linear predictor, auxiliary parameters' logs) to begin the search for the mode at, from
        moments of the outcomes.
        """
        return 0.0, []

    @staticmethod
    def linear_moments(mean, variance):
        """Mean and sd of the outcomes on the scale of the linear predictor, from moments of their
        numbers; (0, 1) where links keep it near zero.
        """
        return 0.0, 1.0

    @staticmethod
    def units(mean, variance):
        """Units of auxiliary parameters, for autoscaled priors, from moments of the outcomes."""
        return [1.0]

    @classmethod
    def predictors(cls, X, coefficients, offset, extra):
        """What other functions take as `eta`, from rows (n, d) of the design, draws of the
        coefficients (m, d), an offset (n,), and draws of the auxiliary parameters.
        """
        return cls.placed(cls.linear(X, coefficients, offset), extra)

    @staticmethod
    def linear(X, coefficients, offset):
        """Linear predictors (row, draw) of rows (n, d) of a design, at draws (m, d); where there
        are two, both first.
        """
        return X @ coefficients.T + offset[:, None]

    @staticmethod
    def placed(eta, extra):
        """What other functions take as `eta`, from single linear predictors (row, draw, ..) and
        draws of the auxiliary parameters (k, draw, ..).
        """
        return eta

    @staticmethod
    def sampled(draws):
        """Draws (m, k) of what is sampled, logs as they are printed, from draws of what is printed:
        coefficients, then auxiliary parameters.
        """
        return draws

    @staticmethod
    def mean(eta):
        """E[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @classmethod
    def centre(cls, eta, extra=None):
        """What predictions average over draws: E[y | x]."""
        return cls.mean(eta)

    @staticmethod
    def numbers(y):
        """Outcomes as numbers that have moments: themselves."""
        return y

    @staticmethod
    def telling(y):
        """Whether each outcome bounds a scale of the outcomes from above, (n,)."""
        return np.ones(len(y), dtype=bool)

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
    def deviance(y, mean, extra=None):
        """Unit deviance, 2 (log p(y; y) - log p(y; mean)) at unit dispersion, elementwise."""
        raise NotImplementedError

    @staticmethod
    def open_sides(y, trials=None):
        """(up, down): whether each row's likelihood stays positive while its linear predictor rises
        for ever, and falls.
        """
        return np.zeros(len(y), dtype=bool), np.zeros(len(y), dtype=bool)

    @staticmethod
    def best_constant(y, weights):
        """E[y] of the model without predictors, from outcomes (n,) and their frequency weights."""
        return np.average(y, weights=weights)

    @staticmethod
    def check(y, label):
        """Raise DataError where the outcomes do not suit the family; `label` names the response."""

    @classmethod
    def of_ends(cls):
        """The family of outcomes of which some are censored or truncated.

        Raises
        ------
        ArgumentError
            Where it has none.
        """
        if cls.in_part is None:
            raise refuse_records(cls.name, "its outcomes are all observed")
        return cls.in_part()

    @classmethod
    def of_trials(cls, trials):
        """The family of a row's outcome where a row has so many trials; itself where nothing is
        known of any (None).
        """
        return cls


class Binary(Family):
    """Base of families of outcomes 0 and 1, which `of_trials` adds up to counts of successes."""

    outcome = "binary"
    accepts = "0/1, bool, two labels, or counts `successes + failures ~ ...`"
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
    def deviance(y, mean, extra=None):
        """-2 log p(y)."""
        with np.errstate(divide="ignore"):
            return -2 * np.log1p(-np.abs(np.asarray(y) - mean))

    @staticmethod
    def open_sides(y, trials=None):
        # up without failures, down without successes
        return (y == 1 if trials is None else y == trials), y == 0

    @staticmethod
    def check(y, label):
        """Outcomes are 0 or 1."""
        values.binary(f"the outcome {label!r}", y)

    @classmethod
    def of_trials(cls, trials):
        """Counts of successes where there are trials, else 0 and 1."""
        return cls if trials is None else Binomial(cls, trials)


class Binomial:
    """Counts of successes in known numbers of trials: what `Family` has of outcomes,
    with y and means as counts.

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
        return (
            ways
            + y * self.single.log_density(1.0, eta)
            + (n - y) * self.single.log_density(0.0, eta)
        )

    def best_constant(self, y, weights):
        """The same share of successes in all rows."""
        return self.trials * (weights @ y / (weights @ self.trials))

    def deviance(self, y, mean, extra=None):
        """2 (y log(y / mean) + (n - y) log((n - y) / (n - mean)))."""
        n = self.trials
        return 2 * (xlogy(y, y) - xlogy(y, mean) + xlogy(n - y, n - y) - xlogy(n - y, n - mean))

    def check(self, y, label):
        """There are trials."""
        if not self.trials.any():
            raise DataError(
                f"the counts {label!r} are 0 in every row used: there is nothing to explain"
            )


class LogLink(Family):
    """Base of families with log link."""

    @staticmethod
    def start(mean, variance):
        return np.log(mean or MEAN_OF_ZEROS), []

    @staticmethod
    def linear_moments(mean, variance):
        return np.log(mean or MEAN_OF_ZEROS), np.sqrt(variance) / (mean or MEAN_OF_ZEROS)

    @staticmethod
    def mean(eta):
        """exp(eta)."""
        return np.exp(np.minimum(eta, MAX_LOG))


class Counts(LogLink):
    """Base of families of counts."""

    accepts = "counts"
    counts = True

    @staticmethod
    def open_sides(y, trials=None):
        # down for a count of 0
        return np.zeros(len(y), dtype=bool), y == 0

    @staticmethod
    def check(y, label):
        """Outcomes are counts: 0, 1, 2, ..."""
        values.counts(f"the outcome {label!r}", y)


class Positive(LogLink):
    """Base of families of positive outcomes."""

    accepts = "positive numbers"

    @staticmethod
    def mean(eta):
        """exp(eta), held where products of three are numbers."""
        return np.exp(np.clip(eta, -MAX_LOG_CUBED, MAX_LOG_CUBED))

    @staticmethod
    def check(y, label):
        """Outcomes are positive, and differ."""
        name = f"the outcome {label!r}"
        values.varying(name, values.positives(name, y))


class Continuous(Family):
    """Base of families of real outcomes whose mean is the linear predictor,
    with a scale of that unit.
    """

    identity = True

    @staticmethod
    def start(mean, variance):
        return mean, [0.5 * np.log(variance)]

    @staticmethod
    def linear_moments(mean, variance):
        return mean, np.sqrt(variance)

    @staticmethod
    def units(mean, variance):
        """The outcomes' sd."""
        return [np.sqrt(variance)]

    @staticmethod
    def mean(eta):
        """eta itself."""
        return np.asarray(eta, dtype=float)

    @staticmethod
    def check(y, label):
        """Outcomes differ, in units in which their squares are numbers."""
        values.varying(f"the outcome {label!r}", y)
        size = np.abs(y).max()
        sd = size * np.std(y / size)
        if not 1 / MAX_SD < sd < MAX_SD:
            raise DataError(
                f"the outcome {label!r} has an sd of {sd:.3g}: its square "
                f"{'underflows' if sd < 1 else 'overflows'}; rescale the column"
            )
