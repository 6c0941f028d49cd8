"""Stein kernels and FSSD in plain numpy."""

import numpy as np

KERNELS = [("imq", 0.7), ("gaussian", 1.3)]


MISTAKES = ["scores of U", "no gradient of k", "another width in the gradient"]


def squared(value):
    """What a signed root is the root of."""
    return np.sign(value) * value**2


def stein_kernel(x, s, y, t, kernel, c):
    """k0(x_a, y_b) from the derivatives of the kernel as they are defined, (n, m)."""
    e = x[:, None] - y[None]
    r2 = (e**2).sum(axis=-1)
    if kernel == "gaussian":
        k, slope = np.exp(-r2 / (2 * c**2)), -np.exp(-r2 / (2 * c**2)) / (2 * c**2)
        curve = np.exp(-r2 / (2 * c**2)) / (4 * c**4)
    else:
        k, slope = (c**2 + r2) ** -0.5, -0.5 * (c**2 + r2) ** -1.5
        curve = 0.75 * (c**2 + r2) ** -2.5
    dx = 2 * slope[..., None] * e  # grad_x k; grad_y k is its negative
    trace = -2 * slope * x.shape[1] - 4 * curve * r2
    return s @ t.T * k - np.einsum("ai,abi->ab", s, dx) + np.einsum("bi,abi->ab", t, dx) + trace


def tau(x, s, v, kernel, c, mistake=None):
    """s k + grad_x k at each location, (n, J d)."""
    e = x[:, None] - v[None]
    r2 = (e**2).sum(axis=-1, keepdims=True)
    width = 1.2 * c if mistake == "another width in the gradient" else c
    if kernel == "gaussian":
        k, slope = np.exp(-r2 / (2 * c**2)), -np.exp(-r2 / (2 * width**2)) / width**2
    else:
        k, slope = (c**2 + r2) ** -0.5, -((width**2 + r2) ** -1.5)
    sign = -1 if mistake == "scores of U" else 1
    terms = sign * s[:, None] * k + (0 if mistake == "no gradient of k" else slope * e)
    return terms.reshape(len(x), -1)


def naive_fssd(x, s, w, v, kernel, c, statistic, mistake=None):
    """FSSD^2 as a double sum over all pairs of draws."""
    terms, w = tau(x, s, v, kernel, c, mistake), w / w.sum()
    pairs = np.outer(w, w)
    if statistic == "u":
        np.fill_diagonal(pairs, 0)
        pairs /= pairs.sum()
    return np.einsum("ab,ab->", pairs, terms @ terms.T) / v.size
