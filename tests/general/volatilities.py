"""Stochastic volatility by plain numpy: simulation, integrals on a fine grid, posteriors by
quadrature.
"""

import itertools

import numpy as np
from scipy import stats

from sgmc.core.expansion import of_rows

POINTS, REACH = 1200, 11.0  # of a grid about ten times as fine as the compiled one, and wider


def simulated(T, phi, sigma, beta, seed):
    """One sequence of outcomes, and its states."""
    rng = np.random.default_rng(seed)
    x = np.empty(T)
    x[0] = rng.normal() * sigma / np.sqrt(1 - phi**2)
    for t in range(1, T):
        x[t] = phi * x[t - 1] + sigma * rng.normal()
    return beta * np.exp(x / 2) * rng.normal(size=T), x


def integrated(y, theta, edges=None):
    """Log likelihood, and the means of the states given all outcomes (smoothed) and given those
    so far (filtered).
    """
    phi, sigma, beta = theta
    s = sigma / np.sqrt(1 - phi**2)
    x = np.linspace(-REACH * s, REACH * s, POINTS)
    moves = stats.norm.pdf(x, phi * x[:, None], sigma) * (x[1] - x[0])
    rest = stats.norm.pdf(x, 0, s) * (x[1] - x[0])
    likely = np.where(
        np.isnan(y)[:, None],
        1.0,
        stats.norm.pdf(np.nan_to_num(y)[:, None], 0, beta * np.exp(x / 2)),
    )
    total, smoothed, filtered = 0.0, [], []
    for begin, end in itertools.pairwise([0, len(y)] if edges is None else edges):
        laws, back = [], np.ones(POINTS)
        for t in range(begin, end):
            ahead = rest if t == begin else laws[-1] @ moves
            total += np.log(ahead @ likely[t])
            laws.append(ahead * likely[t] / (ahead @ likely[t]))
        means = []
        for t in range(end - 1, begin - 1, -1):
            law = laws[t - begin] * back
            means.append(law @ x / law.sum())
            back = moves @ (likely[t] * back)
            back /= back.max()
        smoothed += means[::-1]
        filtered += [law @ x for law in laws]
    return total, np.array(smoothed), np.array(filtered)


def quadrature(kernel, log_prior, centre, spread, points=22, reach=6.5):
    """Posterior means and sds of (phi, sigma, beta) by a product rule in (log odds, log, log).

    Parameters
    ----------
    kernel : GridVolatility
    log_prior : callable
        Of theta.
    centre, spread : array (3,), array (3, 3)
        Place and directions of the rule, e.g. the mean of draws and the root of their covariance.
    points : int
        Of each direction, equidistant: twice as many change no digit that is used.
    reach : float
        Half width, in `spread`.
    """
    axis = np.linspace(-reach, reach, points)
    z = np.array(np.meshgrid(axis, axis, axis, indexing="ij")).reshape(3, -1)
    u = np.asarray(centre)[:, None] + np.asarray(spread) @ z
    thetas = np.array([np.tanh(u[0] / 2), np.exp(u[1]), np.exp(u[2])]).T
    log_p = np.array([of_rows(kernel, one, slope=False)[0] + log_prior(one) for one in thetas])
    log_p += np.log1p(-(thetas[:, 0] ** 2)) + u[1] + u[2]
    p = np.exp(log_p - log_p.max()).reshape(points, points, points)
    p /= p.sum()
    edge = max(np.take(p, [0, -1], axis=k).sum() for k in range(3))
    assert edge < 2e-3, edge
    mean = p.ravel() @ thetas
    return mean, np.sqrt(p.ravel() @ (thetas - mean) ** 2)
