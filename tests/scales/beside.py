"""Priors with learned scales beside effects of groups, by means that share nothing with the
package: the log density in plain numpy, sums over a grid, and HMC.

``python -m tests.scales.beside`` writes beside.json, what HMC has of `logistic`.
"""

import json
from pathlib import Path

import numpy as np
from scipy import special, stats

from tests.mixed.hmc import sample

LEVELS = np.array([0.05, 0.5, 0.95])
DF, WIDE = 3, 2.5  # of a ridge's sd, and of sds of effects
TAU, SLAB = 0.3, 2.5  # horseshoe(scale=TAU, slab=SLAB)
SHARE, PRECISION = 0.5, 2.0  # r2d2(mean=SHARE, precision=PRECISION)


class Scales:
    """What scales of k coefficients are made of, and their priors.

    Parameters
    ----------
    kind : {"ridge", "horseshoe", "r2d2"}
    sds : array (k,)
        Of the columns.
    unit : float
        sd of the outcomes, 1 where they have none.
    """

    def __init__(self, kind, sds, unit):
        self.kind, self.k = kind, len(sds)
        self.unit = (unit if kind == "ridge" else 1.0) / sds
        self.slab = SLAB * unit / sds if kind == "horseshoe" else np.full(self.k, np.inf)
        self.locals, self.share = kind != "ridge", 0.5 if kind == "r2d2" else 1.0
        self.noise = kind != "ridge"  # in units of sigma, where there is one
        self.a = SHARE * PRECISION / self.k

    def variances(self, g, v, log_sigma=0.0):
        """Of the coefficients, for logs of the global parameter and of local scales."""
        log = self.share * g + v + (log_sigma if self.noise else 0.0)
        return 1 / (np.exp(-2 * log) / self.unit**2 + self.slab**-2.0)

    def log_global(self, g):
        """Log density of g, with its slope."""
        if self.kind == "r2d2":
            df = (1 - SHARE) * PRECISION
            return stats.invgamma.logpdf(np.exp(g), df) + g, np.exp(-g) - df
        df, scale = (DF, WIDE) if self.kind == "ridge" else (1, TAU)
        square = np.exp(2 * g) / scale**2
        return stats.t.logpdf(np.exp(g), df, 0, scale) + g, 1 - (df + 1) * square / (df + square)

    def log_local(self, v):
        """Log density of v, with its slope; v is zero without local scales."""
        if self.kind == "horseshoe":
            return np.log(2 / np.pi) - np.logaddexp(v, -v), -np.tanh(v)
        if self.kind == "r2d2":
            value = np.log(2) + 2 * self.a * v - np.exp(2 * v) - special.gammaln(self.a)
            return value, 2 * self.a - 2 * np.exp(2 * v)
        return np.zeros_like(v), np.zeros_like(v)


def log_density(verb, scales, X, y, codes, theta, scale, heed=True, factor=1.0):
    """Log density of (beta, effects, phi, v, g, u): phi are arsinh(sd / scale), u the log of sigma;
    mistakes are planted without the global parameter's prior, or by a `factor` of the scales.
    """
    d, rest = X.shape[1] + 1, theta
    beta, rest = rest[:d], rest[d:]
    eta, effects = beta[0] + (X - X.mean(axis=0)) @ beta[1:], []
    for code in codes:
        b, rest = rest[: code.max() + 1], rest[code.max() + 1 :]
        eta, effects = eta + b[code], [*effects, b]
    phi, rest = rest[: len(codes)], rest[len(codes) :]
    v, rest = (rest[: scales.k], rest[scales.k :]) if scales.locals else (np.zeros(scales.k), rest)
    g, u = rest[0], rest[1] if verb == "ols" else 0.0
    unit, middle = (y.std(), y.mean()) if verb == "ols" else (1.0, 0.0)
    if verb == "ols":
        value = stats.norm.logpdf(y, eta, np.exp(u)).sum()
        value += stats.expon.logpdf(np.exp(u), scale=unit) + u
    else:
        value = (y * eta - np.logaddexp(0, eta)).sum()
    value += stats.norm.logpdf(beta[0], middle, WIDE * unit)
    sds = scale * np.sinh(phi)
    value += (stats.t.logpdf(sds, DF, 0, WIDE * unit) + np.log(scale * np.cosh(phi))).sum()
    value += sum(stats.norm.logpdf(b, 0, abs(sd)).sum() for b, sd in zip(effects, sds))
    sds = factor * np.sqrt(scales.variances(g, v, u))
    value += stats.norm.logpdf(beta[1:], 0, sds).sum() + scales.log_local(v)[0].sum()
    return value + heed * scales.log_global(g)[0]


def by_grid(scales, grid, heed=True):
    """Means and sds of two coefficients and of the sd of (1 | g), and quantiles of the global
    parameter, by `cells_of_grid`; without `heed` its prior is left out.
    """
    found, g = grid
    tops, cells = np.split(found, [1], axis=1)
    own = scales.log_global(g)[0] if heed else np.zeros(len(g))
    tops = tops + np.tile(own, len(tops) // len(g))[:, None]
    cells = np.exp(tops - tops.max()) * cells
    of_g, total = cells[:, 0].reshape(-1, len(g)).sum(axis=0), cells[:, 0].sum()
    moments = cells[:, 1:].sum(axis=0)
    mean, square = (moments / total)[[0, 1, 4]], (moments / total)[[2, 3, 5]]
    at = np.interp(LEVELS, (np.cumsum(of_g) - 0.5 * of_g) / total, g)
    return mean, np.sqrt(square - mean**2), np.exp(at)


def cells_of_grid(scales, X, y, code, sigma, factor=1.0):
    """For each pair of an sd of (1 | g) and a log of the global parameter, whose prior is left out:
    a log factor, the mass, and moments of two coefficients and of the sd; and these logs.  Outcomes
    are normal with a known sigma; a `factor` of the scales is a mistake.
    """
    n, unit = len(y), y.std()
    columns = np.column_stack([np.ones(n), X - X.mean(axis=0)])
    e, g = y - y.mean(), np.linspace(*((-9, 4) if scales.share == 1 else (-7, 9)), 66)
    v = np.linspace(*((-9, 9) if scales.kind == "horseshoe" else (-14, 2)), 65)
    v = v if scales.locals else np.zeros(1)
    log_v, (first, second) = scales.log_local(v)[0], np.meshgrid(v, v, indexing="ij")
    found = []
    for log_sd in np.linspace(-4, 2.5, 40):
        sd = np.exp(log_sd)
        Z = code[:, None] == np.arange(code.max() + 1)
        V = sigma**2 * np.eye(n) + sd**2 * (Z @ Z.T)
        inverse = np.linalg.inv(V)
        P, c = columns.T @ inverse @ columns, columns.T @ inverse @ e
        P[0, 0] += 1 / (WIDE * unit) ** 2
        log_y = -0.5 * (np.linalg.slogdet(V)[1] + e @ inverse @ e - c[0] ** 2 / P[0, 0])
        log_y += -0.5 * np.log(P[0, 0]) + stats.t.logpdf(sd, DF, 0, WIDE * unit) + log_sd
        S = P[1:, 1:] - np.outer(P[1:, 0], P[0, 1:]) / P[0, 0]  # the intercept integrated out
        h = c[1:] - P[1:, 0] * c[0] / P[0, 0]
        for one in g:
            both = np.stack([first, second], axis=-1)
            s = factor**2 * scales.variances(one, both, np.log(sigma))
            a, b, m = S[0, 0] + 1 / s[..., 0], S[1, 1] + 1 / s[..., 1], S[0, 1]
            det = a * b - m * m
            means = np.stack([b * h[0] - m * h[1], a * h[1] - m * h[0]], -1) / det[..., None]
            log = log_y + log_v[:, None] + log_v + 0.5 * means @ h
            log = log - 0.5 * np.log(det * s[..., 0] * s[..., 1])
            top = log.max()
            weight = np.exp(log - top)
            squares = means**2 + np.stack([b, a], -1) / det[..., None]
            own = weight.sum()
            each = [np.einsum("ij,ijk->k", weight, of) for of in (means, squares)]
            found.append([top, own, *each[0], *each[1], own * sd, own * sd**2])
    return np.array(found), g


class Logit:
    """The log density of logistic regressions with (1 | g), as `tests.mixed.hmc.sample` takes it:
    of (intercept, z, e, sd, v, g) with coefficients s z and effects sd e.

    Parameters
    ----------
    scales : Scales
    X, y, code : array
    """

    def __init__(self, scales, X, y, code):
        self.scales, self.X, self.y, self.code = scales, X - X.mean(axis=0), y, code
        self.Z = (code[:, None] == np.arange(code.max() + 1)).astype(float)
        self.k, self.levels = X.shape[1], self.Z.shape[1]
        self.dim = 1 + self.k + self.levels + 1 + self.k * scales.locals + 1

    def start(self, chains, rng):
        """Points near zero."""
        return 0.3 * rng.normal(size=(chains, self.dim))

    def parts(self, x):
        """Intercepts, z, e, sds, v and g."""
        ends = np.cumsum([1, self.k, self.levels, 1, self.k * self.scales.locals])
        a, z, e, sd, v, g = np.split(x, ends, axis=1)
        return a, z, e, sd, v if self.scales.locals else np.zeros((len(x), self.k)), g

    def __call__(self, x):
        """Log densities (c,) and gradients (c, dim)."""
        a, z, e, sd, v, g = self.parts(x)
        of = self.scales
        s = np.sqrt(of.variances(g, v))
        eta = a + (s * z) @ self.X.T + (sd * e) @ self.Z.T
        value = (self.y * eta - np.logaddexp(0, eta)).sum(axis=1)
        slope = self.y - special.expit(eta)
        by_b, by_e = slope @ self.X, slope @ self.Z
        (log_g, by_g), (log_v, by_v) = of.log_global(g), of.log_local(v)
        t = sd / WIDE
        value = value - 0.5 * (a / WIDE)[:, 0] ** 2 - 0.5 * (z**2).sum(axis=1)
        value = value - 0.5 * (e**2).sum(axis=1) - 0.5 * (DF + 1) * np.log1p(t**2 / DF)[:, 0]
        value = value + log_g[:, 0] + log_v.sum(axis=1)
        # by the log of what the slab bounds
        by_log = by_b * s * z * s**2 * np.exp(-2 * (of.share * g + v)) / of.unit**2
        out = [
            slope.sum(axis=1, keepdims=True) - a / WIDE**2,
            by_b * s - z,
            by_e * sd - e,
            (by_e * e).sum(axis=1, keepdims=True) - (DF + 1) * t / (DF + t**2) / WIDE,
        ]
        if of.locals:
            out.append(by_log + by_v)
        out.append(of.share * by_log.sum(axis=1, keepdims=True) + by_g)
        return value, np.concatenate(out, axis=1)

    def natural(self, x):
        """Coefficients, the sd of the effects, the log of the global parameter."""
        a, z, _, sd, v, g = self.parts(x)
        return np.concatenate([a, np.sqrt(self.scales.variances(g, v)) * z, abs(sd), g], axis=1)


def logistic():
    """X, outcomes and levels of a logistic regression."""
    random = np.random.default_rng(8)
    n, levels = 300, 10
    X = random.normal(size=(n, 2)) * [1, 3]
    X[:, 1] += 1.5 * X[:, 0]
    code = np.arange(n) % levels
    eta = 0.5 * X[:, 0] + 0.02 * X[:, 1] + 0.7 * random.normal(size=levels)[code]
    return X, (eta + random.logistic(size=n) > 0) * 1.0, code


def long_runs():
    """Means and sds of both coefficients and of the sd, and quantiles of the global parameter."""
    X, y, code = logistic()
    found = {}
    for kind in ("ridge", "horseshoe", "r2d2"):
        joint = Logit(Scales(kind, X.std(axis=0, ddof=1), 1.0), X, y, code)
        draws = sample(joint, 2000, chains=64, seed=1).reshape(-1, 5)
        found[kind] = {
            "mean": draws[:, 1:4].mean(axis=0).tolist(),
            "sd": draws[:, 1:4].std(axis=0).tolist(),
            "quantiles": np.exp(np.quantile(draws[:, 4], LEVELS)).tolist(),
        }
    return found


if __name__ == "__main__":
    Path(__file__).with_name("beside.json").write_text(json.dumps(long_runs(), indent=1) + "\n")
