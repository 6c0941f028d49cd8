"""The posterior of InstEval by importance sampling, which shares nothing with the package: outcomes
are normal, so that coefficients and effects are integrated out in closed form.

    SGMC_DATA=... python -m tests.crossed.insteval [--points 1500]

Prints means and sds of both, and their differences, beside a fit at default settings.
"""

import argparse
import warnings

import numpy as np
from scipy import linalg, sparse, stats

import sgmc

from .tables import published

FACTORS = ["s", "d", "dept"]  # the first is that of most levels


class Collapsed:
    """The posterior of (sds of the factors, sigma), and moments of the coefficients given them."""

    def __init__(self, frame):
        y = self.y = frame["y"].to_numpy(float)
        x = frame["service"].to_numpy(float)
        X = np.column_stack([np.ones(len(y)), x - x.mean()])
        codes = [np.unique(frame[name], return_inverse=True)[1] for name in FACTORS]
        self.levels = [code.max() + 1 for code in codes]
        rows, ones = np.arange(len(y)), np.ones(len(y))
        Z = [sparse.csr_array((ones, (rows, code))) for code in codes]
        rest = sparse.csr_array(sparse.hstack([sparse.csr_array(X), *Z[1:]]))
        self.tips = Z[0].T @ ones
        self.cross = (Z[0].T @ rest).toarray()
        self.border = (rest.T @ rest).toarray()
        self.by_tip, self.by_rest, self.square = Z[0].T @ y, rest.T @ y, y @ y
        unit = self.unit = y.std()
        self.centre = np.array([y.mean(), 0.0])
        self.precision = 1 / np.array([2.5 * unit, 2.5 * unit / x.std(ddof=1)]) ** 2
        self.shift = x.mean()

    def __call__(self, logs):
        """Log density at logs of (sds, sigma); mean and covariance of the coefficients."""
        sds, sigma = np.exp(logs[:3]), np.exp(logs[3])
        t, p = sigma**-2, len(self.centre)
        own = np.concatenate([np.full(m, s**-2) for m, s in zip(self.levels[1:], sds[1:])])
        tips = t * self.tips + sds[0] ** -2
        prior = np.concatenate([self.precision, own])
        schur = t * self.border + np.diag(prior)
        schur -= t**2 * (self.cross / tips[:, None]).T @ self.cross
        pull = t * self.by_rest - t**2 * self.cross.T @ (self.by_tip / tips)
        pull[:p] += self.precision * self.centre
        root = linalg.cholesky(schur, lower=True)
        half = linalg.solve_triangular(root, pull, lower=True)
        value = -len(self.y) * logs[3] - 0.5 * t * self.square + 0.5 * half @ half
        value += 0.5 * t**2 * (self.by_tip**2 / tips).sum()
        value -= 0.5 * np.log(tips).sum() + np.log(np.diag(root)).sum()
        value -= (np.array(self.levels) * logs[:3]).sum()
        value += (stats.t.logpdf(sds, 3, 0, 2.5 * self.unit) + logs[:3]).sum()
        value += logs[3] - sigma / self.unit
        mean = linalg.solve_triangular(root, half, lower=True, trans="T")[:p]
        columns = linalg.cho_solve((root, True), np.eye(len(schur))[:, :p])[:p]
        back = np.array([[1.0, -self.shift], [0.0, 1.0]])  # of the intercept at service = 0
        return value, back @ mean, back @ columns @ back.T


def by_importance(target, around, points, seed=1):
    """Means and sds of (coefficients, sds, sigma), and effective draws, by proposals from a t law
    with the moments of some draws of the logs.
    """
    rng = np.random.default_rng(seed)
    mean, root = around.mean(axis=0), np.linalg.cholesky(np.cov(around.T))
    z, scale = rng.normal(size=(points, 4)), np.sqrt(8 / rng.chisquare(8, size=points))
    logs = mean + 1.2 * scale[:, None] * (z @ root.T)
    away = np.linalg.solve(1.2 * root, (logs - mean).T).T
    proposed = -0.5 * (8 + 4) * np.log1p((away**2).sum(axis=1) / 8)
    found = [target(one) for one in logs]
    w = np.exp((v := np.array([one[0] for one in found]) - proposed) - v.max())
    w /= w.sum()
    first = np.array([np.concatenate([one[1], np.exp(x)]) for one, x in zip(found, logs)])
    centre = w @ first
    spread = w @ (first - centre) ** 2
    spread[:2] += w @ np.array([np.diag(one[2]) for one in found])
    return centre, np.sqrt(spread), 1 / (w**2).sum()


def main():
    """Print both."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--points", type=int, default=1500)
    frame = published("insteval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sgmc.ols("y ~ service + (1|s) + (1|d) + (1|dept)", frame, seed=1)
    mean, sd, size = by_importance(
        Collapsed(frame), np.log(fit.flat[:, 2:]), arguments.parse_args().points
    )
    print(f"{size:.0f} effective points; {fit.verdict}")
    for j, name in enumerate(fit.names):
        ours = fit.params.iloc[j], fit.bse.iloc[j]
        print(
            f"{name:12s} {ours[0]:9.4f} {ours[1]:8.4f}   {mean[j]:9.4f} {sd[j]:8.4f}   "
            f"{(ours[0] - mean[j]) / sd[j]:6.3f} sd, {ours[1] / sd[j] - 1:6.1%}"
        )


if __name__ == "__main__":
    main()
