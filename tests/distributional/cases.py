"""Outcomes whose scale, dispersion or precision has predictors: their laws by scipy, tables, and
posteriors by importance sampling in numpy alone.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import sgmc
from sgmc.registry import room
from tests.prior_scales import prior_scales

from ..importance import around_the_mode
from ..reference.families import FAMILIES, beta_unit


class Law(NamedTuple):
    """A family with predictors of its second parameter.

    Attributes
    ----------
    verb : str
    how : dict
        Its arguments besides that of the second formula.
    parameter : str
    log_density : callable
        Of y, eta and zeta, elementwise.
    draw : callable
        Outcomes, from (rng, eta, zeta).
    unit : callable
        Of the outcomes: the unit of the coefficients of the mean.
    level : callable
        Of the outcomes: where the prior of the second intercept is centred.
    """

    verb: str
    how: dict
    parameter: str
    log_density: object
    draw: object
    unit: object = lambda y: 1.0
    level: object = lambda y: 0.0


def of_reference(name):
    """The log density of a family of `tests.reference`."""
    family = FAMILIES[name]

    def density(y, eta, zeta):
        y, eta, zeta = np.broadcast_arrays(y, eta, zeta)
        both = np.stack([np.atleast_2d(eta), np.atleast_2d(zeta)], axis=1)
        return family.log_density(np.atleast_2d(y), both, {}).reshape(eta.shape)

    return density


def of_times(law):
    """log p(t) of a scipy law of times whose logs are eta + sigma W."""
    return lambda y, eta, zeta: law(np.exp(eta), np.exp(zeta)).logpdf(y)


TIMES = {
    "weibull": lambda scale, sigma: stats.weibull_min(1 / sigma, scale=scale),
    "lognormal": lambda scale, sigma: stats.lognorm(sigma, scale=scale),
    "loglogistic": lambda scale, sigma: stats.fisk(1 / sigma, scale=scale),
}


def time_law(dist):
    """Of survival times."""
    return Law(
        "survreg",
        {"dist": dist},
        "sigma",
        of_times(TIMES[dist]),
        lambda rng, e, u: TIMES[dist](np.exp(e), np.exp(u)).rvs(random_state=rng),
        lambda y: np.std(np.log(y)),
        lambda y: np.log(np.std(np.log(y))),
    )


def log_sd(y):
    """Log of the sd."""
    return np.log(np.std(y))


LAWS = {
    "ols": Law(
        "ols",
        {},
        "sigma",
        of_reference("ols sigma"),
        lambda rng, e, u: rng.normal(e, np.exp(u)),
        np.std,
        log_sd,
    ),
    "gaussianlog": Law(
        "gaussianlog",
        {},
        "sigma",
        lambda y, e, u: stats.norm.logpdf(y, np.exp(e), np.exp(u)),
        lambda rng, e, u: rng.normal(np.exp(e), np.exp(u)),
        level=log_sd,
    ),
    "rlm": Law(
        "rlm",
        {},
        "sigma",
        of_reference("rlm sigma"),
        lambda rng, e, u: e + np.exp(u) * rng.standard_t(4, np.shape(e)),
        np.std,
        log_sd,
    ),
    "gamma": Law(
        "gamma",
        {},
        "dispersion",
        of_reference("gamma dispersion"),
        lambda rng, e, u: rng.gamma(np.exp(-u), np.exp(e + u)),
    ),
    "inversegaussian": Law(
        "inversegaussian",
        {},
        "dispersion",
        of_reference("inversegaussian dispersion"),
        lambda rng, e, u: rng.wald(np.exp(e), np.exp(-u)),
        level=lambda y: -np.log(y.mean()),
    ),
    "beta": Law(
        "beta",
        {},
        "phi",
        of_reference("beta phi"),
        lambda rng, e, u: rng.beta(np.exp(u) / (1 + np.exp(-e)), np.exp(u) / (1 + np.exp(e))),
        level=lambda y: np.log(beta_unit(y)),
    ),
    "negativebinomial": Law(
        "negativebinomial",
        {},
        "dispersion",
        of_reference("negativebinomial dispersion"),
        lambda rng, e, u: rng.poisson(rng.gamma(np.exp(-u), np.exp(e + u))).astype(float),
    ),
    **{dist: time_law(dist) for dist in TIMES},
}
OUTCOMES = {"beta": np.array([0.02, 0.2, 0.5, 0.77, 0.98])}
NUMBERS = np.array([0.02, 0.3, 1.0, 2.5, 9.0])
SHIFT = {"beta": 3.0}  # of log precisions, so that shares are not all at the ends


def family_of(name, columns=(0, 1)):
    """The package's family, with the predictor of each column."""
    law = LAWS[name]
    model = room("families")[law.verb]
    made = model.for_formula("y ~ 1", {**law.how, law.parameter: "~ 1"})
    options = {**made.options, **law.how, law.parameter: "~ 1"}
    return type(family := made.chosen_family(**options))(
        *([family.whole] if hasattr(family, "whole") else []), np.array(columns), (0, 1)
    )


@cache
def table(name, n=250, seed=3):
    """A number in both parts, a number and a factor in one."""
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(1, 1, n), "z": rng.normal(size=n)})
    d["g"] = rng.choice(["u", "v"], n)
    eta = 0.3 + 0.4 * d.x - 0.3 * (d.g == "v")
    zeta = SHIFT.get(name, 0.0) - 0.9 + 0.5 * d.z + 0.3 * (d.g == "v")
    return d.assign(y=LAWS[name].draw(rng, eta.to_numpy(), zeta.to_numpy()))


FORMULAS = "y ~ g + x", "~ g + z"


@cache
def fitted(name, **how):
    """The fit at default settings."""
    law = LAWS[name]
    verb = getattr(sgmc, law.verb)
    return verb(FORMULAS[0], table(name), **{law.parameter: FORMULAS[1]}, **law.how, seed=1, **how)


def log_posterior(name, mistake=""):
    """log p of both parts' coefficients, intercepts first, at points (m, 6).

    Mistakes: "sign" of the second predictor, "exchanged" parts, "jacobian", the scale left out of
    the density, "prior" left out.
    """
    law, d = LAWS[name], table(name)
    v, y = (d.g == "v").to_numpy(float), d.y.to_numpy()
    X, Z = np.column_stack([v, d.x]), np.column_stack([v, d.z])

    def value(points):
        b, c = points[:, :3], points[:, 3:]
        eta, zeta = b[:, :1] + b[:, 1:] @ X.T, c[:, :1] + c[:, 1:] @ Z.T
        eta, zeta = (zeta, eta) if mistake == "exchanged" else (eta, zeta)
        zeta = -zeta if mistake == "sign" else zeta
        total = law.log_density(y, eta, zeta)
        total = (total + zeta if mistake == "jacobian" else total).sum(axis=1)
        centre = y.mean() if law.verb in ("ols", "rlm") else 0.0
        centre = np.log(y).mean() if law.verb == "survreg" else centre
        for w, own, unit, middle in (
            (b, X, law.unit(y), centre),
            (c, Z, 1.0, law.level(y)),
        ):
            if mistake != "prior":
                total += stats.norm.logpdf(w[:, 1:], 0, 2.5 * unit / prior_scales(own)).sum(axis=1)
                at = w[:, 0] + w[:, 1:] @ own.mean(axis=0)
                total += stats.norm.logpdf(at, middle, 2.5 * unit)
        return total

    return value


@cache
def reference(name, mistake=""):
    """Means and sds of the coefficients, and the effective number of draws."""
    start = np.array([0.3, 0, 0, SHIFT.get(name, 0.0), 0, 0])
    points, w = around_the_mode(log_posterior(name, mistake), start, np.ones(6))
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()
