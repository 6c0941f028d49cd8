"""Ordinal regression: cumulative and sequential models of ordered outcomes."""
from copy import copy

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtr, ndtri

from sgmc.arguments.choices import one_of
from sgmc.core.numerics.limits import HALF_LOG_2PI, MAX_LOG
from sgmc.core.system.storage import spans
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported
from sgmc.models.regression.bases.predictors.cumulative import (
    CUMULATIVE_LINKS, MAX_LOG_DISCRIMINATION, MAX_ORDERED, Cumulative, Discriminating,
    DiscriminatingStages, Sequential, Staged,
)
from sgmc.models.regression.bases.family import Auxiliary, Family
from sgmc.models.regression.bases.kinds import Kinds
from sgmc.models.regression.bases.thresholds import Thresholds
from sgmc.models.regression.bases.predictors.two_predictors import TwoPredictors
from sgmc.models.regression.model import Regression
from sgmc.models.regression.two_parts import StageDesigns, TwoDesigns
from sgmc.priors import exponential, normal

GAP = exponential(scale=2.5)           # default prior of the distance of two thresholds
STEP = normal(0, 2.5)                  # and of thresholds without an order
KINDS = "cumulative", "sequential"
FEWEST_OF_LEVEL = 0.5                             # rows that a level has at least in a first guess
SHORT_INTERVAL = 1e-2                  # below: a series around its middle, of error 1e-14


def inverse_cloglog(z):
    """1 - exp(-exp(z))."""
    return -np.expm1(-np.exp(np.minimum(z, MAX_LOG)))


def survival_of_cloglog(z):
    """exp(-exp(z))."""
    return np.exp(-np.exp(np.minimum(z, MAX_LOG)))


# distribution functions, their complements, and their inverses
LATENT = {
    "logit": (expit, lambda z: expit(-z), lambda p: np.log(p) - np.log1p(-p)),
    "probit": (ndtr, lambda z: ndtr(-z), ndtri),
    "cloglog": (inverse_cloglog, survival_of_cloglog, lambda p: np.log(-np.log1p(-p))),
}


def log_below(link, z):
    """log F(z), elementwise."""
    if link == "cloglog":
        with np.errstate(divide="ignore"):
            return np.log(inverse_cloglog(z))
    return log_expit(z) if link == "logit" else log_ndtr(z)


def log_above(link, z):
    """log(1 - F(z)), elementwise."""
    if link == "cloglog":
        return -np.exp(np.minimum(z, MAX_LOG))
    return log_expit(-z) if link == "logit" else log_ndtr(-z)


def log_interval(link, a, b, gap):
    """log(F(a) - F(b)) for a = b + gap, elementwise."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if link == "logit":
            return log_expit(a) + log_expit(-b) + np.log(-np.expm1(-gap))
        if link == "cloglog":
            low = np.exp(np.minimum(b, MAX_LOG))
            return np.log(-np.expm1(-low * np.expm1(np.minimum(gap, MAX_LOG)))) - low
        middle = (a + b) / 2
        high, low = np.where(middle <= 0, a, -b), np.where(middle <= 0, b, -a)
        near = log_ndtr(high)
        direct = near + np.log1p(-np.exp(log_ndtr(low) - near))
        s, g = middle ** 2, gap ** 2
        series = (np.log(gap) - s / 2 - HALF_LOG_2PI + (s - 1) * g / 24
                  - (s ** 2 + 4 * s - 2) * g ** 2 / 2880)
        return np.where(gap * (1 + np.abs(middle)) < SHORT_INTERVAL, series, direct)


class OrdinalFamily(Kinds):
    """Outcomes of ordered levels: P(y <= k) = F(c_k - x . theta), thresholds c_1 < .. < c_{K-1}.

    Sampled are an intercept, which is -c_1, and the logs of the gaps c_{k+1} - c_k.  `eta` has a
    threshold, a row and a draw: c_k - x . theta; `mean` is the probability of each level, (level,
    row, draw).

    Parameters
    ----------
    link : {"logit", "probit", "cloglog"}
    labels : tuple, optional
        The levels, in their order; without them the compiled model counts those of its outcomes.
    shares : array (K,), optional
        Of the rows.
    coefficients : list of str
    intercept : int
        Its place among them.
    """

    name = "ordinal"
    title = "Ordinal"
    outcome = "ordered"
    accepts = "ordered categories, or numbers of few distinct values"
    report = None
    # what is between two thresholds: its name, its default prior, and whether it is positive
    between, usual, increasing = "gap", GAP, True
    compiled = Cumulative

    def __init__(self, link="logit", labels=None, shares=None, coefficients=(), intercept=0):
        self.link, self.labels, self.shares = link, labels, shares
        self.title = f"{type(self).title} ({link} link)"
        self.auxiliary = ()
        if labels is not None:
            shown = [label_text(one) for one in labels]
            self.auxiliary = tuple(Auxiliary(f"{self.between}[{one}]", self.usual, proper=True)
                                   for one in shown[1:len(shown) - 1])
            names = thresholds_between(labels)
            self.report = Thresholds(coefficients, intercept, names, self.increasing)

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        levels = int(np.max(y)) + 1 if self.labels is None else len(self.labels)
        return self.compiled(X, y, offset, weight, levels, self.link)

    def unbounded(self):
        return "gaps between thresholds, sampled too, scale its curvature without limit"

    def of_trials(self, trials):
        return self

    def start(self, mean, variance):
        # thresholds of the levels' shares
        below = np.cumsum(self.shares)[:-1]
        cuts = LATENT[self.link][2](below)
        return -cuts[0], list(np.log(np.diff(cuts)))

    def units(self, mean, variance):
        """The latent variable has none."""
        return [1.0] * len(self.auxiliary)

    @staticmethod
    def placed(eta, extra):
        # c_k - x . theta, (threshold, row, draw, ..)
        cuts = np.concatenate([np.zeros((1, *extra.shape[1:])), np.cumsum(extra, axis=0)])
        return cuts[:, None] - eta

    def with_effects(self, names):
        """The same with parameters of effects behind the coefficients."""
        out = copy(self)
        out.report = self.report.with_between(names)
        return out

    def sampled(self, draws):
        return self.report.sampled(draws)

    def mean(self, eta):
        """Probabilities (level, row, draw)."""
        below, above, _ = LATENT[self.link]
        F, S, edge = below(eta), above(eta), np.ones((1, *eta.shape[1:]))
        F, S = np.concatenate([0 * edge, F, edge]), np.concatenate([edge, S, 0 * edge])
        # by the tail that is the smaller one
        return np.maximum(np.where(F[:-1] > 0.5, S[:-1] - S[1:], F[1:] - F[:-1]), 0.0)

    def centre(self, eta, extra=None):
        return self.mean(eta)

    def log_density(self, y, eta, extra=None):
        return self.log_level(y, eta, extra[:, None])

    def log_level(self, y, eta, gaps):
        """log p(y) from thresholds less x . theta and their gaps, which have the threshold first
        and broadcast to (threshold, row, draw, ..).
        """
        last = len(eta)
        chosen = np.broadcast_to(np.asarray(y, dtype=int), eta.shape[1:])

        def at(table, places):
            return np.take_along_axis(table, places[None], axis=0)[0]

        high, low = at(eta, np.minimum(chosen, last - 1)), at(eta, np.maximum(chosen - 1, 0))
        widths = np.broadcast_to(gaps, (len(gaps), *eta.shape[1:]))
        gap = at(widths, np.clip(chosen - 1, 0, last - 2))
        inner = log_interval(self.link, high, low, gap)
        ends = np.where(chosen == 0, log_below(self.link, high), log_above(self.link, low))
        return np.where((chosen == 0) | (chosen == last), ends, inner)

    @staticmethod
    def directions(count):
        """What each of `count` rows of `eta` changes by with each linear predictor."""
        return -np.ones((1, count))

    def simulate(self, eta, rng, extra=None):
        """Numbers of the levels, 0, 1, .., (row, draw)."""
        below = LATENT[self.link][0](eta)
        return (rng.random(eta.shape[1:]) > below).sum(axis=0).astype(float)

    def open_sides(self, y, trials=None):
        # up for the highest level, down for the lowest
        return y == len(self.labels) - 1, y == 0


class SequentialFamily(OrdinalFamily):
    """Outcomes of levels that are reached one after the other: P(y = k | y >= k) = F(c_k - x .
    theta), thresholds c_1, .., c_{K-1} without an order.

    Sampled are an intercept, which is -c_1, and the steps c_{k+1} - c_k, of either sign.  `eta` is
    that of `OrdinalFamily`.

    Parameters
    ----------
    **whole
        As in `OrdinalFamily`.
    """

    title = "Sequential ordinal"
    between, usual, increasing = "step", STEP, False
    compiled = Sequential

    def unbounded(self):
        return "rows have a score for each threshold, for which there are no bounds here"

    def start(self, mean, variance):
        # thresholds of the shares that stop at each stage
        left = np.cumsum(self.shares[::-1])[::-1]
        cuts = LATENT[self.link][2]((self.shares / left)[:-1])
        return -cuts[0], list(np.diff(cuts))

    def mean(self, eta):
        """Probabilities (level, row, draw): of passing all stages before, and stopping."""
        below, above, _ = LATENT[self.link]
        edge = np.ones((1, *eta.shape[1:]))
        passed = np.concatenate([edge, np.cumprod(above(eta), axis=0)])
        return passed * np.concatenate([below(eta), edge])

    def log_density(self, y, eta, extra=None):
        chosen = np.broadcast_to(np.asarray(y, dtype=int), eta.shape[1:])
        stage = np.arange(len(eta)).reshape(-1, *[1] * chosen.ndim)
        passed = np.where(stage < chosen, log_above(self.link, eta), 0.0)
        return (passed + np.where(stage == chosen, log_below(self.link, eta), 0.0)).sum(axis=0)

    def simulate(self, eta, rng, extra=None):
        """Numbers of the levels, 0, 1, .., (row, draw)."""
        below = np.cumsum(self.mean(eta), axis=0)[:-1]
        return (rng.random(eta.shape[1:]) > below).sum(axis=0).astype(float)


class CategorySpecificFamily(TwoPredictors, SequentialFamily):
    """The same with effects of each stage: P(y = k | y >= k) = F(c_k - x . theta - z . gamma_k).

    `eta` is that of `OrdinalFamily`, less z . gamma_k.

    Parameters
    ----------
    columns : array (d,) of int, optional
        0 of a column of x, k of one of z in stage k, -1 of one that is in neither.
    constants : tuple of int
        As in `TwoPredictors`.
    moved : array (K - 1, d), optional
        As in `Thresholds`.
    **whole
        As in `OrdinalFamily`.
    """

    log_concave = True

    def __init__(self, columns=None, constants=(), moved=None, **whole):
        TwoPredictors.__init__(self, columns, constants)
        SequentialFamily.__init__(self, **whole)
        self.title += " with cs()"
        if self.labels is not None:
            self.linear_predictors = len(self.labels)
            self.report.moved = moved

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        levels = int(np.max(y)) + 1 if self.labels is None else len(self.labels)
        return Staged(X, y, offset, weight, self.columns, levels, self.link)

    @staticmethod
    def placed(eta, extra):
        return SequentialFamily.placed(eta[0], extra) - eta[1:]

    @staticmethod
    def directions(count):
        # thresholds less the first predictor, and each less its own
        return -np.vstack([np.ones((1, count)), np.eye(count)])


class DiscriminatingFamily(TwoPredictors, OrdinalFamily):
    """Ordered outcomes with predictors of the log of the discrimination s: P(y <= k) = F(s (c_k - x
    . theta)), log s = z . gamma.

    `eta` has c_k - x . theta of each threshold and, last, log s, each (row, draw).

    Parameters
    ----------
    columns, constants
        As in `TwoPredictors`.
    **whole
        As in `OrdinalFamily`.
    """

    parts = "discrimination:"
    scale = "log discrimination: exp of a slope is a ratio of discriminations"

    def __init__(self, columns=None, constants=(), **whole):
        TwoPredictors.__init__(self, columns, constants)
        OrdinalFamily.__init__(self, **whole)
        self.title += " with predictors of discrimination"

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        levels = int(np.max(y)) + 1 if self.labels is None else len(self.labels)
        return Discriminating(X, y, offset, weight, self.columns, levels, self.link)

    @staticmethod
    def placed(eta, extra):
        return np.append(OrdinalFamily.placed(eta[0], extra), eta[1:], axis=0)

    @staticmethod
    def second_of(eta):
        return eta[len(eta) - 1]

    @staticmethod
    def second(zeta):
        """The discrimination, held as by `Discriminating`."""
        return np.exp(np.clip(zeta, -MAX_LOG_DISCRIMINATION, MAX_LOG_DISCRIMINATION))

    @staticmethod
    def directions(count):
        # the thresholds less the first predictor, and the second
        return np.array([[*[-1.0] * (count - 1), 0.0], [*[0.0] * (count - 1), 1.0]])

    def scaled(self, eta):
        """s (c_k - x . theta)."""
        last = len(eta) - 1
        return self.second(eta[last]) * eta[:last]

    def mean(self, eta):
        return super().mean(self.scaled(eta))

    def centre(self, eta, extra=None):
        return self.mean(eta)

    def log_density(self, y, eta, extra=None):
        return self.log_level(y, self.scaled(eta), self.second(eta[len(eta) - 1]) * extra[:, None])

    def simulate(self, eta, rng, extra=None):
        return super().simulate(self.scaled(eta), rng)


class DiscriminatingStagesFamily(DiscriminatingFamily, SequentialFamily):
    """Outcomes of levels that are reached one after the other, with predictors of the log of the
    discrimination s: P(y = k | y >= k) = F(s (c_k - x . theta)), log s = z . gamma.

    `eta` is that of `DiscriminatingFamily`.

    Parameters
    ----------
    columns, constants
        As in `TwoPredictors`.
    **whole
        As in `OrdinalFamily`.
    """

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        levels = int(np.max(y)) + 1 if self.labels is None else len(self.labels)
        return DiscriminatingStages(X, y, offset, weight, self.columns, levels, self.link)

    def log_density(self, y, eta, extra=None):
        return SequentialFamily.log_density(self, y, self.scaled(eta))

    def simulate(self, eta, rng, extra=None):
        # by probabilities, which are scaled
        return SequentialFamily.simulate(self, eta, rng)


def label_text(label):
    """A level as names have it: whole numbers without a point."""
    return f"{label:g}" if isinstance(label, float) else str(label)


def thresholds_between(labels):
    """Names of the thresholds between levels."""
    shown = [label_text(one) for one in labels]
    return [f"{low}|{high}" for low, high in zip(shown, shown[1:])]


def shares_of(y, weight, levels, label):
    """Shares of the levels among the rows that count, (K,); DataError where a level has no row."""
    rows = np.zeros(len(levels))
    for span in spans(len(y)):
        one = None if weight is None else weight[span]
        rows += np.bincount(np.asarray(y[span], dtype=int), one, len(levels))
    if not rows.all():
        absent = [label_text(one) for one, count in zip(levels, rows) if not count]
        raise DataError(
            f"the outcome {label!r} has no row of weight above 0 with the level "
            f"{', '.join(absent)}: join it with the next one, or leave such rows out by subset="
        )
    rows = np.maximum(rows, FEWEST_OF_LEVEL)
    return rows / rows.sum()


class Ordinal(Regression):
    """Bayesian ordinal regression: P(y <= k) = F(c_k - x . theta - offset), c_1 < .. < c_{K-1} (a
    cumulative link model); or, by `kind`, a sequential one.

    The response is an ordered categorical, or numbers of at most 20 distinct values, lowest first.
    With ``link="logit"``, the default, it is the proportional odds model, F(z) = 1 / (1 + exp(-z));
    ``"probit"`` has F = Phi, and ``"cloglog"`` F(z) = 1 - exp(-exp(z)).  A positive coefficient
    makes higher levels more probable.  Thresholds are reported after the coefficients, by names
    such as ``low|medium``.

    Sampled are the first threshold, whose negative is the coefficient of ``Intercept``, and logs of
    the gaps between thresholds.  Priors are given by these names: ``"Intercept"``, by default
    normal(0, 2.5) at centred predictors, and ``"gap[medium]"``, the width of the level medium on
    the scale of x . theta, by default exponential(scale=2.5).  The Jacobian of the logs is counted.

    With ``kind="sequential"`` the levels are reached one after the other, as stages and degrees
    are: P(y = k | y >= k) = F(c_k - x . theta - offset) (the stopping ratio model, brms' and VGAM's
    ``sratio``).  Thresholds then have no order; sampled are the first one and the steps between
    them, ``"step[medium]"`` in the place of ``"gap[medium]"``, of either sign, by default normal(0,
    2.5).  There a formula may have category-specific effects, ``y ~ x + cs(z)``: P(y = k | y >= k)
    = F(c_k - x . theta - z . gamma_k - offset), with coefficients ``z[low|medium]``.

    ``discrimination``, an argument of the verb and of `from_formula`, is a formula ``"~ z"`` with
    predictors of the log of a factor of thresholds and x . theta: P(y <= k), or P(y = k | y >= k),
    = F(s (c_k - x . theta - offset)), log s = z . gamma, with coefficients ``discrimination:z``.
    It has no intercept, which thresholds and theta would undo: s = 1 where z = 0.

    References
    ----------
    McCullagh (1980), Regression models for ordinal data, JRSS B 42, 109-142, eq. 2.1,
    doi:10.1111/j.2517-6161.1980.tb01109.x.  Pratt (1981), Concavity of the log likelihood, JASA 76,
    103-106, doi:10.1080/01621459.1981.10477613.  Bürkner & Vuorre (2019), Ordinal regression
    models in psychology, AMPPS 2, 77-101, doi:10.1177/2515245918823199, for discrimination.
    Tutz (1991), Sequential models in categorical regression, Computational Statistics & Data
    Analysis 11, 275-295, doi:10.1016/0167-9473(91)90086-H.
    """

    family = OrdinalFamily()
    options = {"link": "logit", "kind": "cumulative", "discrimination": None}

    @classmethod
    def chosen_family(cls, link, kind, discrimination):
        if discrimination is not None:
            raise ArgumentError(
                f"discrimination={discrimination!r} must be a formula of from_formula or of the "
                "verb, such as '~ z'; None: it is 1"
            )
        sequential = one_of("kind", kind, KINDS) == "sequential"
        made = SequentialFamily if sequential else OrdinalFamily
        return made(one_of("link", link, CUMULATIVE_LINKS))

    @classmethod
    def for_formula(cls, formula, options):
        if not StageDesigns.suits(formula):
            return super().for_formula(formula, options)
        if one_of("kind", options.get("kind", "cumulative"), KINDS) != "sequential":
            raise NotSupported(
                "cs() does not go with kind='cumulative': thresholds with effects of their own "
                "cross where these are large, and levels between them would have negative "
                "probabilities; use kind='sequential', whose thresholds need no order",
                because="mathematics",
            )
        return CategorySpecificOrdinal

    def check_outcomes(self):
        # the thresholds follow from the levels
        data = self.data
        label, levels = data.endog_name, self.levels
        if len(levels) < 3:
            raise DataError(
                f"the outcome {label!r} has {len(levels)} level{'s' * (len(levels) > 1)} in the "
                "rows used; ordinal is for three or more, use logit for two"
            )
        if len(levels) > MAX_ORDERED:
            raise DataError(
                f"the outcome {label!r} has {len(levels)} levels; ordinal takes at most "
                f"{MAX_ORDERED}: join some of them, e.g. by pandas.cut, or use ols for numbers"
            )
        if data.intercept is None:
            raise DataError(
                "ordinal needs a column of ones in exog, which its first threshold is made of: "
                "add one, e.g. statsmodels' add_constant(exog)" if self.formula is None else
                "thresholds of ordinal stand for the intercept, which a formula may not take out: "
                "leave '0 +' or '- 1' out"
            )
        shares = shares_of(data.y, data.weight, levels, label)
        made = SequentialFamily if isinstance(self.family, SequentialFamily) else OrdinalFamily
        self.family = made(self.family.link, levels, shares, data.names, data.intercept)
        super().check_outcomes()

    def parameter_names(self):
        # as they are printed
        return self.family.report.names


class DiscriminatingOrdinal(TwoDesigns, Ordinal):
    """The regression with predictors of discrimination, see `Ordinal`."""

    family = DiscriminatingFamily()
    by_name, second, second_constant, one = False, "discrimination", False, Ordinal

    @classmethod
    def chosen_family(cls, link, kind, discrimination):
        sequential = one_of("kind", kind, KINDS) == "sequential"
        made = DiscriminatingStagesFamily if sequential else DiscriminatingFamily
        return made(link=one_of("link", link, CUMULATIVE_LINKS))

    @classmethod
    def table_of(cls, formula, data, scope, inputs):
        found = table, grouping, _ = super().table_of(formula, data, scope, inputs)
        terms = [] if grouping is None else [*grouping.terms, *grouping.spec.smooths]
        if not table.spec.specs[1].exog_names and not any(one.predictor for one in terms):
            raise FormulaError(
                "discrimination: the formula has no predictor, and its intercept is fixed at 0, as "
                "the data do not tell it from the thresholds: leave discrimination= out"
            )
        return found

    def placed(self, columns, constants):
        whole, data = self.family, self.data
        sequential = isinstance(whole, SequentialFamily)
        made = DiscriminatingStagesFamily if sequential else DiscriminatingFamily
        return made(
            columns, constants, link=whole.link, labels=whole.labels, shares=whole.shares,
            coefficients=data.names, intercept=data.intercept,
        )


class CategorySpecificOrdinal(StageDesigns, Ordinal):
    """The sequential regression with ``cs(z)`` among its terms, see `Ordinal`."""

    family = CategorySpecificFamily()
    stages = staticmethod(thresholds_between)

    @classmethod
    def for_formula(cls, formula, options):
        return Ordinal.for_formula(formula, options)

    @classmethod
    def chosen_family(cls, link, kind, discrimination):
        if discrimination is not None:
            raise NotSupported(
                "cs() and discrimination= do not go together: a stage's own effects and a factor "
                "of all of them tell the same; leave one of them out",
                because="limit",
            )
        return CategorySpecificFamily(link=one_of("link", link, CUMULATIVE_LINKS))

    def placed(self, columns, constants):
        whole, data = self.family, self.data
        return CategorySpecificFamily(
            self.spec.predictor, constants, self.spec.moved, link=whole.link, labels=whole.labels,
            shares=whole.shares, coefficients=data.names, intercept=data.intercept,
        )


Ordinal.distributional = DiscriminatingOrdinal
