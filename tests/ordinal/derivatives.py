"""Scores and curvatures of compiled models of four ordered levels against densities in numpy."""

import numpy as np
from _ext.probes import block


def assert_derivatives(compiled, by_numpy, link, theta):
    """Assert scores by differences of fourth order, of error 1e-9; curvatures by differences of
    scores, of error 1e-8; and that expected ones are the sum of p s s' over the levels, but for
    rounding.

    Parameters
    ----------
    compiled : callable
        ``compiled(link, y)`` is the model of one outcome.
    by_numpy : callable
        ``by_numpy(link, y, theta)`` is its log density.
    link : str
    theta : array (k,)
    """
    theta = np.asarray(theta, dtype=float)
    k = len(theta)
    h, right = 1e-3, np.zeros((k, k))
    for y in range(4):
        probe = compiled(link, y)
        differences = [
            8 * (by_numpy(link, y, theta + h * e) - by_numpy(link, y, theta - h * e))
            - (by_numpy(link, y, theta + 2 * h * e) - by_numpy(link, y, theta - 2 * h * e))
            for e in np.eye(k)
        ]
        score = probe.gradient(theta, block(0, 1))
        np.testing.assert_allclose(score, np.array(differences) / (12 * h), rtol=1e-7, atol=1e-7)
        bent = [
            probe.gradient(theta - 1e-5 * e, block(0, 1))
            - probe.gradient(theta + 1e-5 * e, block(0, 1))
            for e in np.eye(k)
        ]
        found = probe.hessian(theta, block(0, 1))
        np.testing.assert_allclose(found, np.array(bent) / 2e-5, rtol=1e-6, atol=1e-6)
        right += np.exp(by_numpy(link, y, theta)) * np.outer(score, score)
    expected = probe.curvatures(theta, block(0, 1), expected=True).reshape(k, k)
    np.testing.assert_allclose(expected, right, rtol=1e-10, atol=1e-10)
