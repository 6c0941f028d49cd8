"""Sums over rows of normal outcomes with factors of many levels.

What effects of many levels leave of the rows is a smooth function of the ratios of their sds to
sigma.  It is known exactly at few points of these, each of which costs a root, and between them by
polynomials through Chebyshev's points (Trefethen 2013, Approximation Theory and Approximation
Practice, chapter 8).  In the coordinates log(1 + S r^2), S being the largest product of a column of
an effect with itself, functions 1 / (1 + D r^2) with D <= S have no pole near the line.  So errors
fall by about pi / h + sqrt(1 + (pi / h)^2) with each point, where points are within h of their
middle.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtrs

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.grid import mesh
from sgmc.coordinates.independent.integrated import Sums
from sgmc.coordinates.independent.interpolation import chebyshev_axes, chebyshev_weights
from sgmc.models.regression.latent.sampled.blocks.elimination import Elimination
from sgmc.models.regression.latent.sampled.blocks.inverse_root import inverse_root_times
from sgmc.models.regression.rows.effect_sums import kept_effects, roots_of

NATS_LEFT = 1e-4  # of all levels' log determinants that points may leave unknown
FEWEST_ON_AXIS, MOST_ON_AXIS = 4, 33  # of an axis
# of what is asked for, by which axes are made longer: `ends_of` asks for 0.6 more at least once,
# in other coordinates
LONGER, LEAST_MORE = 0.7, 0.1
NOISE_AT_ONCE = 1 << 17  # of vectors
BEYOND_ENDS = 1e-9  # of an axis, by which points may be beyond its ends


class TooMuchWork(Exception):
    """Tables would take longer than chains."""


@dataclass(frozen=True)
class RatioTable:
    """Values at the points of all axes.

    Attributes
    ----------
    low, high : array (p,)
        Ends of the axes, in their coordinates.
    sizes : array (p,) of int
        Points of each.
    left : array (points, w * w)
    logs : array (points,)
    means : array (points, w, k)
        See `Elimination.without`.
    """

    low: Floats
    high: Floats
    sizes: Ints
    left: Floats
    logs: Floats
    means: Floats

    def weights(self, t: Floats) -> Floats:
        """Return what values at points t (n, p) are made of, (n, points)."""
        return chebyshev_weights(t, self.low, self.high, self.sizes)

    @property
    def reach(self) -> Floats:
        """Lengths of the axes."""
        return self.high - self.low


class EliminatedSums(Sums):
    """Sums of which each point costs a root.

    Parameters
    ----------
    of : Elimination
    """

    def __init__(self, of: Elimination) -> None:
        self.of, self.weight, self.count = of, of.weight, len(of.order)
        self.kept = of.by_kind[2]

    def left(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return `Elimination.without` at ratios (n, q): (n, w, w) and (n,)."""
        first, second, _ = self.of.by_kind
        found = [self.of.without(self.of.first_out(r[first[0]]), r[second])[:2] for r in ratios]
        return np.array([one for one, _ in found]), np.array([log for _, log in found])

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        P, logs = self.left(ratios)
        q = len(self.kept)
        root, rest = roots_of(P, ratios[:, self.kept])
        return rest, logs + np.log(np.diagonal(root[:, :q], axis1=1, axis2=2)).sum(axis=1)


class InterpolatedSums(EliminatedSums):
    """Sums between points of a table, which is made of what is asked for.

    Parameters
    ----------
    of : Elimination
    axes : array (p,) of int
        Numbers of the sds of the table, the first kind's first.
    most : float
        Floating-point operations of all tables.
    """

    def __init__(self, of: Elimination, axes: Ints, most: float) -> None:
        super().__init__(of)
        self.axes, self.work_left, self.table = axes, most, None
        w = len(of.rest)
        self.operations = w**3 / 3 + 30 * w**2
        self.root, self.roots_size = np.eye(of.count[1]), of.count[1]

    def coordinates(self, ratios: Floats) -> Floats:
        """Return those of the axes, of ratios (n, q)."""
        return np.log1p(self.of.told[self.axes] * ratios[:, self.axes] ** 2)

    def covering(self, t: Floats) -> RatioTable:
        """Return a table that has points t (n, p)."""
        low, high, held = t.min(axis=0), t.max(axis=0), self.table
        if held is not None:
            spare = BEYOND_ENDS * held.reach
            if (low >= held.low - spare).all() and (high <= held.high + spare).all():
                return held
            low, high = np.minimum(low, held.low), np.maximum(high, held.high)
        more = np.maximum(LONGER * (high - low), LEAST_MORE)
        self.table = self.tabulated(np.maximum(low - more, 0.0), high + more)
        return self.table

    def tabulated(self, low: Floats, high: Floats) -> RatioTable:
        """Return the table between some ends."""
        of, sizes = self.of, points_needed(0.5 * (high - low), len(self.of.order))
        self.work_left -= float(sizes.prod()) * of.operations
        if self.work_left < 0 or sizes.max() > MOST_ON_AXIS:
            raise TooMuchWork
        axes = chebyshev_axes(low, high, sizes)
        ratios = [np.sqrt(np.expm1(t) / of.told[j]) for t, j in zip(axes, self.axes)]
        second = of.by_kind[1]
        others = mesh(ratios[1:]).reshape(sizes[1:].prod(), len(sizes) - 1)
        w, k, every = len(of.rest), of.count[1], np.zeros(len(of.told))
        left, means = np.empty((sizes.prod(), w * w)), np.empty((sizes.prod(), w, k))
        logs, point = np.empty(sizes.prod()), 0
        for r in ratios[0]:
            given = of.first_out(r)
            for other in others:
                every[self.axes[1:]] = other
                one, logs[point], by = of.without(given, every[second])
                left[point], means[point] = one.ravel(), by.T
                point += 1
        return RatioTable(low, high, sizes, left, logs, means)

    def prepare(self, ratios: Floats) -> None:
        self.covering(self.coordinates(ratios))

    def left(self, ratios: Floats) -> tuple[Floats, Floats]:
        t, w = self.coordinates(ratios), len(self.of.rest)
        table = self.covering(t)
        weights = table.weights(t)
        return (weights @ table.left).reshape(-1, w, w), weights @ table.logs

    def anchored(self, ratios: Floats) -> None:
        """Draw effects from now on by the root at ratios (q,)."""
        first, second, _ = self.of.by_kind
        own = self.of.first_out(ratios[first[0]])[0]
        self.root = self.of.root(own, ratios[second])

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        step = max(1, NOISE_AT_ONCE // max(self.of.count[1], 1))
        parts = [slice(a, a + step) for a in range(0, len(z), step)]
        found = np.concatenate([self.few_effects(ratios[at], pull[at], z[at]) for at in parts])
        back = np.empty_like(found)
        back[:, self.of.order] = found
        return back

    def few_effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return `effects` of points that are looked at together, in the order of their kinds."""
        (m, k), (first, second, _) = self.of.count, self.of.by_kind
        t = self.coordinates(ratios)
        table = self.covering(t)
        weights, w = table.weights(t), len(self.of.rest)
        root, _ = roots_of((weights @ table.left).reshape(-1, w, w), ratios[:, self.kept])
        out = np.empty_like(z)
        out[:, m + k :] = kept_effects(root, pull, z[:, m + k :]) * ratios[:, self.kept]
        given = np.concatenate([-out[:, m + k :], pull], axis=1)
        # the means are linear in what is given
        both = (weights[:, :, None] * given[:, None]).reshape(len(z), -1)
        noise, _ = self.noise(ratios, z[:, m : m + k].T)
        means = both @ table.means.reshape(both.shape[1], k)
        out[:, m : m + k] = means + ratios[:, second] * noise.T
        by = self.of.shrunk(ratios[:, first[0]]).T
        left = given @ self.of.beside.T - (self.of.across @ out[:, m : m + k].T).T
        out[:, :m] = by * left + np.sqrt(by) * z[:, :m]
        return out

    def noise(self, ratios: Floats, z: Floats) -> tuple[Floats, bool]:
        """Return effects of the second kind around their means, in units of their sds, (k, n), of
        standard normal numbers, and whether these are exact.
        """
        if not len(z):
            return z, True

        def product(x: Floats) -> Floats:
            up = dtrtrs(self.root, x, lower=1, trans=1)[0]
            return dtrtrs(self.root, self.of.precision_times(ratios, up), lower=1)[0]

        found, settled = inverse_root_times(product, z)
        return dtrtrs(self.root, found, lower=1, trans=1)[0], settled


def points_needed(reach: Floats, levels: int) -> Ints:
    """Return how many points axes need that reach so far from their middle."""
    far = np.pi / np.maximum(reach, 1e-6)
    falls = np.log(far + np.sqrt(1 + far**2))
    return np.maximum(np.ceil(np.log(levels / NATS_LEFT) / falls), FEWEST_ON_AXIS).astype(int)
