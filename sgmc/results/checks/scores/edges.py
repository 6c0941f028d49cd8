"""How heavy tails are where draws end, by the scores at the outermost of them."""

from dataclasses import dataclass

import numpy as np

from sgmc.diagnostics.chains.tails import ends_far_out
from sgmc.results.checks.scores.stein import most_scores, scores_at

# scales from the median to an outermost draw from which on slopes are looked at: they are good for
# more than numbers of draws are, and of exponential tails a few thousand draws reach so far
LOOKED_BEYOND = 5.0
OUTERMOST = 5  # draws of each tail, whose scores are averaged
NEAR_EDGE = 50  # draws by which the map to the parameter is told there
LEFT_OVER = 0.3  # of the parameter's variance there, beyond which it is no function of z
MOST_EDGES = 20  # parameters


@dataclass(frozen=True)
class Line:
    """How a parameter moves with the sampler's coordinates.

    Attributes
    ----------
    z : array (n,)
        Draws along w, w'x standardised: what of the parameter is linear in them.
    v : array (d,)
        With w'v = 1.
    sign : array (n,) or float
        Of what is printed without a sign, the signs: it moves with z where they are positive, and
        with -z where they are negative, and its density is even.
    """

    z: np.ndarray
    v: np.ndarray
    sign: np.ndarray | float = 1.0


def edge_index(fit, theta, line, quantiles):
    r"""Tail index of each parameter at the outermost draws, (p,), the larger one of those tails
    whose draws are far out: the flat density of a standard deviation near zero is no tail.

    A density with tail index k falls as :math:`|\theta - c|^{-1/k - 1}`, so that
    :math:`-(\theta - c) \, d \log p / d\theta = 1/k + 1`.  The slope of a margin's log density at
    :math:`z = w'x` is the mean of :math:`s'v` over draws there, for any v with :math:`w'v = 1`; for
    :math:`\theta = g(z)` the slope is :math:`(s'v - g''/g')/g'`.  Where few draws are far out their
    number says little of a tail, and its slope says what follows.

    Parameters
    ----------
    fit : Fit
    theta : array (chain, draw, p)
        Draws as they are printed.
    line : callable
        ``line(k)`` is the `Line` of a parameter.
    quantiles : Quantiles
        Of the draws.

    Returns
    -------
    ndarray, (p,)
        0 where no draw is far out; NaN where scores of all rows cost too much, of parameters that
        are no function of z, and after the first MOST_EDGES that have such draws.
    """
    ends = ends_far_out(theta, LOOKED_BEYOND, quantiles)
    long = np.flatnonzero(ends.any(axis=0))
    found = np.zeros(theta.shape[2])
    found[long] = np.nan
    points = 4 * OUTERMOST * min(len(long), MOST_EDGES)
    if points > most_scores(fit):
        return found
    x = fit.x.reshape(-1, fit.x.shape[2])
    for k in long[:MOST_EDGES]:
        values = theta[..., k].ravel()
        order = np.argsort(values)
        own = line(k)
        sides = [side for side, far in zip((order, order[::-1]), ends[:, k]) if far]
        found[k] = max(of_tail(fit, x, values, own, side) for side in sides)
    return found


def of_tail(fit, x, values, line, order):
    """The index of the tail at the beginning of an order of the draws; 0 of one that ends."""
    # without signs a tail is two of the density that is even
    edge, near = order[: OUTERMOST * (1 + (np.ndim(line.sign) > 0))], order[:NEAR_EDGE]
    scores = scores_at(fit, np.ascontiguousarray(x[edge]), 0, "exact")
    sign = np.broadcast_to(line.sign, values.shape)
    z, steepness = sign * line.z, (sign[edge] * (scores @ line.v)).mean()
    at = z[edge].mean()
    if not np.isfinite(at) or np.ptp(z[near]) == 0:
        return np.nan
    curve, _, rank, *_ = np.polyfit(z[near] - at, values[near], 2, full=True)
    if rank < len(curve):  # a chain that stayed: two places tell no curve
        return np.nan
    left = values[near] - np.polyval(curve, z[near] - at)
    if left.var() > LEFT_OVER * values[near].var():
        return np.nan
    bend, slope, _ = curve
    away = values[edge].mean() - np.median(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        falls = -away * (steepness - 2 * bend / slope) / slope - 1
    return float(1 / falls) if falls > 1e-3 else 0.0
