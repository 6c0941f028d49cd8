"""Posteriors of monotonic effects by sums over grids: nothing is shared with the package.

With shares z of the sum b the increments are b z, and the linear predictor is linear in b and all
other coefficients: given z, sigma and sds of effects outcomes are normal, and what is
left is a sum over places of a simplex and of the sds.
"""

import numpy as np
import pandas as pd
from scipy import special, stats

TOTAL, SLOPE, RATE, EFFECTS = 1.5, 1.0, 1.0, 1.0  # sds of priors, and the rate of sigma's


def table(effect, n, seed):
    """Rows of a predictor with four levels, a number z, labels g and u, and normal outcomes."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"x": rng.integers(0, 4, n), "z": rng.normal(size=n)})
    df["g"], df["u"] = rng.integers(0, 8, n), rng.integers(0, 6, n)
    df["y"] = 0.4 * df.z + np.array([0, *effect])[df.x] + rng.normal(size=n)
    return df


def simplex(count):
    """Places of equal weight on the simplex of three shares."""
    u = (np.arange(count) + 0.5) / count
    first, along = np.meshgrid(np.sqrt(u), u)
    return np.stack([first * along, first * (1 - along), 1 - first], axis=-1).reshape(-1, 3)


def grams(df, effects, sds):
    """Of sigma and the sds of effects, on a grid: values of sigma, log densities of what is not in
    the predictor, and W' V^-1 W of the columns W = (1, steps, z, y) under the covariance V.
    """
    y = df.y.to_numpy()
    steps = (df.x.to_numpy()[:, None] >= np.arange(1, 4)).astype(float)
    W = np.column_stack([np.ones_like(y), steps, df.z, y])
    W[:, 1:5] -= W[:, 1:5].mean(axis=0)
    alike = [np.equal.outer(df[one].to_numpy(), df[one].to_numpy()) for one in effects]
    sigmas = np.exp(np.linspace(np.log(y.std()) - 0.9, np.log(y.std()) + 0.4, sds))
    grid = np.meshgrid(sigmas, *[np.linspace(0.02, 1.8, 14)] * len(effects))
    logs, found = [], []
    for sigma, *taus in zip(*(one.ravel() for one in grid)):
        V = sigma**2 * np.eye(len(y)) + sum(t**2 * one for t, one in zip(taus, alike))
        root = np.linalg.cholesky(V) if effects else None
        whitened = W / sigma if root is None else np.linalg.solve(root, W)
        half = len(y) * np.log(sigma) if root is None else np.log(np.diag(root)).sum()
        prior = stats.norm.logpdf(taus, 0, EFFECTS).sum()
        logs.append(np.log(sigma) - RATE * sigma - half + prior)
        found.append(whitened.T @ whitened)
    return grid[0].ravel(), np.array(logs), np.array(found)


def posterior(df, effects=(), places=40, sds=31, pole=0, total_sd=TOTAL):
    """Means and sds of the three increments, the slope of z, and sigma; with the mass of negative
    sums.  Labels of `effects` have effects of their levels.

    The intercept has the default prior.  A `pole` adds that power of |b| to the prior: 2 is what a
    Jacobian that is counted once too often would make of it.
    """
    sigma, own, whole = grams(df, effects, sds)
    y = df.y.to_numpy()
    prior = np.diag([(2.5 * y.std()) ** -2, total_sd**-2, SLOPE**-2])
    centre = np.array([y.mean(), 0.0, 0.0])
    nodes, mass = np.polynomial.hermite_e.hermegauss(24)
    logs, kept = [], []
    for shares in simplex(places):
        T = np.zeros((6, 4))
        T[0, 0] = T[4, 2] = T[5, 3] = 1.0
        T[1:4, 1] = shares
        gram = T.T @ whole @ T
        precision = prior + gram[:, :3, :3]
        covariance = np.linalg.inv(precision)
        linear = gram[:, :3, 3] + prior @ centre
        mean = np.einsum("pij,pj->pi", covariance, linear)
        value = own - 0.5 * gram[:, 3, 3] + 0.5 * np.einsum("pi,pi->p", mean, linear)
        value -= 0.5 * np.linalg.slogdet(precision)[1]
        sd_b = np.sqrt(covariance[:, 1, 1])
        b = mean[:, 1, None] + sd_b[:, None] * nodes
        w = mass / mass.sum() * np.abs(b) ** pole
        first, second = ((w * b**k).sum(axis=1) / w.sum(axis=1) for k in (1, 2))
        slope = mean[:, 2], covariance[:, 2, 2] + mean[:, 2] ** 2
        logs.append(value + np.log(w.sum(axis=1)))
        where = np.repeat(shares[None], len(sigma), axis=0)
        negative = special.ndtr(-mean[:, 1] / sd_b)
        kept.append(np.column_stack([where, first, second, *slope, sigma, negative]))
    w, kept = special.softmax(np.concatenate(logs)), np.vstack(kept)
    firsts = np.column_stack([kept[:, :3] * kept[:, 3:4], kept[:, 5], kept[:, 7]])
    squares = np.column_stack([kept[:, :3] ** 2 * kept[:, 4:5], kept[:, 6], kept[:, 7] ** 2])
    mean = w @ firsts
    return mean, np.sqrt(w @ squares - mean**2), float(w @ kept[:, 8])
