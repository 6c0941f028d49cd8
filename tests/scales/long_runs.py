"""Independent long runs of regressions with learned scales: Gibbs sampling with explicit local
scales in numpy, coefficients integrated out.

Given local scales, the global parameter and sigma (of logit: Polya-Gamma variables, Polson, Scott &
Windle 2013, doi:10.1080/01621459.2013.829001) coefficients are normal.  Each local scale is drawn
from its conditional density on a grid, the others fixed; the global parameter and sigma move by
Metropolis steps.  ``python -m tests.scales.long_runs`` writes long_runs.json.
"""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np

NODES = {"horseshoe": np.linspace(-18.0, 18.0, 721), "r2d2": np.linspace(-18.0, 2.5, 411)}
TERMS = 200  # of a Polya-Gamma variable's sum; the mean of the rest is added
BURN = 0.1  # of the sweeps
OUT = Path(__file__).with_name("long_runs.json")
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
CASES = {
    "ols-ridge-50": (120, 50, 6000),
    "ols-horseshoe-50": (120, 50, 8000),
    "ols-r2d2-50": (120, 50, 8000),
    "logit-ridge-50": (400, 50, 6000),
    "logit-horseshoe-50": (400, 50, 8000),
    "logit-r2d2-50": (400, 50, 8000),
    "ols-ridge-200": (300, 200, 3000),
    "ols-horseshoe-200": (300, 200, 9000),
    "ols-r2d2-200": (300, 200, 3500),
    "ols-horseshoe-40": (20, 40, 20000),
}
PRECISION = 10.0  # of R^2's prior


def table(family, n, d):
    """Predictors with correlations .6^|i - j|, and outcomes."""
    random = np.random.default_rng(n + d)
    X = random.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    truth = np.zeros(d)
    truth[[0, 4, 9, 14, 21, 30]] = [1.2, -1.0, 0.7, -0.5, 0.35, 0.25]
    eta = 0.4 + X @ truth
    if family == "ols":
        return X, eta + random.normal(size=n)
    return X, (random.random(n) < 1 / (1 + np.exp(-eta))).astype(float)


class Setting:
    """Units and priors as documented.

    Parameters
    ----------
    family : {"ols", "logit"}
    kind : {"ridge", "horseshoe", "r2d2"}
    X, y : array
    """

    def __init__(self, family, kind, X, y):
        n, d = X.shape
        self.family, self.kind, sd = family, kind, X.std(axis=0, ddof=1)
        identity = family == "ols"
        spread = y.std() if identity else 1.0
        self.unit = (spread if kind == "ridge" else 1.0) / sd
        self.noise = identity and kind != "ridge"
        self.slab = 2.5 * spread / sd if kind == "horseshoe" else np.full(d, np.inf)
        self.share = 0.5 if kind == "r2d2" else 1.0
        self.a = 0.5 * PRECISION / d
        self.y, self.centred = y, X - X.mean(axis=0)
        self.design = np.column_stack([np.ones(n), self.centred])
        self.intercept = (y.mean(), 2.5 * spread) if identity else (0.0, 2.5)
        self.spread = spread
        if kind == "horseshoe":
            p = y.mean()
            weight = 1.0 if identity else p * (1 - p)
            told = 1 / np.sqrt(weight * (self.centred**2).sum(axis=0)) * sd
            self.scale = 5 / (d - 5) * np.exp(np.log(told).mean())

    def log_prior(self, g, u):
        """Of the logs of the global parameter and of sigma."""
        value = -np.exp(u) / self.spread + u if self.family == "ols" else 0.0
        if self.kind == "r2d2":
            return value - 0.5 * PRECISION * g - np.exp(-g)
        df, scale = (3, 2.5) if self.kind == "ridge" else (1, self.scale)
        return value + g - (df + 1) / 2 * np.log1p(np.exp(2 * g) / (df * scale**2))

    def log_local(self, v):
        """Of the logs of local scales."""
        if self.kind == "horseshoe":
            return -np.logaddexp(v, -v)
        return 2 * self.a * v - np.exp(2 * v)

    def variance(self, v, g, u):
        """Of all coefficients, or at nodes v (m, 1)."""
        log = self.share * g + v + (u if self.noise else 0.0)
        return 1 / (np.exp(-2 * log) / self.unit**2 + self.slab**-2.0)


def polya_gamma(c, random):
    """PG(1, c)."""
    k = np.arange(1, TERMS + 1) - 0.5
    below = k**2 + (c[:, None] / (2 * np.pi)) ** 2
    rest = 1 / TERMS - (c / (2 * np.pi)) ** 2 / (3 * TERMS**3)
    total = (random.exponential(size=(len(c), TERMS)) / below).sum(axis=1) + rest
    return total / (2 * np.pi**2)


def gaussian(of, v, g, u, weight, linear):
    """Covariance, mean and log evidence of the coefficients."""
    m0, s0 = of.intercept
    prior = np.concatenate([[s0**-2], 1 / of.variance(v, g, u)])
    P = (of.design * weight[:, None]).T @ of.design + np.diag(prior)
    h = of.design.T @ linear
    h[0] += m0 / s0**2
    L = np.linalg.cholesky(P)
    inner = np.linalg.solve(L, h)
    value = 0.5 * np.log(prior).sum() - np.log(np.diag(L)).sum() + 0.5 * inner @ inner
    inverse = np.linalg.inv(L)
    return inverse.T @ inverse, inverse.T @ inner, value


def working(y, omega, u):
    """Precisions of the rows, and these times normal outcomes, given u or Polya-Gamma variables."""
    if omega is None:
        return np.full(len(y), np.exp(-2 * u)), y * np.exp(-2 * u)
    return omega, y - 0.5


def outside(y, omega, u):
    """What of the log density of normal outcomes no coefficient is in."""
    return -len(y) * u - 0.5 * np.exp(-2 * u) * (y @ y) if omega is None else 0.0


def run(case, seed=1):
    """Means, sds and quantiles of one case."""
    family, kind, _ = case.split("-")
    n, d, sweeps = CASES[case]
    random, of = np.random.default_rng(seed), Setting(family, kind, *table(family, n, d))
    v, g, u, y = np.zeros(d), -1.0, np.log(of.spread), of.y
    steps, kept = np.array([0.5, 0.2]), []
    first, second, count = np.zeros(d + 1), np.zeros(d + 1), 0
    beta = np.zeros(d + 1)
    log_local = None if kind == "ridge" else of.log_local(NODES[kind])
    if kind == "r2d2":  # all that is below the grid is zero to the data
        nodes = NODES[kind]
        log_local[0] = 2 * of.a * nodes[0] - np.log(2 * of.a * (nodes[1] - nodes[0]))
    for sweep in range(sweeps):
        omega = polya_gamma(np.abs(of.design @ beta), random) if family == "logit" else None
        moments = partial(working, y, omega)
        now = gaussian(of, v, g, u, *moments(u))
        for k in range(6):
            other_g = g + (steps[0] * random.normal() if k % 2 == 0 else 0.0)
            other_u = u + (steps[1] * random.normal() if k % 2 and family == "ols" else 0.0)
            other = gaussian(of, v, other_g, other_u, *moments(other_u))
            ratio = other[2] + of.log_prior(other_g, other_u) + outside(y, omega, other_u)
            ratio -= now[2] + of.log_prior(g, u) + outside(y, omega, u)
            taken = np.log(random.random()) < ratio
            if taken:
                g, u, now = other_g, other_u, other
            if sweep < BURN * sweeps:
                steps[k % 2] *= np.exp(0.1 * (taken - 0.4))
        cov, mean = now[0], now[1]
        if kind != "ridge":
            for j in random.permutation(d):
                v[j] = one_local(of, j, v, g, u, cov, mean, log_local, random)
        cov, mean, _ = gaussian(of, v, g, u, *moments(u))
        beta = mean + np.linalg.cholesky(cov) @ random.normal(size=d + 1)
        if sweep >= BURN * sweeps:
            first += mean
            second += mean**2 + np.diag(cov)
            count += 1
            kept.append([g, u])
    mean = first / count
    sd = np.sqrt(second / count - mean**2)
    g, u = np.array(kept).T
    return {
        "mean": [float(f"{x:.6g}") for x in mean[1:]],
        "sd": [float(f"{x:.6g}") for x in sd[1:]],
        "global": [float(f"{x:.6g}") for x in np.exp(np.quantile(g, LEVELS))],
        "sigma": [float(f"{x:.6g}") for x in np.exp(np.quantile(u, LEVELS))],
        "effective": float(f"{effective(g):.3g}"),
    }


def one_local(of, j, v, g, u, cov, mean, log_local, random):
    """A draw of v_j given the others; `cov` and `mean` are brought along."""
    i, nodes = j + 1, NODES[of.kind]
    each = 1 / (
        np.exp(-2 * (of.share * g + nodes + (u if of.noise else 0.0))) / of.unit[j] ** 2
        + of.slab[j] ** -2.0
    )
    own = of.variance(v, g, u)[j]
    h = 1 / max(1 / cov[i, i] - 1 / own, 1e-12)
    place = h * mean[i] / cov[i, i]
    total = each + h
    log = log_local - 0.5 * np.log(total) - 0.5 * place**2 / total
    weight = np.cumsum(np.exp(log - log.max()))
    k = np.searchsorted(weight, random.random() * weight[-1])
    change = 1 / each[k] - 1 / own
    column = cov[:, i].copy()
    gain = change / (1 + change * column[i])
    mean -= gain * mean[i] * column
    cov -= gain * np.outer(column, column)
    return nodes[k]


def effective(x):
    """Effective size by Geyer's initial positive sequence."""
    x = x - x.mean()
    n = len(x)
    f = np.fft.rfft(x, 2 * n)
    acf = np.fft.irfft(f * f.conj())[:n] / (x @ x)
    pairs = acf[0 : n - 1 : 2] + acf[1:n:2]
    end = np.argmax(pairs < 0) if (pairs < 0).any() else len(pairs)
    return n / max(2 * pairs[:end].sum() - 1, 1e-9)


if __name__ == "__main__":
    found = json.loads(OUT.read_text()) if OUT.exists() else {}
    for case in sys.argv[1:] or CASES:
        found[case] = run(case)
        print(case, found[case]["global"], found[case]["effective"], flush=True)
        OUT.write_text(json.dumps(found, indent=0) + "\n")
