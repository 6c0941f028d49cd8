"""Posteriors with learned scales by quadrature, for orthogonal predictors and a known sigma: given
the global parameter, coefficients are independent.
"""

import numpy as np
from scipy import special, stats

LOG_LOCAL = np.linspace(-38.0, 38.0, 6001)
ROOTS = np.linspace(-90.0, 3.0, 4001)  # logs of roots of gamma variates


def orthogonal(n, d, random):
    """Centred columns of unit sd (n - 1) that are orthogonal."""
    Q = np.linalg.qr(np.column_stack([np.ones(n), random.normal(size=(n, d))]))[0][:, 1:]
    return Q * np.sqrt(n - 1)


def local(kind, a):
    """Nodes and log density of v, with the widths of the nodes in it."""
    if kind == "ridge":
        return np.zeros(1), np.zeros(1)
    if kind == "horseshoe":
        v = LOG_LOCAL
        return v, -np.logaddexp(v, -v) + np.log(2 / np.pi) + np.log(v[1] - v[0])
    v = ROOTS
    log = np.log(2) + 2 * a * v - np.exp(2 * v) - special.gammaln(a)
    return v, log + np.log(v[1] - v[0])


def log_prior(kind, g, df, scale):
    """Log density of the log of the global parameter."""
    if kind == "r2d2":
        return stats.invgamma.logpdf(np.exp(g), df) + g
    return stats.t.logpdf(np.exp(g), df, 0, scale) + g


def posterior(kind, estimate, h, g, *, unit, slab, df, scale, a=0.0):
    """Posterior by quadrature.

    Parameters
    ----------
    kind : {"ridge", "horseshoe", "r2d2"}
    estimate : array (d,)
        Least squares, each N(b_j, h).
    g : array (m,)
        Even grid of the log of the global parameter.

    Returns
    -------
    mean, sd : array (d,)
    weight : array (m,)
        Of the nodes of g.
    """
    v, log_v = local(kind, a)
    log_weight, means, seconds = log_prior(kind, g, df, scale), [], []
    for i, one in enumerate(g):
        share = 0.5 if kind == "r2d2" else 1.0
        variance = 1 / (np.exp(-2 * (share * one + v)) / unit**2 + slab**-2.0)
        total = variance + h
        each = log_v - 0.5 * np.log(total) - 0.5 * estimate[:, None] ** 2 / total
        evidence = special.logsumexp(each, axis=1)
        weight = np.exp(each - evidence[:, None])
        centre = estimate[:, None] * variance / total
        means.append((weight * centre).sum(axis=1))
        seconds.append((weight * (centre**2 + variance * h / total)).sum(axis=1))
        log_weight[i] += evidence.sum()
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean, second = weight @ np.array(means), weight @ np.array(seconds)
    return mean, np.sqrt(second - mean**2), weight


def quantiles(g, weight, levels):
    """Of the global parameter."""
    return np.exp(np.interp(levels, np.cumsum(weight) - 0.5 * weight, g))
