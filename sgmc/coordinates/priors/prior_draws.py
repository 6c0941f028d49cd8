"""Draws of independent priors, as starts: bounds hold, truncation is only approximate."""

import numpy as np

from sgmc.coordinates.transforms.layout import SUM_BLOCKS

SMALLEST = 1e-8  # of gamma variates and probabilities, whose logs are to be numbers
STANDARD = {
    "normal": lambda one, random: random.normal(),
    "student_t": lambda one, random: random.standard_t(one.df),
    "laplace": lambda one, random: random.laplace(),
    "gamma": lambda one, random: max(random.gamma(one.df), SMALLEST),
    "lognormal": lambda one, random: np.exp(one.df * random.normal()),
    "inverse_gamma": lambda one, random: 1 / max(random.gamma(one.df), SMALLEST),
}


def can_draw(priors, layout):
    """Whether each number of theta has a proper prior.

    Parameters
    ----------
    priors : list of PriorSpec
        One a number.
    layout : Layout
    """
    low, high = layout.bounds()
    bounded = np.isfinite(high - low)
    return all(one.family in STANDARD or bounded[j] for j, one in enumerate(priors))


def prior_draw(priors, layout, random):
    """Draw theta, (size,): reflected at the end of a half line, evenly from intervals, sorted where
    it is ordered.
    """
    low, high = layout.bounds()
    theta, at = np.empty(layout.size), 0
    for _, (kind, length, stride, _) in layout.blocks():
        here = range(at, at + length)
        if kind in SUM_BLOCKS:
            shares = random.dirichlet([priors[j].df for j in here]) + SMALLEST
            theta[here] = shares / shares.sum()
        else:
            theta[here] = [number(priors[j], low[j], high[j], random) for j in here]
        if kind in ("ordered", "positive_ordered"):  # single numbers, or rows by their first one
            rows = theta[here].reshape(-1, max(int(stride), 1) if np.isfinite(stride) else 1)
            theta[here] = rows[np.argsort(rows[:, 0])].ravel()
        at += length
    return theta


def number(one, low, high, random):
    """A draw of one prior, between bounds."""
    if np.isfinite(high - low):
        return random.uniform(low, high)
    value = one.location + one.scale * STANDARD[one.family](one, random)
    if np.isfinite(high):
        return high - abs(high - value)
    return low + abs(value - low) if np.isfinite(low) else value
