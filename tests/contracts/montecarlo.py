"""Monte Carlo errors of chains, and the rule by which a statistical test decides."""

import numpy as np

# standard errors: a few hundred comparisons with t on 49 df pass together at 99 of 100 seeds
LIMIT = 5.0
# of a chain, for the standard error of its means;
# each must be much longer than the correlation time
BATCHES = 50


def standard_errors(samples, expected, slack=0.0):
    """|mean of samples - expected|, less the allowed `slack`, in Monte Carlo standard errors,
    for each column.
    """
    means = np.asarray(samples).reshape(BATCHES, -1, np.shape(samples)[-1]).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    return np.maximum(np.abs(means.mean(axis=0) - expected) - slack, 0.0) / error


def moments(draws, centre):
    """First moments and products of the coordinates around `centre`, one row a draw."""
    e = np.asarray(draws) - centre
    j, k = np.triu_indices(e.shape[1])
    return np.hstack([e, e[:, j] * e[:, k]])


def distance(draws, mean, covariance):
    """Largest departure of a chain's means and covariances from the expected ones,
    in Monte Carlo standard errors.
    """
    expected = np.concatenate([np.zeros(len(mean)), covariance[np.triu_indices(len(mean))]])
    return standard_errors(moments(draws, mean), expected).max()
