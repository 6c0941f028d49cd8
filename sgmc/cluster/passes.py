"""What a worker computes of a partition: pure functions of its rows, which can be pickled.

Each is called with the partition's number and its rows, a table or what a recipe has made of one.
What it returns depends on nothing else, so that a retry on another worker returns the same bits.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.cluster import reservoir
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, leverages, of_rows
from sgmc.fit.noise import outstanding
from sgmc.formula.designs.moments import Moments
from sgmc.models.regression.mode.search import beyond_offsets

BLOCK_CANDIDATES = 5000  # rows of high leverage that a partition sends, at most


def kernel_of(rows, recipe):
    """The compiled model of encoded rows, of as many parameters as all rows have."""
    rows = rows.with_kinds(recipe.kinds)
    table = rows.table()
    return recipe.family.kernel(design(rows.X), table.response, rows.offset, table.multiplicity)


@dataclass(frozen=True)
class Encoding:
    """The rows themselves, encoded, to stay where they are."""

    recipe: object

    def __call__(self, number, data):
        return self.recipe.encode(number, data)


@dataclass(frozen=True)
class Surveyed:
    """What a partition says of its columns, and its share of the reservoir.

    Attributes
    ----------
    rows, dropped : int
    design, outcome, offset : Moments
    spreads : Spreads
        Of the numbers of the design.
    sample : Sample
    """

    rows: int
    dropped: int
    design: Moments
    outcome: Moments
    offset: Moments
    spreads: object
    sample: object

    def merge(self, other):
        """That of both."""
        return Surveyed(
            self.rows + other.rows,
            self.dropped + other.dropped,
            self.design.merge(other.design),
            self.outcome.merge(other.outcome),
            self.offset.merge(other.offset),
            self.spreads.merge(other.spreads),
            self.sample.merge(other.sample),
        )


@dataclass(frozen=True)
class Survey:
    """A pass that returns the `Surveyed` of a partition.

    Attributes
    ----------
    recipe : Recipe
    seed : object
        Entropy of the keys.
    below : float
        Rows with keys below it are sent.
    """

    recipe: object
    seed: object
    below: float

    def __call__(self, number, data):
        rows = self.recipe.encode(number, data)
        keys = reservoir.keys(self.seed, number, len(rows))
        offset = np.zeros(len(rows)) if rows.offset is None else rows.offset
        outcome = beyond_offsets(self.recipe.family, rows.y, rows.offset)
        return Surveyed(
            len(rows),
            rows.dropped,
            Moments.of(rows.X, rows.weight),
            Moments.of(outcome[:, None], rows.weight),
            Moments.of(offset[:, None]),
            rows.spreads,
            reservoir.ReservoirSample.of(rows, keys, number, self.below),
        )


@dataclass(frozen=True)
class Expanded:
    """Log-likelihood, gradient and upper triangle of minus the Hessian: p^2 numbers."""

    value: float
    gradient: np.ndarray
    triangle: np.ndarray

    def merge(self, other):
        """That of the rows of both."""
        return Expanded(
            self.value + other.value,
            self.gradient + other.gradient,
            self.triangle + other.triangle,
        )

    @property
    def hessian(self):
        """Minus the Hessian, (p, p)."""
        p = len(self.gradient)
        full = np.zeros((p, p))
        full[np.triu_indices(p)] = self.triangle
        return full + np.triu(full, 1).T


@dataclass(frozen=True)
class Expansion:
    """A pass that returns the `Expanded` of a partition at theta."""

    recipe: object
    theta: np.ndarray

    def __call__(self, number, data):
        rows, p = self.recipe.encode(number, data), len(self.theta)
        if not len(rows):
            return Expanded(0.0, np.zeros(p), np.zeros(p * (p + 1) // 2))
        value, gradient, hessian = expand(kernel_of(rows, self.recipe), self.theta)
        return Expanded(value, gradient, hessian[np.triu_indices(p)])


@dataclass(frozen=True)
class Values:
    """A pass that returns log-likelihoods of a partition at several points, (k,)."""

    recipe: object
    points: np.ndarray

    def __call__(self, number, data):
        rows = self.recipe.encode(number, data)
        if not len(rows):
            return np.zeros(len(self.points))
        model = kernel_of(rows, self.recipe)
        return np.array([of_rows(model, point, slope=False)[0] for point in self.points])


@dataclass(frozen=True)
class Inspected:
    """Gradients at several points, and rows of high leverage.

    Attributes
    ----------
    gradients : array (k, p)
        Of the log-likelihood.
    sample : Sample
        The rows, their shares as keys with a minus sign, so that the largest come first.
    """

    gradients: np.ndarray
    sample: object

    def merge(self, other):
        """That of the rows of both."""
        most = self.sample.merge(other.sample).smallest(BLOCK_CANDIDATES)
        return Inspected(self.gradients + other.gradients, most)


@dataclass(frozen=True)
class Inspection:
    """A pass that returns the `Inspected` of a partition.

    Attributes
    ----------
    recipe : Recipe
    theta : array (p,)
        The centre.
    white : array (p, p)
        The posterior's covariance is about white white'.
    points : array (k, p)
    rows : int
        In all partitions.
    """

    recipe: object
    theta: np.ndarray
    white: np.ndarray
    points: np.ndarray
    rows: int

    def __call__(self, number, data):
        rows = self.recipe.encode(number, data)
        if not len(rows):
            none = reservoir.ReservoirSample.of(rows, np.empty(0), number, 1.0)
            return Inspected(np.zeros(self.points.shape), none)
        model = kernel_of(rows, self.recipe)
        gradients = gradients_at(model, self.points)
        s, w = leverages(model, self.white, Anchor(model, self.theta, True))
        places, share = outstanding(s, w, self.rows)
        sample = reservoir.ReservoirSample.of(rows.among(places), -share, number, np.inf, places)
        return Inspected(gradients, sample.smallest(BLOCK_CANDIDATES))


def gradients_at(model, points):
    """Gradients of the log-likelihood at several points, (k, p)."""
    return np.array([Anchor(model, point).full for point in points])
