"""Families: what outcomes are like, given their linear predictors.

Linear predictors are arrays (draw, row); of mnlogit (draw, kind, row), of two parts (draw, 2, row).
Auxiliary parameters are a dict of arrays (draw, 1).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

LINKS = {
    "identity": lambda eta: eta,
    "log": np.exp,
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda eta: -np.expm1(-np.exp(eta)),
}


@dataclass(frozen=True)
class Family:
    """The law of an outcome.

    Attributes
    ----------
    link : str
        E[y | eta] = inverse link of eta.
    variance, log_density : callable
        Of (mean, auxiliary), and of (y, mean, auxiliary).
    auxiliary : dict
        Names of the auxiliary parameters, each with the log density of its default prior, a
        function of the parameter and of all outcomes.
    unit : callable
        Of the outcomes: the unit of the coefficients.
    equations : str
        one | kinds | ordered | zero | second
    """

    link: str
    variance: object
    log_density: object
    auxiliary: dict
    unit: object = lambda y: 1.0
    equations: str = "one"

    def mean(self, eta, extra):
        """E[y | eta], (draw, row); of kinds the probabilities, (draw, kind, row)."""
        if self.equations == "kinds":  # the first kind has eta = 0
            return special.softmax(np.insert(eta, 0, 0.0, axis=1), axis=1)
        if self.equations == "ordered":
            below = [special.expit(one - eta) for one in extra["thresholds"]]
            return np.diff(np.stack([0 * eta, *below, 0 * eta + 1], axis=1), axis=1)
        if self.equations == "zero":
            mean = np.exp(eta[:, 0])
            return self.never(eta, mean) * mean
        return LINKS[self.link](eta)

    def log_lik(self, y, eta, extra):
        """log p(y | eta), (draw, row)."""
        if self.equations in ("kinds", "ordered"):
            p = self.mean(eta, extra)
            return np.log(np.take_along_axis(p, y[None, None].astype(int), axis=1)[:, 0])
        return self.log_density(
            y, eta if self.equations == "zero" else self.mean(eta, extra), extra
        )


class Stages(Family):
    """Ordered levels that are reached one after the other: a row stops at level k with probability
    expit(threshold_k - eta), or - eta_k, if it has passed those below.
    """

    def mean(self, eta, extra):
        """P(y = k | eta), (draw, kind, row), for eta (draw, row) or (draw, stage, row)."""
        cuts = extra["thresholds"]
        by_stage = eta.swapaxes(0, 1) if eta.ndim == 3 else [eta] * len(cuts)
        stops = [special.expit(one - own) for one, own in zip(cuts, by_stage)]
        left, found = 1.0, []
        for one in [*stops, 0 * stops[0] + 1]:  # all stop at the last
            found.append(left * one)
            left = left * (1 - one)
        return np.stack(found, axis=1)


def exponential(scale):
    """Log density of the exponential distribution, whose mean is a function of the outcomes."""
    return lambda value, y: -np.log(scale(y)) - value / scale(y)


# log P(1) and log P(0): that of 0 is no log(1 - P(1)), which is log(0) long before it is -40
LOG_CHANCES = {
    "logit": lambda eta: (special.log_expit(eta), special.log_expit(-eta)),
    "probit": lambda eta: (special.log_ndtr(eta), special.log_ndtr(-eta)),
    "cloglog": lambda eta: (np.log(-np.expm1(-np.exp(eta))), -np.exp(eta)),
}


class Bernoulli(Family):
    """0 or 1."""

    def log_lik(self, y, eta, extra):
        """log p(y | eta), (draw, row)."""
        one, none = LOG_CHANCES[self.link](eta)
        return np.where(np.isnan(y + eta), np.nan, np.where(y == 1, one, none))


def bernoulli(link):
    """The family with a link."""
    return Bernoulli(link, lambda m, a: m * (1 - m), None, {})


def inflated(y, eta, a):
    """Zeros of two kinds: with probability expit(eta_1), or counted."""
    zero, count = special.expit(eta[:, 1]), stats.poisson.pmf(y, np.exp(eta[:, 0]))
    return np.log(zero * (y == 0) + (1 - zero) * count)


def hurdle(y, eta, a):
    """Zero with probability expit(eta_1), else a count that is not zero."""
    mean = np.exp(eta[:, 0])
    counted = stats.poisson.logpmf(y, mean) - np.log(-np.expm1(-mean))
    return np.where(y == 0, special.log_expit(eta[:, 1]), special.log_expit(-eta[:, 1]) + counted)


class Inflated(Family):
    """A share of rows is zero in any case."""

    def never(self, eta, mean):
        """E[y | eta] over the mean of the counts."""
        return special.expit(-eta[:, 1])


class Hurdle(Family):
    """A count that is not zero has mean mean / (1 - exp(-mean))."""

    def never(self, eta, mean):
        """E[y | eta] over the mean of the counts."""
        return special.expit(-eta[:, 1]) / -np.expm1(-mean)


def inflated_variance(eta, a):
    """E[y^2] - E[y]^2."""
    mean, share = np.exp(eta[:, 0]), special.expit(-eta[:, 1])
    return share * (mean + mean**2) - (share * mean) ** 2


def hurdle_variance(eta, a):
    """E[y^2] - E[y]^2."""
    mean = np.exp(eta[:, 0])
    share = special.expit(-eta[:, 1]) / -np.expm1(-mean)
    return share * (mean + mean**2) - (share * mean) ** 2


@dataclass(frozen=True)
class Second(Family):
    """A family whose auxiliary parameter is exp of a linear predictor, the second one.

    Attributes
    ----------
    level : callable
        Of the outcomes: where the default prior of that predictor's intercept is centred.
    """

    parameter: str = ""
    level: object = lambda y: 0.0

    def mean(self, eta, extra):
        """E[y | eta]."""
        return LINKS[self.link](eta[:, 0])

    def log_lik(self, y, eta, extra):
        """log p(y | eta), (draw, row)."""
        return self.log_density(y, eta, extra)


def second(family, level=lambda y: 0.0):
    """A family of FAMILIES with a predictor of its auxiliary parameter."""
    (name,) = family.auxiliary

    def extra(eta):
        return {name: np.exp(eta[:, 1])}

    def mean(eta):
        return LINKS[family.link](eta[:, 0])

    return Second(
        family.link,
        lambda eta, a: family.variance(mean(eta), extra(eta)),
        lambda y, eta, a: family.log_density(y, mean(eta), extra(eta)),
        {},
        family.unit,
        "second",
        name,
        level,
    )


def beta_unit(y):
    """The precision that there would be without predictors."""
    return y.mean() * (1 - y.mean()) / np.var(y, ddof=1) - 1


FAMILIES = {
    "ols": Family(
        "identity",
        lambda m, a: a["sigma"] ** 2 + 0 * m,
        lambda y, m, a: stats.norm.logpdf(y, m, a["sigma"]),
        {"sigma": exponential(np.std)},
        np.std,  # divided by n, unlike the sds of predictors
    ),
    "rlm": Family(  # Student-t errors of 4 degrees of freedom
        "identity",
        lambda m, a: 2 * a["sigma"] ** 2 + 0 * m,
        lambda y, m, a: stats.t.logpdf(y, 4, m, a["sigma"]),
        {"sigma": exponential(np.std)},
        np.std,  # divided by n, unlike the sds of predictors
    ),
    "logit": bernoulli("logit"),
    "probit": bernoulli("probit"),
    "cloglog": bernoulli("cloglog"),
    "poisson": Family("log", lambda m, a: m, lambda y, m, a: stats.poisson.logpmf(y, m), {}),
    "negativebinomial": Family(
        "log",
        lambda m, a: m + a["alpha"] * m**2,
        lambda y, m, a: stats.nbinom.logpmf(y, 1 / a["alpha"], 1 / (1 + a["alpha"] * m)),
        {"alpha": exponential(lambda y: 1.0)},
    ),
    "gamma": Family(
        "log",
        lambda m, a: a["dispersion"] * m**2,
        lambda y, m, a: stats.gamma.logpdf(y, 1 / a["dispersion"], scale=a["dispersion"] * m),
        {"dispersion": exponential(lambda y: 1.0)},
    ),
    "inversegaussian": Family(
        "log",
        lambda m, a: a["dispersion"] * m**3,
        lambda y, m, a: stats.invgauss.logpdf(y, m * a["dispersion"], scale=1 / a["dispersion"]),
        {"dispersion": exponential(lambda y: 1 / y.mean())},
    ),
    "beta": Family(
        "logit",
        lambda m, a: m * (1 - m) / (1 + a["phi"]),
        lambda y, m, a: stats.beta.logpdf(y, m * a["phi"], (1 - m) * a["phi"]),
        {"phi": lambda value, y: stats.cauchy.logpdf(value, 0, beta_unit(y)) + np.log(2)},
    ),
    "mnlogit": Family("logit", None, None, {}, equations="kinds"),
    "ordinal": Family("logit", None, None, {}, equations="ordered"),
    "ordinal sequential": Stages("logit", None, None, {}, equations="ordered"),
    "zeroinflated": Inflated("log", inflated_variance, inflated, {}, equations="zero"),
    "hurdle": Hurdle("log", hurdle_variance, hurdle, {}, equations="zero"),
}
FAMILIES |= {
    "ols sigma": second(FAMILIES["ols"], lambda y: np.log(np.std(y))),
    "rlm sigma": second(FAMILIES["rlm"], lambda y: np.log(np.std(y))),
    "gamma dispersion": second(FAMILIES["gamma"]),
    "inversegaussian dispersion": second(FAMILIES["inversegaussian"], lambda y: -np.log(y.mean())),
    "beta phi": second(FAMILIES["beta"], lambda y: np.log(beta_unit(y))),
    "negativebinomial dispersion": second(FAMILIES["negativebinomial"]),
}
