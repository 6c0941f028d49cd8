"""The posterior mode with effects integrated out, and how well nodes integrate them."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from sgmc.coordinates.mode import Mode, distant
from sgmc.core.deadline import OutOfTime, Pace, suspended
from sgmc.core.expansion import expand, of_rows

FEW_ROWS = 1_000  # of a search for which there is no time
WARM_ROWS, WARM_GROUPS = 20_000, 1_000  # at least so many rows and groups of the warm start
WARM_TOLERANCE, TOLERANCE = (
    0.1,
    1e-2,
)  # of the last step, in posterior sds: of the next it is the square
MOST_STEPS = 100
FLAT_CURVATURE = 1e-6  # curvature, relative to the diagonal, below which a direction counts as flat
LONGEST = 20.0  # steps, in sds of the curvature, before anything is known of the posterior
DRAWS = 6  # of the Laplace approximation at which two rules are compared
CHECKED_ROWS, CHECKED_NODES = 50_000, 3e7  # of the groups that are compared: rows, rows x nodes


class Rule(NamedTuple):
    """How effects were integrated out.

    Attributes
    ----------
    nodes : int
        Of each effect, or points of each group; 0 where integrals are in closed form.
    error : float
        Of differences of log posterior densities, nats: against the next finer rule of the scheme.
    scheme : Scheme or None
    """

    nodes: int
    error: float
    scheme: object = None


def find(kernel, terms, start):
    """The mode, and the kernel with nodes around it.

    Parameters
    ----------
    kernel : Quadrature or GaussianMarginal
    terms : PriorTerms
    start : array (dim,)

    Returns
    -------
    kernel : Quadrature or GaussianMarginal
    mode : Mode
    concerns : list of SGMCWarning
    """
    groups, reached = warm_groups(kernel), None
    try:
        if groups:
            reached, _ = climb(kernel, terms, start, groups, WARM_TOLERANCE)
            start = reached.theta
        mode, distance = climb(kernel, terms, start, 0, TOLERANCE)
        kernel = kernel.anchored(mode.theta)
    except OutOfTime as up:
        with suspended():
            found = up.reached or reached or one_step(kernel, terms, start)
            return kernel.anchored(found.theta, groups), found, []
    return kernel, mode, distant(distance)


def one_step(kernel, terms, start):
    """The unfinished `Mode` of a search for which there is no time: a step by few groups."""
    few = max(1, int(np.searchsorted(kernel.starts[:-1], FEW_ROWS)))
    _, gradient, hessian = expand(kernel.anchored(start, few), start, few)
    _, prior_gradient, known = terms(start)
    step, _, _ = direction(hessian + known, gradient + prior_gradient)
    return Mode(start + step, as_positive(hessian + known) - known, known, whole=False)


def warm_groups(kernel):
    """Groups of the warm start, or 0 where there are too few to bother."""
    groups = max(WARM_GROUPS, int(np.searchsorted(kernel.starts, WARM_ROWS)))
    return groups if kernel.n > 5 * groups else 0


def climb(kernel, terms, start, groups, tolerance):
    """Newton's method, with nodes placed anew at each step; where the log density is not concave,
    with the absolute values of its curvatures (Dauphin et al. 2014, arXiv:1406.2572).

    Raises
    ------
    OutOfTime
        With what was reached.
    """
    theta, pace, reached = np.array(start, dtype=float), Pace(), None
    last, step, distance = -np.inf, np.zeros(len(theta)), np.inf
    for _ in range(MOST_STEPS):
        try:
            value, gradient, hessian = pace.run(
                lambda: expand(kernel.anchored(theta, groups), theta, groups)
            )
        except OutOfTime as up:
            up.reached = reached
            raise
        prior_value, prior_gradient, prior_hessian = terms(theta)
        now = value + prior_value
        if not now >= last - 1e-9 * abs(last) - 1e-9:  # overshot, or not a number
            step = 0.5 * step
            theta = theta - step
            if np.abs(step).max() < 1e-12 * (1 + np.abs(theta).max()):
                break
            continue
        last = now
        step, distance, curved = direction(hessian + prior_hessian, gradient + prior_gradient)
        reached = Mode(theta, as_positive(hessian + prior_hessian) - prior_hessian, prior_hessian)
        theta = theta + step
        if distance < tolerance and curved:
            distance = distance**2
            break
    return Mode(theta, reached.likelihood, reached.prior, whole=True), distance


def scaled(matrix):
    """Eigenvalues and vectors of a matrix whose diagonal is scaled to one, and the scale."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    values, vectors = linalg.eigh(matrix * np.outer(scale, scale))
    return values, vectors, scale


def direction(curvature, gradient):
    """A step up, its length in sds, and whether the curvature is positive definite."""
    values, vectors, scale = scaled(curvature)
    size = np.maximum(np.abs(values), FLAT_CURVATURE)
    white = vectors.T @ (scale * gradient) / np.sqrt(size)
    length = float(np.sqrt(white @ white))
    white *= min(1.0, LONGEST / length) if length else 1.0
    return scale * (vectors @ (white / np.sqrt(size))), length, bool(values.min() > 0)


def as_positive(matrix):
    """The matrix with absolute eigenvalues."""
    values, vectors, scale = scaled(matrix)
    size = np.maximum(np.abs(values), FLAT_CURVATURE)
    return (vectors * size) @ vectors.T / np.outer(scale, scale)


def with_rule(kernel, mode, nodes, scheme, seed):
    """The kernel with enough nodes, and its `Rule`; its error is NaN where the time is up before it
    is known.

    Parameters
    ----------
    kernel : Quadrature
        Anchored at the mode.
    mode : Mode
    nodes : int or None
        As given; None: as many as differences of log densities need.
    scheme : Scheme
    seed : int
    """
    random = np.random.default_rng(seed)
    root = linalg.cholesky(linalg.inv(mode.precision), lower=True)
    z = random.normal(size=(DRAWS, len(mode.theta)))
    points = [mode.theta, *(mode.theta + z @ root.T)]
    rows = min(CHECKED_ROWS, CHECKED_NODES / scheme.count(scheme.finer(kernel.nodes)))
    some = max(1, min(int(np.searchsorted(kernel.starts, rows)), kernel.n))
    pace = Pace()
    try:
        values = pace.run(lambda: densities(kernel, points, some), scheme.count(kernel.nodes))
    except OutOfTime:
        return kernel, Rule(kernel.nodes, np.nan, scheme)
    while True:
        finer = kernel.with_nodes(scheme.finer(kernel.nodes))
        try:
            better = pace.run(lambda: densities(finer, points, some), scheme.count(finer.nodes))
        except OutOfTime:
            return kernel, Rule(kernel.nodes, np.nan, scheme)
        apart = (better - better[0]) - (values - values[0])
        error = float(np.abs(apart).max()) * kernel.n / some
        if nodes or error <= scheme.enough or finer.nodes > scheme.most:
            return kernel, Rule(kernel.nodes, error, scheme)
        kernel, values = finer, better


def densities(kernel, points, groups):
    """Log densities of the first groups at some points."""
    return np.array([of_rows(kernel, one, slice(0, groups), slope=False)[0] for one in points])
