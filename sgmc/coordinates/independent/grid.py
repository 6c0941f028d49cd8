"""Independent draws of few numbers with a smooth density, such as scales: from standard normal
numbers, by a table of the log density.

The first number has the quantile of its marginal distribution, each other one that of its
distribution given those before it (Rosenblatt 1952, doi:10.1214/aoms/1177729394).  Between the
nodes of a table the log density is a polynomial of degree five in each direction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import ndtr

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.interpolation import POLYNOMIAL_DEGREE, polynomials

FIRST_NODES = {1: 65, 2: 33, 3: 17, 4: 13}  # of each axis, by the number of axes
END_NODES = {1: 25, 2: 25, 3: 13, 4: 9}  # the same of tables that find the ends
FINEST_NODES = 129
LARGEST_GRID = 1 << 20  # of a table
POINTS_A_CELL = 4  # points of integrals per node
NATS_LOST = 25.0  # below the largest log density: what is beyond the table has 1e-11 of the mass
NATS_SEEN = 12.0  # below it: where a table has to be right
FIRST_WIDTH, WIDENED, MOST_WIDENED = 6.0, 1.6, 16  # sds of the first table, and how it is widened
NATS_OFF = 2e-3  # nats by which the table may be off at COMPARED of its draws
ROUGH = 50 * NATS_OFF  # of an axis, see `roughness`: with all its nodes it is then about NATS_OFF
COMPARED = 128
INVERSION_STEPS = 6
GATHERED = 1 << 21  # numbers that are looked up at once

Density = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Grid:
    """A density of numbers (a_1, .., a_k), as a table.

    Attributes
    ----------
    low, high : array (k,)
        Ends of the table: of all numbers but the last, and of what is left of the last one,
        a_k - c_k - sum_j slope_j (a_j - c_j).
    centre : array (k,)
        c.
    slope : array (k - 1,)
    tables : tuple of array (m_1, .., m_j)
        Log densities of the first j numbers, the others integrated out, at evenly spaced nodes;
        of all numbers the largest is 0.
    """

    low: Floats
    high: Floats
    centre: Floats
    slope: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, low: Floats, high: Floats, centre: Floats, slope: Floats, table: Floats) -> "Grid":
        """From the table of all numbers."""
        # what is lost anyway is no steeper than a polynomial can be
        tables = [np.maximum(table - table.max(), -4 * NATS_LOST)]
        while tables[0].ndim > 1:
            m = tables[0].shape[-1]
            rows = tables[0] @ spread(m).T
            tables.insert(0, np.logaddexp.reduce(rows + np.log(simpson(m)), axis=-1))
        return cls(low, high, centre, slope, tuple(tables))

    def __call__(self, z: Floats) -> Floats:
        """Return points (n, k) of standard normal numbers z (n, k)."""
        return self.at_shares(ndtr(z))

    def at_shares(self, p: Floats) -> Floats:
        """Return points (n, k) at values of their distribution functions, (n, k)."""
        places = np.empty((len(p), 0))
        for j, table in enumerate(self.tables):
            m = table.shape[-1]
            rows = looked_up(table, places) @ spread(m).T
            share = inverted(np.exp(rows - rows.max(axis=1, keepdims=True)), p[:, j])
            places = np.column_stack([places, (m - 1) * share])
        points = self.low + (self.high - self.low) * places / (self.sizes - 1)
        points[:, -1] += self.ridge(points[:, :-1])
        return points

    def ridge(self, first: Floats) -> Floats:
        """Return what is taken off the last number, (n,), where the others are `first`."""
        return self.centre[-1] + (first - self.centre[:-1]) @ self.slope

    @property
    def sizes(self) -> Floats:
        """Nodes of each axis."""
        return np.array(self.tables[-1].shape)

    def places(self, points: Floats) -> Floats:
        """Return points (n, k) in units of the nodes."""
        inside = np.array(points)
        inside[:, -1] -= self.ridge(points[:, :-1])
        return (inside - self.low) / (self.high - self.low) * (self.sizes - 1)

    def nodes(self) -> Floats:
        """Return the nodes, (m_1, .., m_k, k)."""
        points = mesh([np.linspace(*one) for one in zip(self.low, self.high, self.sizes)])
        points[..., -1] += self.ridge(points[..., :-1])
        return points

    def log_density(self, points: Floats) -> Floats:
        """Return the table's log density at points (n, k)."""
        places = self.places(points)
        rows = looked_up(self.tables[-1], places[:, :-1])
        k, weight = polynomials(places[:, -1], rows.shape[1])
        near = np.take_along_axis(rows, k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1), 1)
        return (near * weight).sum(1)


def mesh(axes: list[Floats]) -> Floats:
    """Return the points (m_1, .., m_k, k) of some axes; one without numbers of none."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1) if axes else np.zeros((1, 0))


def spread(m: int) -> Floats:
    """Return what leads from m nodes to the points of integrals, (points, m)."""
    k, weight = polynomials(np.linspace(0, m - 1, POINTS_A_CELL * (m - 1) + 1), m)
    out = np.zeros((len(k), m))
    np.put_along_axis(out, k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1), weight, axis=1)
    return out


def looked_up(table: Floats, places: Floats) -> Floats:
    """Return rows (n, m) of a table (.., m) at places (n, j) of all its axes but the last, in units
    of the nodes.
    """
    n, j = places.shape
    if j == 0:
        return np.broadcast_to(table, (n, len(table)))
    size = max(1, GATHERED // ((POLYNOMIAL_DEGREE + 1) ** j * table.shape[-1]))
    if n > size:
        return np.concatenate(
            [looked_up(table, places[a : a + size]) for a in range(0, n, size)], axis=0
        )
    near, weights, strides = np.zeros((n, 1), dtype=int), np.ones((n, 1)), table.shape[1:-1] + (1,)
    for axis in range(j):
        k, weight = polynomials(places[:, axis], table.shape[axis])
        node = (k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1)) * int(np.prod(strides[axis:]))
        near = (near[:, :, None] + node[:, None, :]).reshape(n, -1)
        weights = (weights[:, :, None] * weight[:, None, :]).reshape(n, -1)
    return np.einsum("nw,nwm->nm", weights, table.reshape(-1, table.shape[-1])[near])


def simpson(m: int) -> Floats:
    """Return Simpson's weights of the points of integrals over m nodes, up to a constant."""
    out = np.full(POINTS_A_CELL * (m - 1) + 1, 2.0)
    out[1::2] = 4.0
    out[[0, -1]] = 1.0
    return out


def inverted(density: Floats, p: Floats) -> Floats:
    """Return where distribution functions have the values p (n,), as shares of the distance between
    their ends; `density` (n, points) at evenly spaced points is up to a constant.

    Integrals are by Simpson's rule; in its cells the function is the cubic polynomial that has
    their ends' values and slopes.
    """
    left, middle, right = density[:, :-2:2], density[:, 1::2], density[:, 2::2]
    total = np.cumsum((left + 4 * middle + right) / 6, axis=1)
    wanted = p * total[:, -1]
    k = np.minimum((total < wanted[:, None]).sum(axis=1), total.shape[1] - 1)[:, None]
    before = np.where(k > 0, np.take_along_axis(total, np.maximum(k - 1, 0), 1), 0.0)[:, 0]
    mass = np.take_along_axis(total, k, 1)[:, 0] - before
    first, last = (np.take_along_axis(one, k, 1)[:, 0] for one in (left, right))
    rest = wanted - before
    s = np.clip(rest / np.where(mass > 0, mass, 1.0), 0.0, 1.0)
    for _ in range(INVERSION_STEPS):
        t = 1 - s
        value = s**2 * (3 - 2 * s) * mass + s * t**2 * first - s**2 * t * last
        slope = 6 * s * t * mass + t * (1 - 3 * s) * first + s * (3 * s - 2) * last
        step = np.where(slope > 0, (rest - value) / np.where(slope > 0, slope, 1.0), 0.0)
        s = np.clip(s + step, 0.0, 1.0)
    return (k[:, 0] + s) / total.shape[1]


def grid_of(
    log_density: Density,
    centre: Floats,
    covariance: Floats,
    most: float = np.inf,
    even: int = -1,
    off: float = NATS_OFF,
    nodes: tuple[int, int] | None = None,
    under: Floats | float = np.inf,
    lost: float = NATS_LOST,
) -> Grid | None:
    """Return the table of a density of one to four numbers; None where its tails are too long, or
    as many nodes as may be do not tell it.

    Parameters
    ----------
    log_density : callable
        Of numbers but the last, (n, k - 1), and several last ones beside each, (n, m); up to a
        constant, (n, m).
    centre : array (k,)
        About the mode.
    covariance : array (k, k)
        About that of the density.
    most : float
        Points (n, k - 1) at which the density may be asked for.
    even : int
        How many of the first numbers are not negative; by default all but the last.
    off : float
        Nats by which the table may be off at some of its draws; with infinity none are looked at.
    nodes : (int, int), optional
        Nodes of each axis to find the ends with, and to begin with.
    under : float or array (k,)
        Where axes end.
    lost : float
        Nats below the largest log density, where the table ends.
    """
    covariance, count = np.asarray(covariance), len(centre)
    even = count - 1 if even < 0 else even
    ending, beginning = nodes or (END_NODES[count], FIRST_NODES[count])
    slope = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
    # what is left of a last number has no end at zero
    free = even < count
    slope, offset = slope * free, np.append(centre[:-1], centre[-1] * free)
    own = np.diag(covariance).copy()
    own[-1] = max(own[-1] - slope @ covariance[:-1, -1], 1e-6 * own[-1])
    width = FIRST_WIDTH * np.sqrt(own)
    middle = np.append(centre[:-1], centre[-1] * (not free))
    above = np.where(np.arange(count) < even, 0.0, -np.inf)  # where the axes may begin
    axes_end = above, np.broadcast_to(under, (count,))
    low, high = np.maximum(middle - width, above), np.minimum(middle + width, under)
    asked = 0

    def tabulated(sizes: list[int], low: Floats, high: Floats) -> Floats | None:
        nonlocal asked
        asked += int(np.prod(sizes[:-1]))
        if asked > most or np.prod(sizes) > LARGEST_GRID:
            return None
        axes = [np.linspace(a, b, m) for a, b, m in zip(low, high, sizes)]
        first = mesh(axes[:-1]).reshape(int(np.prod(sizes[:-1])), count - 1)
        ridge = offset[-1] + (first - offset[:-1]) @ slope
        found = log_density(first, axes[-1] + ridge[:, None])
        return np.where(np.isnan(found), -np.inf, found).reshape(sizes)

    ends = ends_of(tabulated, low, high, axes_end, ending, lost)
    if ends is None:
        return None
    sizes = [beginning] * count
    while max(sizes) <= FINEST_NODES:
        table = tabulated(sizes, *ends)
        if table is None:
            return None
        found = Grid.of(*ends, offset, slope, table)
        if is_right(found, log_density, off):
            return found
        rough = np.array([roughness(found.tables[-1], axis) for axis in range(count)])
        finer = rough >= ROUGH
        if not finer.any():  # of those that are about as rough as any, the cheapest
            near = np.where(rough >= 0.5 * rough.max(), sizes, np.inf)
            finer = np.arange(count) == near.argmin()
        sizes = [2 * m - 1 if more else m for m, more in zip(sizes, finer)]
    return None


def ends_of(
    tabulated: Callable[[list[int], Floats, Floats], Floats | None],
    low: Floats,
    high: Floats,
    within: tuple[Floats, Floats],
    m: int,
    lost: float,
) -> tuple[Floats, Floats] | None:
    """Return the ends beyond which a density is lost, within those of the axes; None where these
    are too far.
    """
    above, under = within
    count = len(low)
    every = np.arange(count)
    for _ in range(MOST_WIDENED):
        table = tabulated([m] * count, low, high)
        least = -np.inf if table is None else table.max() - lost
        if table is None or not np.isfinite(least):
            return None
        profiles = [table.max(axis=tuple(np.delete(every, axis))) for axis in every]
        open_low = np.array([one[0] > least for one in profiles]) & (low > above)
        open_high = np.array([one[-1] > least for one in profiles]) & (high < under)
        if not (open_low.any() or open_high.any()):
            kept = [np.flatnonzero(one >= least)[[0, -1]] for one in profiles]
            step = (high - low) / (m - 1)
            first, last = (np.array([one[k] for one in kept]) for k in (0, 1))
            high = low + step * np.minimum(last + 1, m - 1)
            low = low + step * np.maximum(first - 1, 0)
            if (last - first >= m // 3).all():
                return low, high
            continue  # too coarse to tell the ends: look again between the nodes around them
        width = (WIDENED - 1) * (high - low)
        low = np.maximum(low - width * open_low, above)
        high = np.minimum(high + width * open_high, under)
    return None


def roughness(table: Floats, axis: int) -> float:
    """Return by how much every second node along an axis leaves the others unknown, where the
    density is seen: with all nodes about 2^6 times as little is unknown.
    """
    rows = np.moveaxis(table, axis, 0)
    places = np.arange(1, len(rows), 2) / 2
    k, weight = polynomials(places, (len(rows) + 1) // 2)
    near = rows[::2][k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1)]
    off = np.abs(np.einsum("ni,ni...->n...", weight, near) - rows[1::2])
    return float(np.max(np.where(rows[1::2] > -NATS_SEEN, off, 0.0)))


def is_right(found: Grid, log_density: Density, most: float, compared: int = COMPARED) -> bool:
    """Return whether a table is right at evenly spread draws of it (Kronecker's sequence of the
    powers of the root of x^k = x + 1).
    """
    if most == np.inf:
        return True
    count = len(found.low)
    root = reduce(lambda x, _: (1 + x) ** (1 / count), range(50), 2.0)
    share = (np.arange(compared)[:, None] + 0.5) * root ** -np.arange(count)
    share[:, 0] /= compared
    share[:, 1:] %= 1.0
    points = found.at_shares(share)
    off = log_density(points[:, :-1], points[:, -1:])[:, 0] - found.log_density(points)
    return bool(np.ptp(off) < most)
