"""The posterior mode with effects integrated out, and how well nodes integrate them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from sgmc.coordinates.mode import Mode, distant
from sgmc.core import deadline
from sgmc.core.deadline import OutOfTime, Pace
from sgmc.core.expansion import expand, of_rows
from sgmc.errors import DataError

WARM_ROWS, WARM_GROUPS = 20_000, 1_000  # at least so many rows and groups of the warm start
FEW_GROUPED_ROWS = 2_000  # of the groups looked at where there is time for nothing else
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


def find(kernel, terms, start, near=False):
    """The mode, and the kernel with nodes around it.

    Parameters
    ----------
    kernel : Quadrature or GaussianMarginal
    terms : PriorTerms
    start : array (dim,)
    near : bool
        Whether the mode is known to be near: then some of the groups have nothing to add.

    Returns
    -------
    kernel : Quadrature or GaussianMarginal
    mode : Mode
    concerns : list of SGMCWarning
    """
    groups, reached = 0 if near else warm_groups(kernel), None
    try:
        if groups:
            reached, _ = climb(kernel, terms, start, groups, WARM_TOLERANCE)
            start = reached.theta
        reached, distance = climb(kernel, terms, start, 0, TOLERANCE)
        return kernel.anchored(reached.theta), reached, distant(distance)
    except OutOfTime as up:
        return *unfinished(kernel, terms, start, up.reached or reached), []


def unfinished(kernel, terms, start, reached):
    """Kernel and `Mode` of a search whose time is up: where it is, or after one step by few groups,
    around which nodes are placed in few groups alone.
    """
    few = max(1, min(kernel.n, int(np.searchsorted(kernel.starts, FEW_GROUPED_ROWS))))
    with deadline.suspended():
        if reached is None:
            reached = climb(kernel, terms, start, few, np.inf)[0]
        return kernel.anchored(reached.theta, few), replace(reached, whole=False)


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
        known = np.isfinite(now) and np.isfinite(hessian).all() and np.isfinite(gradient).all()
        if not known and reached is None:
            raise DataError(
                "the log density of groups and its slopes are not finite where the search for the "
                "mode begins: numbers overflow; rescale predictors, outcomes and offsets"
            )
        if not (known and now >= last - 1e-9 * abs(last) - 1e-9):  # overshot, or not a number
            step = 0.5 * step
            theta = theta - step
            if np.abs(step).max() < 1e-12 * (1 + np.abs(theta).max()):
                break
            continue
        last = now
        curvature = Curvature(hessian + prior_hessian)
        step, distance = curvature.step(gradient + prior_gradient)
        reached = Mode(theta, curvature.positive() - prior_hessian, prior_hessian)
        theta = theta + step
        if distance < tolerance and curvature.values.min() > 0:
            distance = distance**2
            break
    return Mode(theta, reached.likelihood, reached.prior, whole=True), distance


class Curvature:
    """A symmetric matrix by the eigenvalues that it has where its diagonal is scaled to one.

    Parameters
    ----------
    matrix : array (d, d)
    """

    def __init__(self, matrix):
        self.scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
        self.values, self.vectors = linalg.eigh(matrix * np.outer(self.scale, self.scale))
        self.size = np.maximum(np.abs(self.values), FLAT_CURVATURE)

    def step(self, gradient):
        """A step up, and its length in sds."""
        white = self.vectors.T @ (self.scale * gradient) / np.sqrt(self.size)
        length = float(np.sqrt(white @ white))
        white *= min(1.0, LONGEST / length) if length else 1.0
        return self.scale * (self.vectors @ (white / np.sqrt(self.size))), length

    def positive(self):
        """The matrix with absolute eigenvalues."""
        found = (self.vectors * self.size) @ self.vectors.T
        return found / np.outer(self.scale, self.scale)


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
