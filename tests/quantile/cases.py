"""Data whose quantiles are known, real data, and quantile regression in plain numpy and scipy."""

from functools import cache

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import optimize, stats

import sgmc

TAUS = (0.1, 0.5, 0.9)


def spreading(n, seed):
    """y = 1 + x - z / 2 + (1 / 2 + x) e, with normal e: its quantiles are planes."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(0, 2, n), rng.normal(size=n)
    return pd.DataFrame({"x": x, "z": z, "y": 1 + x - z / 2 + (0.5 + x) * rng.normal(size=n)})


def truth(tau):
    """The coefficients of its quantile: intercept, x and z."""
    q = stats.norm.ppf(tau)
    return np.array([1 + q / 2, 1 + q, -0.5])


def design(frame, names):
    """The design with a constant, (n, d)."""
    columns = np.column_stack([np.ones(len(frame)), frame[names].to_numpy(dtype=float)])
    return np.ascontiguousarray(columns)


def true_covariance(frame, tau):
    """tau (1 - tau) H^-1 X'X H^-1, H by the density of the errors that the data are made with."""
    X = design(frame, ["x", "z"])
    density = stats.norm.pdf(stats.norm.ppf(tau)) / (0.5 + frame.x.to_numpy())
    inverse = np.linalg.inv((X.T * density) @ X)
    return tau * (1 - tau) * inverse @ (X.T @ X) @ inverse


@cache
def real():
    """Name -> (table, outcome, predictors): Engel's food expenditures, and schools' results."""
    schools = sm.datasets.star98.load_pandas().data
    share = 100 * schools.NABOVE / (schools.NABOVE + schools.NBELOW)
    return {
        "engel": (sm.datasets.engel.load_pandas().data, "foodexp", ["income"]),
        "schools": (schools.assign(share=share), "share", ["LOWINC", "AVYRSEXP"]),
    }


def by_statsmodels(name, tau):
    """statsmodels' fit with one density for all rows, its bandwidth by Hall & Sheather."""
    frame, outcome, predictors = real()[name]
    X = design(frame, predictors)
    return sm.QuantReg(frame[outcome].to_numpy(), X).fit(q=tau, vcov="iid", bandwidth="hsheather")


def fitted(name, tau, **how):
    """The fit here, under flat priors."""
    frame, outcome, predictors = real()[name]
    formula = f"{outcome} ~ {' + '.join(predictors)}"
    how = {"prior": "flat", "seed": 1, "draws": 2000, **how}
    return sgmc.quantreg(formula, frame, tau=tau, **how)


def by_simplex(X, y, tau, weight=None):
    """(coefficients, loss) at the minimum of the check loss, by scipy's linear programming."""
    n, d = X.shape
    w = np.ones(n) if weight is None else weight
    cost = np.concatenate([np.zeros(2 * d), tau * w, (1 - tau) * w])
    equal = np.hstack([X, -X, np.eye(n), -np.eye(n)])
    found = optimize.linprog(cost, A_eq=equal, b_eq=y, method="highs")
    return found.x[:d] - found.x[d : 2 * d], found.fun


def check_loss(residuals, tau, weight=1.0):
    """The sum of the check losses."""
    return float((weight * residuals * (tau - (residuals < 0))).sum())


def powell(X, y, tau):
    """The sandwich with Powell's H, at the bandwidth that `QuantReg` states.

    Scores are tau - s with s = 1(e < 0); of the d rows that the quantile goes through, what makes
    the scores' sum with x zero.
    """
    e = y - X @ by_simplex(X, y, tau)[0]
    quartiles = np.subtract(*np.quantile(e, [0.75, 0.25])) / 1.349
    h = 1.06 * min(e.std(), quartiles) * len(y) ** -0.2
    inverse = np.linalg.inv((X.T * (stats.norm.pdf(e / h) / h)) @ X)
    through = np.argsort(np.abs(e))[: X.shape[1]]
    score = tau - (e < 0)
    score[through] = 0.0
    score[through] = -np.linalg.solve(X[through].T, X.T @ score)
    return inverse @ ((X.T * score**2) @ X) @ inverse
