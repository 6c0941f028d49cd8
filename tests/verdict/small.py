"""Regressions whose posteriors are known by quadrature or in closed form: separated ones under
priors of all tails, outcomes that are all alike, least squares of few rows.
"""

import numpy as np
import pandas as pd
from scipy import special, stats

import sgmc
from sgmc.api import verbs

from ..meta.studies import SCHOOLS, exact, vaccine
from .known import Known

FAR = 5e4  # ends of the grids, beyond which Cauchy priors hold 1e-5

PRIORS = {
    "normal": (sgmc.normal(0, 2.5), stats.norm(0, 2.5).logpdf, 0.0),
    "laplace": (sgmc.laplace(0, 2.5), stats.laplace(0, 2.5).logpdf, 0.0),
    "t4": (sgmc.student_t(4, 0, 2.5), stats.t(4, 0, 2.5).logpdf, 1 / 4),
    "t3": (sgmc.student_t(3, 0, 2.5), stats.t(3, 0, 2.5).logpdf, 1 / 3),
    "t2": (sgmc.student_t(2, 0, 2.5), stats.t(2, 0, 2.5).logpdf, 1 / 2),
    "cauchy": (sgmc.cauchy(0, 2.5), stats.cauchy(0, 2.5).logpdf, 1.0),
}


def sinh_grid(count, near=0.02, far=FAR):
    """A grid that is fine around zero and reaches far."""
    return near * np.sinh(np.linspace(-1, 1, count) * np.arcsinh(far / near))


def separated_slope(prior):
    """One slope, no intercept, outcomes separated at zero."""
    table = pd.DataFrame({"x": [1.0, 2, -1, -2], "y": [1, 1, 0, 0]})
    given, log_prior, index = PRIORS[prior]

    def known():
        grid = sinh_grid(200_001)
        value = 2 * (special.log_expit(grid) + special.log_expit(2 * grid)) + log_prior(grid)
        return Known.of_grid({"x": grid}, value, index)

    return lambda **how: sgmc.logit("y ~ 0 + x", table, prior={"x": given}, **how), known


def rare_level(prior, verb="logit"):
    """A level of 25 in 400 rows whose outcomes are all ones, or all counts zero."""
    rng = np.random.default_rng(0)
    g = (np.arange(400) % 16 == 0).astype(float)
    y = rng.integers(0, 2, 400) if verb == "logit" else rng.poisson(1.0, 400)
    y[g == 1] = 1 if verb == "logit" else 0
    given, log_prior, index = PRIORS[prior]
    sums = {level: (int((g == level).sum()), int(y[g == level].sum())) for level in (0, 1)}

    def likelihood(eta, level):
        n, total = sums[level]
        if verb == "logit":
            return total * special.log_expit(eta) + (n - total) * special.log_expit(-eta)
        return total * eta - n * np.exp(np.minimum(eta, 300))

    def known():
        base, slope = np.linspace(-2, 2, 1201), sinh_grid(8001)
        # the intercept's prior is normal(0, 2.5) at centred predictors
        centred = base[:, None] + slope * g.mean()
        value = (
            likelihood(base, 0)[:, None]
            + likelihood(base[:, None] + slope, 1)
            + log_prior(slope)
            - 0.5 * (centred / 2.5) ** 2
        )
        # a heavy prior times the intercept's normal one: its tail ends where that begins
        return Known.of_grid({"Intercept": base, "g": slope}, value, 0.0)

    def fit(**how):
        table = pd.DataFrame({"y": y, "g": g})
        return getattr(verbs, verb)("y ~ g", table, prior={"g": given}, **how)

    return fit, known


ALIKE = {
    "logit": (0, lambda t: special.log_expit(-t)),
    "probit": (0, lambda t: stats.norm.logcdf(-t)),
    "poisson": (0, lambda t: -np.exp(t)),
    "cloglog": (0, lambda t: -np.exp(t)),
}


def all_alike(verb, n=12):
    """An intercept, outcomes that are all zero, a normal prior."""
    y, one = ALIKE[verb]

    def known():
        grid = np.linspace(-25, 8, 60_001)
        return Known.of_grid({"Intercept": grid}, n * one(grid) - 0.5 * (grid / 2.5) ** 2)

    table = pd.DataFrame({"y": np.full(n, y)})
    return lambda **how: getattr(verbs, verb)("y ~ 1", table, **how), known


def least_squares(n, d):
    """Flat priors: coefficients are t with n - d - 1 degrees of freedom, RSS / sigma^2 is chi2."""
    rng = np.random.default_rng(n + d)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    names = ["Intercept", *(f"x{j}" for j in range(1, d))]
    y = X @ rng.normal(size=d) + rng.normal(size=n)

    def known():
        inverse, df = np.linalg.inv(X.T @ X), n - d - 1
        centre = inverse @ X.T @ y
        rss = ((y - X @ centre) ** 2).sum()
        scale = np.sqrt(rss / df * np.diag(inverse))
        laws = {name: stats.t(df, m, s) for name, m, s in zip(names, centre, scale)}
        return Known.of_laws(laws)

    table = pd.DataFrame(X[:, 1:], columns=names[1:]).assign(y=y)
    text = "y ~ " + (" + ".join(names[1:]) or "1")
    return lambda **how: sgmc.ols(text, table, prior="flat", **how), known


# name: fit(**how), and what is known
# ---- estimates of studies whose standard errors are known ----------------------------------------

STUDIES = {
    "schools": SCHOOLS,
    "vaccine": vaccine(),
    "two": SCHOOLS.head(2),
    "alike": SCHOOLS.assign(effect=SCHOOLS.effect / 20),
}
POINTS = 400  # of a grid in either direction


def studies(frame):
    """A random-effects meta-analysis, and what is known of it."""

    def fit(**how):
        return sgmc.ols("effect ~ 1 + (1 | study)", frame, se="se", **how)

    def known():
        y, variance = frame.effect.to_numpy(), frame.se.to_numpy() ** 2
        unit = y.std()
        truth = exact(frame)
        mu = truth.mu[0] + truth.mu[1] * np.linspace(-12, 12, POINTS)
        tau = np.linspace(0, truth.tau[0] + 30 * truth.tau[1], 4 * POINTS)
        spread = np.sqrt(variance + tau[:, None] ** 2)
        log_p = stats.norm.logpdf(mu, y.mean(), 2.5 * unit)[:, None] + stats.t.logpdf(
            tau, 3, scale=2.5 * unit
        )
        for j in range(len(y)):
            log_p = log_p + stats.norm.logpdf(y[j], mu[:, None], spread[:, j])
        return Known.of_grid({"Intercept": mu, "sd(1|study)": tau}, log_p, 1 / (3 + len(y)))

    return fit, known


SMALL = {
    **{f"separated slope, {p}": separated_slope(p) for p in PRIORS},
    **{f"separated level, {p}": rare_level(p) for p in PRIORS},
    **{f"level of zeros, {p}": rare_level(p, "poisson") for p in PRIORS},
    **{f"all alike, {verb}": all_alike(verb) for verb in ALIKE},
    **{
        f"least squares, {n} x {d}": least_squares(n, d)
        for n, d in ((4, 2), (5, 1), (6, 2), (8, 2), (12, 8), (15, 3), (30, 3), (200, 20))
    },
    **{f"studies, {name}": studies(frame) for name, frame in STUDIES.items()},
}


# ---- improper: a fit must refuse, or not be trusted ----------------------------------------------


def improper():
    """Name: a fit of a posterior that has no integral."""
    rng = np.random.default_rng(0)
    n = 300
    a, b, x = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.normal(size=n)
    either = rng.integers(0, 2, n)
    binary = pd.DataFrame(
        {
            "x": x,
            "a": a,
            "b": b,
            "y": (x > 0).astype(int),
            "sum": np.where(a + b == 2, 1, np.where(a + b == 0, 0, either)),
            "level": np.where(a == 1, 1, either),
            "counts": np.where(a == 1, 0, rng.poisson(1.0, n)),
            "ones": 1,
            "kind": np.where(a == 1, rng.integers(0, 2, n), rng.integers(0, 3, n)),
        }
    )
    flat = {"prior": "flat"}
    slope_alone = {"prior": {"x": "flat", "Intercept": sgmc.normal(0, 2.5)}}
    few = pd.DataFrame({"x": [0.0, 1, 2], "y": [0.1, 1.3, 1.9]})
    return {
        "separated, flat": lambda **how: sgmc.logit("y ~ x", binary, **flat, **how),
        "separated, flat slope": lambda **how: sgmc.logit("y ~ x", binary, **slope_alone, **how),
        "probit, separated, flat": lambda **how: sgmc.probit("y ~ x", binary, **flat, **how),
        "two columns, flat": lambda **how: sgmc.logit("sum ~ a + b", binary, **flat, **how),
        "level of ones, flat": lambda **how: sgmc.logit("level ~ a", binary, **flat, **how),
        "level of zeros, flat": lambda **how: sgmc.poisson("counts ~ a", binary, **flat, **how),
        "all ones, flat": lambda **how: sgmc.logit("ones ~ x", binary, **flat, **how),
        "empty cell, flat": lambda **how: sgmc.mnlogit("kind ~ a", binary, **flat, **how),
        "three rows, flat": lambda **how: sgmc.ols("y ~ x", few, **flat, **how),
    }


IMPROPER = improper()
