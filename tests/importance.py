"""References by importance sampling, in plain numpy, and how far fits are from them."""

import numpy as np
from scipy import stats

from .families.test_posteriors import newton


def apart(results, mean, sd):
    """Largest differences of means in sds, and of sds relative to these."""
    return (
        np.abs((results.params.to_numpy() - mean) / sd).max(),
        np.abs(results.bse.to_numpy() / sd - 1).max(),
    )


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
