"""Tables of counts with zeros of their own, and posteriors of them by importance sampling in numpy
alone.
"""

from functools import cache

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import special, stats

import sgmc
from tests.prior_scales import prior_scales

from ..importance import around_the_mode

VERBS = ["zeroinflated", "hurdle"]
DISTS = ["poisson", "negativebinomial"]


def simulated(verb, dist, n=1000, seed=3, alpha=0.7):
    """Counts by a number and a factor, zeros by another number, an exposure."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(1, 1, n), "z": rng.normal(size=n)})
    frame["g"] = rng.choice(["u", "v"], n)
    frame["e"] = rng.uniform(0.5, 2, n)
    mu = frame.e * np.exp(0.8 + 0.4 * frame.x - 0.5 * (frame.g == "v"))
    none = rng.random(n) < special.expit(-0.4 + 0.9 * frame.z)
    count = np.zeros(n)
    while (count == 0).any():  # positive counts by rejection; the first ones are kept
        rate = mu if dist == "poisson" else mu * alpha * rng.gamma(1 / alpha, size=n)
        new = rng.poisson(rate)
        count = np.where(count == 0, new, count)
        if verb == "zeroinflated":
            break
    return frame.assign(y=np.where(none, 0, count).astype(int))


def randhie():
    """Visits to doctors, every seventh of 20,190 person-years: 30 % zeros."""
    frame = sm.datasets.randhie.load_pandas().data[::7].reset_index(drop=True)
    return frame[["mdvis", "lncoins", "idp", "hlthp"]]


CASES = {
    "zip": ("zeroinflated", "poisson", "y ~ g + x | z", "e"),
    "zinb": ("zeroinflated", "negativebinomial", "y ~ g + x | z", "e"),
    "hurdle": ("hurdle", "poisson", "y ~ g + x | z", "e"),
    "hurdle nb": ("hurdle", "negativebinomial", "y ~ g + x | z", "e"),
    "randhie": ("hurdle", "negativebinomial", "mdvis ~ lncoins + idp | lncoins + hlthp", None),
}


def table(name):
    """Of a case."""
    verb, dist, *_ = CASES[name]
    return randhie() if name == "randhie" else simulated(verb, dist)


@cache
def fitted(name):
    """The fit at default settings."""
    verb, dist, formula, exposure = CASES[name]
    return getattr(sgmc, verb)(formula, table(name), dist=dist, exposure=exposure, seed=1)


def designs(name):
    """Columns of the count and of the zeros without intercepts, outcomes, log exposure."""
    frame = table(name)
    if name == "randhie":
        X, Z = frame[["lncoins", "idp"]], frame[["lncoins", "hlthp"]]
        return X.to_numpy(float), Z.to_numpy(float), frame.mdvis.to_numpy(float), 0.0
    X = np.column_stack([frame.g == "v", frame.x]).astype(float)
    return X, frame[["z"]].to_numpy(), frame.y.to_numpy(float), np.log(frame.e.to_numpy())


def log_likelihood(verb, dist, y, eta, zeta, alpha):
    """log p of counts (n,), at linear predictors (m, n) and alpha (m, 1)."""
    mu = np.exp(eta)
    if dist == "poisson":
        count, none = y * eta - mu - special.gammaln(y + 1), -mu
    else:
        a, spread = 1 / alpha, np.log1p(alpha * mu)
        count = special.gammaln(y + a) - special.gammaln(a) - special.gammaln(y + 1)
        count = count + y * (np.log(alpha) + eta - spread) - a * spread
        none = -a * spread
    own, other = special.log_expit(zeta), special.log_expit(-zeta)
    if verb == "hurdle":
        return np.where(y == 0, own, other + count - np.log(-np.expm1(none)))
    return np.where(y == 0, np.logaddexp(own, other + none), other + count)


def log_posterior(name, jacobian=True):
    """log p of (coefficients of both parts with intercepts first, log alpha) at points (m, k), by
    the formulas of the documentation; `jacobian=False` is a mistake.
    """
    verb, dist, *_ = CASES[name]
    X, Z, y, offset = designs(name)
    d, k = X.shape[1] + 1, Z.shape[1] + 1

    def value(points):
        b, g = points[:, :d], points[:, d : d + k]
        eta = b[:, :1] + b[:, 1:] @ X.T + offset
        zeta = g[:, :1] + g[:, 1:] @ Z.T
        alpha = np.exp(points[:, d + k :])
        total = log_likelihood(verb, dist, y, eta, zeta, alpha).sum(axis=1)
        for slopes, own in ((b, X), (g, Z)):
            total += stats.norm.logpdf(slopes[:, 1:], 0, 2.5 / prior_scales(own)).sum(axis=1)
            total += stats.norm.logpdf(slopes[:, 0] + slopes[:, 1:] @ own.mean(axis=0), 0, 2.5)
        if dist == "negativebinomial":
            total += -alpha[:, 0] + (points[:, -1] if jacobian else 0.0)
        return total

    return value, d + k, dist == "negativebinomial"


@cache
def reference(name, jacobian=True):
    """Means and sds of the parameters as they are printed, by importance sampling from a t
    distribution around the mode; and the effective number of draws.
    """
    value, d, dispersed = log_posterior(name, jacobian)
    X, Z, *_ = designs(name)
    size = np.concatenate([[1], 1 / X.std(axis=0), [1], 1 / Z.std(axis=0), [1] * dispersed])
    points, w = around_the_mode(value, np.zeros(d + dispersed), size, draws=60_000)
    if dispersed:
        points[:, -1] = np.exp(points[:, -1])
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()
