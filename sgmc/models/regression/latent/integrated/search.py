"""The posterior mode with effects integrated out, and how well nodes integrate them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg

from sgmc.coordinates.approximations.mode import Mode, distant
from sgmc.coordinates.approximations.newton import Target, find_mode
from sgmc.core.expansion import expand, of_rows
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime, RateEstimator
from sgmc.errors import DataError
from sgmc.models.regression.latent.densities.rules import FEWEST_NODES
from sgmc.models.regression.mode.search import several, with_noise
from sgmc.models.regression.mode.trimmed import trimmed

WARM_ROWS, WARM_GROUPS = 20_000, 1_000  # at least so many rows and groups of the warm start
FEW_GROUPED_ROWS = 2_000  # of the groups looked at where there is time for nothing else
WARM_TOLERANCE, TOLERANCE = (
    0.1,
    1e-2,
)  # of the last step, in posterior sds: of the next it is the square
FLAT_CURVATURE = 1e-6  # curvature, relative to the diagonal, below which a direction counts as flat
LONGEST = 20.0  # steps, in sds of the curvature, before anything is known of the posterior
DRAWS = 6  # of the Laplace approximation at which two rules are compared
SAVED = 0.2  # share of what is enough by which rules are made coarser for their speed
# share with so few nodes that curvatures are right only of densities that are about normal: those
# of the log posterior are then known to a part in a thousand
SAVED_OF_NORMAL = 0.04
CHECKED_ROWS, CHECKED_NODES = 50_000, 3e7  # of the groups that are compared: rows, rows x nodes


class IntegrationRule(NamedTuple):
    """How effects were integrated out.

    Attributes
    ----------
    nodes : int
        Of each effect, or points of each group; 0 where integrals are in closed form.
    error : float
        Of differences of log posterior densities, nats: against a finer rule of the scheme.
    scheme : Scheme or None
    """

    nodes: int
    error: float
    scheme: object = None

    @property
    def shown(self):
        """Its error in words; empty where it is not known."""
        if np.isnan(self.error):
            return ""
        return f" (error of log density differences: about {max(self.error, 1e-9):.1g})"


@dataclass(frozen=True)
class IntegratedExpansion:
    """The log posterior around a place, and its curvature; see `newton.Evaluation`."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    prior: np.ndarray

    @cached_property
    def curvature(self):
        """The `Curvature` of the log posterior, with its sign changed."""
        return Curvature(self.hessian + self.prior)


class Integrated(Target):
    """The log posterior with effects integrated out, nodes placed anew at each step; where it is
    not concave steps are by the absolute values of its curvatures (Dauphin et al. 2014,
    arXiv:1406.2572).

    Parameters
    ----------
    kernel : Quadrature or GaussianMarginal
    terms : PriorTerms
    groups : int
        The first so many, scaled to all; 0: all.
    tolerance : float
        Of the last step, which `mode_at` takes: of the next one it is the square.
    """

    def __init__(self, kernel, terms, groups, tolerance):
        self.kernel, self.terms, self.groups = kernel, terms, groups
        self.tolerance, self.pace = tolerance, RateEstimator()

    def evaluate(self, theta, distance):
        """See `Target`."""
        value, slope, hessian = self.pace.run(lambda: self.expanded(theta))
        more, gradient, prior = self.terms(theta)
        known = np.isfinite(value + more) and np.isfinite(hessian).all()
        value = value + more if known and np.isfinite(slope).all() else np.nan
        return IntegratedExpansion(value, slope + gradient, hessian, prior)

    def expanded(self, theta):
        """`expand` at nodes around theta; modes of groups are near those of the place before."""
        self.kernel = self.kernel.anchored(theta, self.groups)
        return expand(self.kernel, theta, self.groups)

    def step(self, theta, here):
        """See `Target`."""
        return here.curvature.step(here.gradient)

    def found(self, here, distance, last):
        """See `Target`."""
        return distance < self.tolerance and here.curvature.values.min() > 0


def parts_of_rows(table, family, usual):
    """``draw(random)`` of starts, as `trimmed` has them, with sds and correlations of effects as
    they are where the usual start led to.
    """
    k = len(family.auxiliary)
    draw = trimmed(table, family, table.X.shape[1] + k)

    def beside(random):
        start, part = usual.copy(), draw(random)
        start[: len(part) - k], start[len(start) - k :] = part[: len(part) - k], part[-k:]
        return start

    return beside


def find_several(kernel, terms, usual, fold, random, parts=None):
    """The mode with the largest Laplace mass of those that several starts lead to, and the kernel
    with nodes around it.

    Parameters
    ----------
    kernel : Quadrature or GaussianMarginal
    terms : PriorTerms
    usual : (Mode, list of SGMCWarning)
        What the usual start led to.
    fold : FoldedEffects
        Modes that differ by signs of sds alone are one.
    random : numpy.random.Generator
    parts : (Table, Family, float), optional
        With the outcomes' variance: starts are fits to parts of the rows, see `Family.clusters`;
        without, they lie around the mode.

    Returns
    -------
    kernel : Quadrature or GaussianMarginal
    mode : Mode
    warnings : list of SGMCWarning
    modes : ModeSearch
    """
    first, q = usual[0].theta, fold.loading.q
    signs = np.where(first[fold.first : fold.first + q] < 0, -1.0, 1.0)

    def look(start):
        _, mode, trouble = find(kernel, terms, start, near=True)
        turned, others = fold.turned(mode.theta, signs)
        if mode.whole and others:
            _, mode, trouble = find(kernel, terms, turned, near=True)
        return mode, trouble

    def likelihood(theta):
        return expand(kernel.anchored(theta), theta)

    draw = None
    if parts is not None:
        table, family, variance = parts
        draw, look = parts_of_rows(table, family, first), with_noise(look, family, variance)
    mode, warnings, modes = several(likelihood, terms, look, usual, random, draw, parts is None)
    return kernel.anchored(mode.theta), mode, warnings, modes


def mode_at(theta, here, whole=True):
    """The `Mode` at a place, the curvature being that of an `IntegratedExpansion` close to it."""
    return Mode(theta, here.curvature.positive() - here.prior, here.prior, whole=whole)


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
    warnings : list of SGMCWarning
    """
    groups, reached = 0 if near else warm_groups(kernel), None
    try:
        if groups:
            reached = find_mode(Integrated(kernel, terms, groups, WARM_TOLERANCE), start)
            start = reached.ahead
        reached = find_mode(Integrated(kernel, terms, 0, TOLERANCE), start)
    except OutOfTime as up:
        return *unfinished(kernel, terms, start, up.reached or reached), []
    theta, distance = reached.ahead, reached.distance
    if reached.status == "found":  # the last step leads about to the square of its length
        distance = distance**2
    return kernel.anchored(theta), mode_at(theta, reached.here), distant(distance)


def near_mode(kernel, terms, start):
    """A place near the mode of a kernel; the start where there is none, or the time is up."""
    try:
        found = find_mode(Integrated(kernel, terms, 0, WARM_TOLERANCE), start)
    except (OutOfTime, DataError):
        return start
    return found.ahead if found.status == "found" else start


def unfinished(kernel, terms, start, reached):
    """Kernel and `Mode` of a search whose time is up: where it is, or after one step by few groups,
    around which nodes are placed in few groups alone.
    """
    few = max(1, min(kernel.n, int(np.searchsorted(kernel.starts, FEW_GROUPED_ROWS))))
    with deadline.suspended():
        if reached is None:
            reached = find_mode(Integrated(kernel, terms, few, np.inf), start)
            start = reached.ahead
        else:
            start = reached.theta
        return kernel.anchored(start, few), mode_at(start, reached.here, whole=False)


def warm_groups(kernel):
    """Groups of the warm start, or 0 where there are too few to bother."""
    groups = max(WARM_GROUPS, int(np.searchsorted(kernel.starts, WARM_ROWS)))
    return groups if kernel.n > 5 * groups else 0


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


def normal_points(mode, seed):
    """The mode, and draws of the Gaussian around it, at which rules are compared."""
    random = np.random.default_rng(seed)
    root = linalg.cholesky(linalg.inv(mode.precision), lower=True)
    z = random.normal(size=(DRAWS, len(mode.theta)))
    return [mode.theta, *(mode.theta + z @ root.T)]


def with_rule(kernel, points, nodes, scheme):
    """The kernel with enough nodes, and its `IntegrationRule`; its error is NaN where time
    is up before it is known.

    Parameters
    ----------
    kernel : Quadrature
        Anchored at the mode.
    points : list of array (dim,)
        At which rules are compared, a place in the middle first.
    nodes : int or None
        As given; None: as many as differences of log densities need.
    scheme : Scheme
    """
    rows = min(CHECKED_ROWS, CHECKED_NODES / scheme.count(scheme.finer(kernel.nodes)))
    some = max(1, min(int(np.searchsorted(kernel.starts, rows)), kernel.n))
    pace = RateEstimator()
    try:
        values = pace.run(lambda: densities(kernel, points, some), scheme.count(kernel.nodes))
    except OutOfTime:
        return kernel, IntegrationRule(kernel.nodes, np.nan, scheme)
    while True:
        finer = kernel.with_nodes(scheme.finer(kernel.nodes))
        try:
            better = pace.run(lambda: densities(finer, points, some), scheme.count(finer.nodes))
        except OutOfTime:
            return kernel, IntegrationRule(kernel.nodes, np.nan, scheme)
        apart = (better - better[0]) - (values - values[0])
        error = float(np.abs(apart).max()) * kernel.n / some
        saved = 1.0 if kernel.nodes >= scheme.first else saved_of(kernel.nodes)
        if nodes or error <= saved * scheme.enough or finer.nodes > scheme.most:
            break
        kernel, values = finer, better
    best, fewer = better - better[0], 0 if nodes else scheme.coarser(kernel.nodes)
    while error <= scheme.enough and fewer:  # as few as will do: time goes with their number
        coarser = kernel.with_nodes(fewer)
        try:
            values = pace.run(lambda: densities(coarser, points, some), scheme.count(fewer))
        except OutOfTime:
            break
        apart = float(np.abs(values - values[0] - best).max()) * kernel.n / some
        if not apart <= saved_of(fewer) * scheme.enough:  # or no number
            between = scheme.effects > 1 and fewer + 1 < kernel.nodes and fewer >= FEWEST_NODES
            fewer = fewer + 1 if between else 0  # grids of several effects are worth a third look
            continue
        kernel, error, fewer = coarser, apart, scheme.coarser(fewer)
    return kernel, IntegrationRule(kernel.nodes, error, scheme)


def saved_of(nodes):
    """Share of what is enough that so few nodes' differences from those of finer ones may be."""
    return SAVED if nodes >= FEWEST_NODES else SAVED_OF_NORMAL


def densities(kernel, points, groups):
    """Log densities of the first groups at some points."""
    return np.array([of_rows(kernel, one, slice(0, groups), slope=False)[0] for one in points])
