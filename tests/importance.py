"""References by importance sampling, in plain numpy, and how far fits are from them."""

import numpy as np
from scipy import optimize, stats

from .families.test_posteriors import newton


def apart(results, mean, sd):
    """Largest differences of means in sds, and of sds relative to these."""
    return (
        np.abs((results.params.to_numpy() - mean) / sd).max(),
        np.abs(results.bse.to_numpy() / sd - 1).max(),
    )


def around_the_mode(log_posterior, start, size, draws=8_000, df=8.0):
    """Points (draws, d) from a t distribution around the mode, and their weights.

    Parameters
    ----------
    log_posterior : function of (m, d)
    start : array (d,)
        Where the search for the mode begins.
    size : array (d,)
        Of a change of each parameter, in whose units curvatures are differences.
    draws : int
    df : float
        Degrees of freedom of the t.
    """
    for _ in range(3):
        start = optimize.minimize(lambda t: -log_posterior(t[None])[0], start, method="BFGS").x
    steps = 1e-3 * np.diag(size)

    def slope(at):
        return (log_posterior(at + steps) - log_posterior(at - steps)) / 2

    curvature = np.array([slope(start - e) - slope(start + e) for e in steps]) / 2
    root = np.diag(steps)[:, None] * np.linalg.cholesky(
        np.linalg.inv((curvature + curvature.T) / 2)
    )
    rng = np.random.default_rng(1)
    z = rng.normal(size=(draws, len(start)))
    z *= np.sqrt(df / rng.chisquare(df, draws))[:, None]
    points = start + z @ root.T
    log_w = np.concatenate([log_posterior(part) for part in np.array_split(points, 100)])
    log_w += (df + len(start)) / 2 * np.log1p((z**2).sum(axis=1) / df)
    w = np.exp(log_w - log_w.max())
    return points, w / w.sum()


def in_units_of_the_last(log_posterior, found, power, size=25_000):
    """Means and sds of coefficients and of a positive parameter, and the effective size, by draws
    from t's with 5 degrees of freedom of coefficients in units of a power of that parameter.

    Parameters
    ----------
    log_posterior : function of (m, d + 1)
        Of coefficients and the log of the parameter.
    found : array (m, d + 1)
        Where the search for the mode begins, and no more.
    power : float
    size : int
    """
    d = found.shape[1] - 1
    mode, root = newton(log_posterior, found.mean(axis=0), np.linalg.cholesky(np.cov(found.T)))

    def in_units(w):
        stretch = power * (w[:, d] - mode[d])
        beta = mode[:d] + np.exp(stretch)[:, None] * (w[:, :d] - mode[:d])
        return np.hstack([beta, w[:, d:]]), d * stretch

    def density(w):
        theta, log_jacobian = in_units(w)
        return log_posterior(theta) + log_jacobian

    centre, root = newton(density, mode, root)
    z = np.random.default_rng(5).standard_t(5, (size, d + 1))
    w = centre + z @ root.T
    log_weight = density(w) - stats.t.logpdf(z, 5).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    theta = in_units(w)[0]
    values = np.hstack([theta[:, :d], np.exp(theta[:, d:])])
    mean = weight @ values
    return mean, np.sqrt(weight @ (values - mean) ** 2), 1 / (weight**2).sum()
