"""Tables of ordered outcomes, and posteriors of them by importance sampling in numpy alone."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import optimize, special, stats

import sgmc

DISTRIBUTIONS = {"logit": special.expit, "probit": special.ndtr}
DRAWS, DF = 20_000, 8.0  # of the reference; degrees of freedom of its proposals

# housing of R's MASS: counts of satisfaction by influence, type and contact, the first varies
# fastest (Madsen 1976; Venables & Ripley 2002, section 7.3)
COUNTS = """21 21 28 34 22 36 10 11 36 61 23 17 43 35 40 26 18 54 13 9 10 8 8 12 6 7 9 18 6 7 15 13
13 7 5 11 14 19 37 17 23 40 3 5 23 78 46 43 48 45 86 15 25 62 20 23 20 10 22 24 7 10 21 57 23 13 31
21 13 5 6 13"""
HOUSING = {
    "Cont": ["Low", "High"],
    "Type": ["Tower", "Apartment", "Atrium", "Terrace"],
    "Infl": ["Low", "Medium", "High"],
    "Sat": ["Low", "Medium", "High"],
}


def housing():
    """The table with a row for each count, `Freq`."""
    frame = pd.DataFrame(list(itertools.product(*HOUSING.values())), columns=list(HOUSING))
    for name, levels in HOUSING.items():
        frame[name] = pd.Categorical(frame[name], levels, ordered=name == "Sat")
    return frame.assign(Freq=[int(count) for count in COUNTS.split()])


def large(link, n=8_000):
    """A large simulated table with five levels."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(3, 2, n)})
    error = {"logit": rng.logistic, "probit": rng.normal}[link](size=n)
    codes = np.searchsorted([-3, -1, 0.5, 1], 0.8 * frame.x - 0.4 * frame.z + error)
    return frame.assign(y=pd.Categorical.from_codes(codes, list("abcde"), ordered=True))


def anes96():
    """Party identification in seven levels, 944 voters."""
    return sm.datasets.anes96.load_pandas().data


def small():
    """120 rows of four levels, one of which is rare; a factor, a number."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"x": rng.normal(size=120), "g": np.array(["u", "v"])[np.arange(120) % 2]})
    latent = frame.x + 0.7 * (frame.g == "v") + rng.normal(size=120)
    codes = np.searchsorted([-0.6, 0.4, 0.45], latent)
    return frame.assign(y=pd.Categorical.from_codes(codes, ["no", "low", "mid", "high"], True))


CASES = {
    "anes96": (anes96, "PID ~ logpopul + age + educ + income", "logit"),
    "small": (small, "y ~ g + x", "probit"),
}


@cache
def fitted(name):
    """The fit at default settings."""
    frame, formula, link = CASES[name]
    return sgmc.ordinal(formula, frame(), link=link, seed=1)


def columns(name):
    """The design without an intercept, codes of the outcomes, and the link."""
    frame, _, link = CASES[name]
    frame = frame()
    if name == "anes96":
        return (
            frame[["logpopul", "age", "educ", "income"]].to_numpy(),
            frame.PID.to_numpy(int),
            link,
        )
    X = np.column_stack([frame.g == "v", frame.x]).astype(float)
    return X, frame.y.cat.codes.to_numpy(int), link


def log_posterior(name, jacobian=True):
    """log p of (slopes, first threshold, logs of gaps), at points (m, k), by the formulas of the
    documentation; `jacobian=False` is a mistake.
    """
    X, y, link = columns(name)
    F, d, K = DISTRIBUTIONS[link], X.shape[1], y.max() + 1
    scale, mean = 2.5 / X.std(axis=0, ddof=1), X.mean(axis=0)

    def value(points):
        slopes, first, u = points[:, :d], points[:, d], points[:, d + 1 :]
        gaps = np.exp(u)
        cuts = np.column_stack([first, first[:, None] + np.cumsum(gaps, axis=1)])
        cuts = np.column_stack([np.full(len(u), -np.inf), cuts, np.full(len(u), np.inf)])
        eta = slopes @ X.T
        total = np.zeros(len(points))
        for k in range(K):
            rows = y == k
            p = F(cuts[:, k + 1, None] - eta[:, rows]) - F(cuts[:, k, None] - eta[:, rows])
            total += np.log(np.maximum(p, 1e-300)).sum(axis=1)
        total += stats.norm.logpdf(slopes, 0, scale).sum(axis=1)
        total += stats.norm.logpdf(-first + slopes @ mean, 0, 2.5)  # at centred predictors
        return total - gaps.sum(axis=1) / 2.5 + (u.sum(axis=1) if jacobian else 0.0)

    return value, d, K


@cache
def reference(name, jacobian=True):
    """Means and sds of slopes and thresholds, by importance sampling from a t distribution around
    the mode; and the effective number of draws.
    """
    value, d, K = log_posterior(name, jacobian)
    start = np.zeros(d + K - 1)
    start[d] = -1.0
    for _ in range(3):  # quasi-Newton by differences stops early
        start = optimize.minimize(lambda t: -value(t[None])[0], start, method="BFGS").x
    steps = 1e-3 * np.eye(len(start)) * np.append(1 / columns(name)[0].std(axis=0), np.ones(K - 1))

    def slope(at):
        return (value(at + steps) - value(at - steps)) / 2

    curvature = np.array([slope(start - e) - slope(start + e) for e in steps]) / 2
    size = np.diag(steps)
    root = np.linalg.cholesky(np.linalg.inv((curvature + curvature.T) / 2)) * size[:, None]
    rng = np.random.default_rng(1)
    z = rng.normal(size=(DRAWS, len(start)))
    z *= np.sqrt(DF / rng.chisquare(DF, DRAWS))[:, None]
    points = start + z @ root.T
    log_w = np.concatenate([value(part) for part in np.array_split(points, 40)])
    log_w += (DF + len(start)) / 2 * np.log1p((z**2).sum(axis=1) / DF)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    points[:, d + 1 :] = points[:, d, None] + np.cumsum(np.exp(points[:, d + 1 :]), axis=1)
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()
