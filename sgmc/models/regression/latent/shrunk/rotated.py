"""Axes of a ridge in which the likelihood is diagonal: given the sd, a normal prior is the same in
all of them, so that no correlation is left that changes with the sd.
"""

from dataclasses import replace

import numpy as np

LEAST_PRECISION = 1e-8  # of the likelihood, relative to the largest


def rotated_ridge(centre, shrunk):
    """The matrix M of b = M c, and `Centre` and `Shrunk` of c, for a ridge of one group.

    In units of the prior b has the precision S under the likelihood, the other coefficients
    integrated out; M = diag(unit) Q with Q its eigenvectors.
    """
    where, d, unit = np.asarray(shrunk.where), shrunk.d, np.asarray(shrunk.unit)
    sites, found = centre.found.sites, centre.found
    rest = np.setdiff1d(np.arange(d), where)
    P = centre.precision[:d, :d].copy()
    P[where, where] -= sites.precision
    S = P[np.ix_(where, where)]
    if len(rest):
        across = P[np.ix_(rest, where)]
        S = S - across.T @ np.linalg.solve(P[np.ix_(rest, rest)], across)
    linear = S @ found.mean[where] + sites.precision * found.mean[where]
    precision, Q = np.linalg.eigh(unit[:, None] * S * unit)
    precision = np.maximum(precision, LEAST_PRECISION * precision[-1])
    M = unit[:, None] * Q
    mean = found.mean.copy()
    mean[where] = Q.T @ (found.mean[where] / unit)
    T = np.eye(len(centre.precision))
    T[np.ix_(where, where)] = M
    found = found._replace(place=M.T @ linear / precision, h=1 / precision, mean=mean)
    of = shrunk.replaced(unit=np.ones(len(where)))
    return M, replace(centre, found=found, precision=T.T @ centre.precision @ T), of
