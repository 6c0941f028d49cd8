"""Posteriors of regressions with grouped effects in plain numpy: effects integrated by grids or by
matrices, parameters by importance sampling in their natural units.
"""

from typing import NamedTuple

import numpy as np
from scipy import special, stats

from tests.prior_scales import prior_scales

GRID = np.linspace(-7.0, 7.0, 71)  # of standard normal effects: trapezoids are exact to 1e-8


class Parts(NamedTuple):
    """Parameters in natural units, of points (b, p)."""

    beta: np.ndarray
    sd: np.ndarray
    cor: np.ndarray
    extra: np.ndarray


def parts(points, d, effects):
    """Columns of points as `Parts`: coefficients, sds, a correlation of two effects, the rest."""
    points = np.atleast_2d(points)
    pairs = effects * (effects - 1) // 2
    return Parts(*np.split(points, np.cumsum([d, effects, pairs]), axis=1))


class Reference:
    """A log posterior of coefficients, sds, correlations and the family's own parameters.

    Parameters
    ----------
    family : Family
        Its `log_density` is used, which other tests hold to scipy's.
    X, Z : array
    y, codes : array (n,)
    weight : array (n,), optional
        Trials of shares of successes.
    """

    def __init__(self, family, X, y, codes, Z, weight=None):
        order = np.argsort(codes, kind="stable")
        self.family, self.X, self.Z, self.y = family, X[order], Z[order], np.asarray(y)[order]
        self.weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)[order]
        self.starts = np.append(0, np.cumsum(np.bincount(codes)))[:-1]
        self.ends = np.append(self.starts[1:], len(y))

    def log_prior(self, at):
        """Defaults: normal(0, 2.5) of slopes and of the intercept at centred predictors,
        half_t(3, 2.5) of sds, lkj(1) of correlations, in units of sds of outcomes and columns;
        exponential(1) of what else is positive.
        """
        normal = self.family.name == "ols"
        unit = np.std(self.y) if normal else 1.0
        location = np.mean(self.y) if normal else 0.0
        mean, sd = self.X.mean(axis=0), prior_scales(self.X)
        level = at.beta @ mean
        total = stats.norm.logpdf(level, location, 2.5 * unit)
        total += stats.norm.logpdf(at.beta[:, 1:], 0, 2.5 * unit / sd[1:]).sum(axis=1)
        spread = prior_scales(self.Z)
        total += stats.t.logpdf(at.sd * spread / (2.5 * unit), 3).sum(axis=1)
        return total - at.extra.sum(axis=1) / unit

    def log_likelihood(self, at):
        """Sum over groups, effects integrated out."""
        return self.normal(at) if self.family.name == "ols" else self.by_grid(at)

    def root(self, sd, cor):
        """Cholesky factor of the effects' covariance."""
        R = np.eye(len(sd))
        if len(cor):
            R[1, 0] = R[0, 1] = cor[0]
        return sd[:, None] * np.linalg.cholesky(R)

    def normal(self, at):
        """By the covariance matrices of groups."""
        out = np.zeros(len(at.beta))
        roots = np.array([self.root(sd, cor) for sd, cor in zip(at.sd, at.cor)])
        for a, b in zip(self.starts, self.ends):
            spread = self.Z[a:b] @ roots
            V = spread @ spread.transpose(0, 2, 1) + at.extra[:, :, None] ** 2 * np.eye(b - a)
            L = np.linalg.cholesky(V)
            e = (self.y[a:b] - at.beta @ self.X[a:b].T)[:, :, None]
            out -= np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
            out -= 0.5 * (e * np.linalg.solve(V, e)).sum(axis=(1, 2))
        return out

    def by_grid(self, at):
        """By trapezoids over standard normal effects."""
        q = self.Z.shape[1]
        grid = np.array(np.meshgrid(*[GRID] * q, indexing="ij")).reshape(q, -1)
        mass = -0.5 * (grid**2).sum(axis=0)
        near = mass > -0.5 * GRID[-1] ** 2
        grid, mass = grid[:, near], mass[near]
        mass = mass - special.logsumexp(mass)
        out = np.zeros(len(at.beta))
        for k, (beta, sd, cor, extra) in enumerate(zip(*at)):
            eta = (self.X @ beta)[:, None] + self.Z @ (self.root(sd, cor) @ grid)
            scale = extra[:, None] if len(extra) else None
            rows = self.family.log_density(self.y[:, None], eta, scale) * self.weight[:, None]
            groups = np.add.reduceat(rows, self.starts, axis=0)
            out[k] = special.logsumexp(groups + mass, axis=1).sum()
        return out

    def __call__(self, points):
        """Log posterior density at points (b, p), -inf outside its support."""
        at = parts(points, self.X.shape[1], self.Z.shape[1])
        inside = (at.sd > 0).all(axis=1) & (abs(at.cor) < 1).all(axis=1)
        inside &= (at.extra > 0).all(axis=1)
        out = np.full(len(at.beta), -np.inf)
        kept = Parts(*(one[inside] for one in at))
        out[inside] = self.log_prior(kept) + self.log_likelihood(kept)
        return out


class Moments(NamedTuple):
    """Of a posterior by importance sampling: `size` is the effective number of draws."""

    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    size: float


LEVELS = (0.05, 0.5, 0.95)


def quantiles(values, weights):
    """Weighted quantiles of columns, (3, p)."""
    out = []
    for column in values.T:
        order = np.argsort(column)
        out.append(np.interp(LEVELS, np.cumsum(weights[order]), column[order]))
    return np.array(out).T


def by_importance(log_density, mean, covariance, draws, seed=0, df=5, wider=1.2):
    """Moments under a density by draws from a t distribution, whose own moments only decide how
    many draws are worth how much.
    """
    rng = np.random.default_rng(seed)
    shape = covariance * wider
    points = stats.multivariate_t(mean, shape, df, seed=rng).rvs(draws)
    log_weight = log_density(points) - stats.multivariate_t(mean, shape, df).logpdf(points)
    w = np.exp(log_weight - log_weight.max())
    w /= w.sum()
    centre = w @ points
    sd = np.sqrt(w @ (points - centre) ** 2)
    return Moments(centre, sd, quantiles(points, w), 1 / (w**2).sum())
