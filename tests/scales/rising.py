"""Monotonic effects beside priors with learned scales, by means that share nothing with the
package: the log density in plain numpy, and HMC over a sum of increments and its shares.

``python -m tests.scales.rising`` writes rising.json, what HMC has of each case.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special, stats

from tests.mixed.hmc import sample

from .beside import DF, LEVELS, WIDE, Scales

KINDS = "ridge", "horseshoe", "r2d2"
STEPS = 3  # increments
NAMES = ["mo(x)[1]", "mo(x)[2]", "mo(x)[3]", "z", "w"]
VERBS = {"ols": "y", "logit": "k"}
HELD = Path(__file__).with_name("rising.json")


def table():
    """Rows of a predictor with four levels, two numbers, labels, and outcomes."""
    random = np.random.default_rng(6)
    n = 120
    frame = pd.DataFrame({"x": random.integers(0, 4, n), "g": random.integers(0, 8, n)})
    frame["z"] = random.normal(size=n)
    frame["w"] = 3 * random.normal(size=n) + 1.5 * frame.z + 0.8 * frame.x
    eta = (
        np.array([0, 0.2, 0.3, 0.9])[frame.x] + 0.4 * frame.z + 0.5 * random.normal(size=8)[frame.g]
    )
    frame["y"] = eta + random.normal(size=n)
    frame["k"] = (eta - 0.6 + random.logistic(size=n) > 0) * 1.0
    return frame


def unit_of(verb):
    """What default priors are in units of."""
    return table().y.std(ddof=0) if verb == "ols" else 1.0


class Rising:
    """The log density as `tests.mixed.hmc.sample` takes it: of (intercept, b, logits of shares, z,
    e, sd, v, g, log sigma) with coefficients s z and, beside groups, effects sd e.

    Parameters
    ----------
    kind : {"ridge", "horseshoe", "r2d2"}
    verb : {"ols", "logit"}
    groups : bool
    total : float, optional
        sd of the prior of b, in the unit of default priors.
    """

    def __init__(self, kind, verb, groups, total=2.5):
        df, self.verb, self.unit = table(), verb, unit_of(verb)
        X = df[["z", "w"]].to_numpy()
        self.scales = Scales(kind, X.std(axis=0, ddof=1), self.unit)
        self.X = X - X.mean(axis=0)
        steps = (df.x.to_numpy()[:, None] >= np.arange(1, STEPS + 1)).astype(float)
        self.steps, self.y = steps - steps.mean(axis=0), df[VERBS[verb]].to_numpy()
        self.Z = np.eye(8)[df.g] if groups else np.zeros((len(df), 0))
        self.middle, self.total = self.y.mean() if verb == "ols" else 0.0, total * self.unit
        local, q = 2 * self.scales.locals, self.Z.shape[1]
        sizes = [1, 1, STEPS - 1, 2, q, int(groups), local, 1, int(verb == "ols")]
        self.ends, self.dim = np.cumsum(sizes)[:-1], sum(sizes)

    def start(self, chains, rng):
        """Points near zero."""
        return 0.3 * rng.normal(size=(chains, self.dim))

    def __call__(self, x):
        """Log densities (c,) and gradients (c, dim)."""
        a, b, r, z, e, sd, v, g, u = np.split(x, self.ends, axis=1)
        of, none = self.scales, np.zeros((len(x), 1))
        sd, v = (sd if sd.size else none), (v if of.locals else np.zeros((len(x), 2)))
        log_sigma = u if u.size else none
        logits = np.concatenate([r, none], axis=1)
        w = special.softmax(logits, axis=1)
        s2 = of.variances(g, v, log_sigma)
        s = np.sqrt(s2)
        eta = a + (b * w) @ self.steps.T + (s * z) @ self.X.T + (sd * e) @ self.Z.T
        if self.verb == "ols":
            sigma = np.exp(log_sigma)
            short = (self.y - self.middle - eta) / sigma
            value = -0.5 * (short**2).sum(axis=1) - len(self.y) * log_sigma[:, 0]
            value += (log_sigma - sigma / self.unit)[:, 0]
            slope = short / sigma
            by_u = (short**2).sum(axis=1, keepdims=True) - len(self.y) + 1 - sigma / self.unit
        else:
            value = (self.y * eta - np.logaddexp(0, eta)).sum(axis=1)
            slope = self.y - special.expit(eta)
        by_c, by_b, by_e = slope @ self.steps, slope @ self.X, slope @ self.Z
        (log_g, by_g), (log_v, by_v) = of.log_global(g), of.log_local(v)
        wide, t = WIDE * self.unit, sd / (WIDE * self.unit)
        value = value - 0.5 * (a / wide)[:, 0] ** 2 - 0.5 * (b / self.total)[:, 0] ** 2
        value = value - 0.5 * (z**2).sum(axis=1) - 0.5 * (e**2).sum(axis=1)
        value = value + special.log_softmax(logits, axis=1).sum(axis=1)
        value = value + log_g[:, 0] + log_v.sum(axis=1)
        log_scale = of.share * g + v + of.noise * log_sigma * (self.verb == "ols")
        by_log = by_b * s * z * s2 * np.exp(-2 * log_scale) / of.unit**2
        by_w = b * by_c
        by_share = w * (by_w - (w * by_w).sum(axis=1, keepdims=True)) + 1 - STEPS * w
        out = [
            slope.sum(axis=1, keepdims=True) - a / wide**2,
            (by_c * w).sum(axis=1, keepdims=True) - b / self.total**2,
            by_share[:, :-1],
            by_b * s - z,
        ]
        if self.Z.shape[1]:
            value = value - 0.5 * (DF + 1) * np.log1p(t**2 / DF)[:, 0]
            by_sd = (by_e * e).sum(axis=1, keepdims=True) - (DF + 1) * t / (DF + t**2) / wide
            out += [by_e * sd - e, by_sd]
        if of.locals:
            out.append(by_log + by_v)
        out.append(of.share * by_log.sum(axis=1, keepdims=True) + by_g)
        if self.verb == "ols":
            out.append(by_u + of.noise * by_log.sum(axis=1, keepdims=True))
        return value, np.concatenate(out, axis=1)

    def natural(self, x):
        """Increments, coefficients and the log of the global parameter."""
        _, b, r, z, _, _, v, g, u = np.split(x, self.ends, axis=1)
        w = special.softmax(np.concatenate([r, np.zeros((len(x), 1))], axis=1), axis=1)
        v, u = (v if self.scales.locals else 0.0), (u if u.size else 0.0)
        s = np.sqrt(self.scales.variances(g, v, u))
        return np.concatenate([b * w, s * z, g], axis=1)


def log_density(kind, verb, order, codes, theta, scale, pole=0):
    """Log density of (intercept, increments, coefficients, effects, phi, v, g, u), as in
    `beside.log_density`, of rows in an order; a `pole` adds that power of |b|.
    """
    one, count = Rising(kind, verb, False), len(codes)
    of, unit, local = one.scales, one.unit, 2 * one.scales.locals
    sizes = [1, STEPS, 2, *[code.max() + 1 for code in codes], count, local, 1]
    a, c, beta, *effects, phi, v, g, u = np.split(theta, np.cumsum(sizes))
    v, u = (v if local else np.zeros(2)), (u[0] if verb == "ols" else 0.0)
    b, y = c.sum(), one.y[order]
    eta = a + one.steps[order] @ c + one.X[order] @ beta
    eta = eta + sum(e[code] for e, code in zip(effects, codes))
    if verb == "ols":
        value = stats.norm.logpdf(y, eta, np.exp(u)).sum()
        value += stats.expon.logpdf(np.exp(u), scale=unit) + u
    else:
        value = (y * eta - np.logaddexp(0, eta)).sum()
    value += stats.norm.logpdf(a, one.middle, WIDE * unit).sum()
    value += stats.norm.logpdf(b, 0, one.total) + (pole - STEPS + 1) * np.log(abs(b))
    sds = scale * np.sinh(phi)
    value += (stats.t.logpdf(sds, DF, 0, WIDE * unit) + np.log(scale * np.cosh(phi))).sum()
    value += sum(stats.norm.logpdf(e, 0, abs(sd)).sum() for e, sd in zip(effects, sds))
    sds = np.sqrt(of.variances(g, v, u))
    value += stats.norm.logpdf(beta, 0, sds).sum() + of.log_local(v)[0].sum()
    return value + of.log_global(g)[0].sum()


def told(draws):
    """Means and sds of `NAMES`, and quantiles of the global parameter."""
    draws = draws.reshape(-1, len(NAMES) + 1)
    return {
        "mean": draws[:, :-1].mean(axis=0).tolist(),
        "sd": draws[:, :-1].std(axis=0).tolist(),
        "quantiles": np.exp(np.quantile(draws[:, -1], LEVELS)).tolist(),
    }


def long_runs():
    """What HMC tells of each case."""
    found = {}
    for verb in VERBS:
        for groups in (False, True):
            for kind in KINDS:
                joint = Rising(kind, verb, groups)
                draws = sample(joint, 2000, chains=48, seed=1)
                found[f"{verb}, {kind}{', groups' * groups}"] = told(draws)
    narrow = sample(Rising("ridge", "ols", False, total=0.25), 500, chains=48, seed=1)
    return found | {"ols, ridge, another prior": told(narrow)}


if __name__ == "__main__":
    HELD.write_text(json.dumps(long_runs(), indent=1) + "\n")
