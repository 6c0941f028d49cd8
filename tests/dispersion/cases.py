"""Tables of counts whose dispersion has predictors, and their posteriors by importance sampling in
numpy alone.
"""

from functools import cache

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import special, stats

import sgmc
from tests.prior_scales import prior_scales

from ..families.tables import FOLDER
from ..importance import around_the_mode

TRUE = {
    "Intercept": 0.8,
    "g[T.v]": -0.5,
    "x": 0.4,
    "dispersion:Intercept": -0.6,
    "dispersion:g[T.v]": 0.7,
    "dispersion:z": 0.5,
}


def simulated(n=600, seed=3):
    """Counts by a number and a factor, dispersions by another number and the factor, an
    exposure.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(1, 1, n), "z": rng.normal(size=n)})
    frame["g"] = rng.choice(["u", "v"], n)
    frame["e"] = rng.uniform(0.5, 2, n)
    b, v = list(TRUE.values()), frame.g == "v"
    mu = frame.e * np.exp(b[0] + b[1] * v + b[2] * frame.x)
    alpha = np.exp(b[3] + b[4] * v + b[5] * frame.z)
    return frame.assign(y=rng.poisson(mu * alpha * rng.gamma(1 / alpha)))


def randhie():
    """Visits to doctors, every seventh of 20,190 person-years."""
    frame = sm.datasets.randhie.load_pandas().data[::7].reset_index(drop=True)
    return frame[["mdvis", "lncoins", "idp", "physlm"]]


def quine():
    """Days that 146 children were absent from school (Venables & Ripley 2002)."""
    return pd.read_csv(FOLDER / "MASS_quine.csv")


TIGHT = 0.3  # sd of slopes
CASES = {
    "simulated": ("y ~ g + x | g + z", "e", None),
    "randhie": ("mdvis ~ lncoins + idp | lncoins + physlm", None, None),
    "quine": ("Days ~ Eth + Sex | Age", None, None),
    "tight": ("y ~ x | z", "e", {"*": sgmc.normal(0, TIGHT)}),
}


@cache
def table(name):
    """Of a case."""
    real = {"randhie": randhie, "quine": quine}
    return real[name]() if name in real else simulated(200 if name == "tight" else 600)


@cache
def fitted(name):
    """The fit at default settings."""
    formula, exposure, prior = CASES[name]
    return sgmc.negativebinomial(formula, table(name), exposure=exposure, prior=prior, seed=1)


def designs(name):
    """Columns of the mean and of the dispersion without intercepts, outcomes, log exposure."""
    frame = table(name)
    if name == "randhie":
        X, Z = frame[["lncoins", "idp"]], frame[["lncoins", "physlm"]]
        return X.to_numpy(float), Z.to_numpy(float), frame.mdvis.to_numpy(float), 0.0
    if name == "quine":
        X = [frame.Eth == "N", frame.Sex == "M"]
        Z = [frame.Age == one for one in ("F1", "F2", "F3")]
        X, Z = (np.column_stack(columns).astype(float) for columns in (X, Z))
        return X, Z, frame.Days.to_numpy(float), 0.0
    g = [frame.g == "v"] if name == "simulated" else []
    X, Z = (np.column_stack([*g, frame[k]]).astype(float) for k in "xz")
    return X, Z, frame.y.to_numpy(float), np.log(frame.e.to_numpy())


def log_posterior(name, exchanged=False, sign=1, prior=True):
    """log p of both parts' coefficients, intercepts first, at points (m, k), by the formulas of the
    documentation.

    Mistakes: ``exchanged`` parts, the ``sign`` of the second part turned, no ``prior``.
    """
    X, Z, y, offset = designs(name)
    d = X.shape[1] + 1

    def value(points):
        b, g = points[:, :d], points[:, d:]
        eta, zeta = b[:, :1] + b[:, 1:] @ X.T, g[:, :1] + g[:, 1:] @ Z.T
        eta, zeta = (zeta, eta) if exchanged else (eta, sign * zeta)
        eta, a = eta + offset, np.exp(-zeta)
        total = special.gammaln(y + a) - special.gammaln(a) - special.gammaln(y + 1)
        total += a * special.log_expit(-eta - zeta) + y * special.log_expit(eta + zeta)
        total = total.sum(axis=1)
        for slopes, own in ((b, X), (g, Z)) if prior else ():
            sd = TIGHT if name == "tight" else 2.5 / prior_scales(own)
            total += stats.norm.logpdf(slopes[:, 1:], 0, sd).sum(axis=1)
            total += stats.norm.logpdf(slopes[:, 0] + slopes[:, 1:] @ own.mean(axis=0), 0, 2.5)
        return total

    return value


@cache
def reference(name, **mistake):
    """Means and sds of the coefficients, and the effective number of draws."""
    X, Z, *_ = designs(name)
    size = np.concatenate([[1], 1 / X.std(axis=0), [1], 1 / Z.std(axis=0)])
    points, w = around_the_mode(log_posterior(name, **mistake), np.zeros(len(size)), size)
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()
