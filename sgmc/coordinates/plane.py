"""Independent draws of two numbers with a smooth density, such as the logs of two scales: from
standard normal numbers, by a table of the log density.

The first number has the quantile of its marginal distribution, the second one that of its
distribution given the first (Rosenblatt 1952, doi:10.1214/aoms/1177729394).  Between the nodes of
the table the log density is a polynomial of degree five in each direction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from sgmc.arguments.types import Floats
from sgmc.coordinates.interpolation import POLYNOMIAL_DEGREE, interpolated, polynomials

FIRST_NODES, FINEST_NODES = 33, 129  # of each axis
POINTS_A_CELL = 4  # points of integrals per node
NATS_LOST = 25.0  # below the largest log density: what is beyond the table has 1e-11 of the mass
FIRST_WIDTH, WIDENED, MOST_WIDENED = 6.0, 1.6, 16  # sds of the first table, and how it is widened
END_NODES = 25  # nodes of tables that find the ends
NATS_OFF = 2e-3  # nats by which the table may be off at CHECKED_PAIRS of its draws
CHECKED_PAIRS = 128
INVERSION_STEPS = 6

Density = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Plane:
    """A density of two numbers (a, b), as a table.

    Attributes
    ----------
    low, high : array (2,)
        Ends of the table: of a, and of what is left of b, b - slope (a - centre).
    centre, slope : float
    table : array (m, m)
        Log density at evenly spaced nodes, the largest being 0.
    """

    low: Floats
    high: Floats
    centre: float
    slope: float
    table: Floats

    def __call__(self, z: Floats) -> Floats:
        """Return pairs (n, 2) of standard normal numbers z (n, 2)."""
        return self.at_shares(ndtr(z))

    def at_shares(self, p: Floats) -> Floats:
        """Return pairs (n, 2) at values of their distribution functions, (n, 2)."""
        a = inverted(np.broadcast_to(self.first, (len(p), len(self.first))), p[:, 0])
        a = self.low[0] + (self.high[0] - self.low[0]) * a
        rows = self.rows(self.at(a))
        b = inverted(np.exp(rows - rows.max(axis=1, keepdims=True)), p[:, 1])
        b = self.low[1] + (self.high[1] - self.low[1]) * b
        return np.column_stack([a, b + self.slope * (a - self.centre)])

    @cached_property
    def first(self) -> Floats:
        """Density of a at the points of integrals, (points,), up to a constant."""
        m = len(self.table)
        inner = np.logaddexp.reduce(self.rows(self.table) + np.log(simpson(m)), axis=1)
        return np.exp(self.spread(m) @ (inner - inner.max()))

    def rows(self, values: Floats) -> Floats:
        """Return log densities (n, m) at the points of integrals, (n, points)."""
        return values @ self.spread(values.shape[1]).T

    @staticmethod
    def spread(m: int) -> Floats:
        """Return what leads from m nodes to the points of integrals, (points, m)."""
        k, weight = polynomials(np.linspace(0, m - 1, POINTS_A_CELL * (m - 1) + 1), m)
        out = np.zeros((len(k), m))
        np.put_along_axis(out, k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1), weight, axis=1)
        return out

    def at(self, a: Floats) -> Floats:
        """Return log densities at numbers a (n,) and all nodes of the other, (n, m)."""
        place = (a - self.low[0]) / (self.high[0] - self.low[0]) * (len(self.table) - 1)
        return interpolated(self.table, place)

    def log_density(self, pairs: Floats) -> Floats:
        """Return the table's log density at pairs (n, 2)."""
        m, a = len(self.table), pairs[:, 0]
        b = pairs[:, 1] - self.slope * (a - self.centre)
        k, weight = polynomials((b - self.low[1]) / (self.high[1] - self.low[1]) * (m - 1), m)
        rows = self.at(a)
        near = np.take_along_axis(rows, k[:, None] + np.arange(POLYNOMIAL_DEGREE + 1), 1)
        return (near * weight).sum(1)


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


def plane_of(log_density: Density, centre: Floats, covariance: Floats) -> Plane | None:
    """Return the table of a density of two numbers, the first of which is not negative; None where
    its tails are too long, or FINEST_NODES nodes do not tell it to NATS_OFF nats.

    Parameters
    ----------
    log_density : callable
        Of pairs (n, 2), up to a constant.
    centre : array (2,)
        About the mode.
    covariance : array (2, 2)
        About that of the density.
    """
    sds = np.sqrt(np.diag(covariance))
    slope = covariance[0, 1] / covariance[0, 0]
    rest = np.sqrt(max(covariance[1, 1] - slope * covariance[0, 1], 1e-6 * covariance[1, 1]))
    width = FIRST_WIDTH * np.array([sds[0], rest])
    low, high = np.array([centre[0], 0.0]) - width, np.array([centre[0], 0.0]) + width
    low[0] = max(low[0], 0.0)

    def tabulated(m: int, low: Floats, high: Floats) -> Floats:
        a, b = (np.linspace(low[k], high[k], m) for k in (0, 1))
        pairs = np.stack(np.broadcast_arrays(a[:, None], b), axis=-1).reshape(-1, 2)
        pairs[:, 1] += centre[1] + slope * (pairs[:, 0] - centre[0])
        found = log_density(pairs)
        return np.where(np.isnan(found), -np.inf, found).reshape(m, m)

    ends = ends_of(tabulated, low, high)
    if ends is None:
        return None
    low, high = ends
    m = FIRST_NODES
    while m <= FINEST_NODES:
        table = tabulated(m, low, high)
        table -= table.max()
        # what is lost anyway is no steeper than a polynomial can be
        table = np.maximum(table, -4 * NATS_LOST)
        offset = np.array([0.0, centre[1]])
        found = Plane(low + offset, high + offset, float(centre[0]), float(slope), table)
        if is_right(found, log_density):
            return found
        m = 2 * m - 1
    return None


def ends_of(
    tabulated: Callable[[int, Floats, Floats], Floats], low: Floats, high: Floats
) -> tuple[Floats, Floats] | None:
    """Return the ends beyond which a density is lost; None where these are too far."""
    for _ in range(MOST_WIDENED):
        table = tabulated(END_NODES, low, high)
        least = table.max() - NATS_LOST
        if not np.isfinite(least):
            return None
        rows, columns = table.max(axis=1), table.max(axis=0)
        open_low = np.array([rows[0] > least and low[0] > 0, columns[0] > least])
        open_high = np.array([rows[-1] > least, columns[-1] > least])
        if not (open_low.any() or open_high.any()):
            kept = [np.flatnonzero(one >= least)[[0, -1]] for one in (rows, columns)]
            step = (high - low) / (END_NODES - 1)
            first, last = (np.array([one[k] for one in kept]) for k in (0, 1))
            high = low + step * np.minimum(last + 1, END_NODES - 1)
            low = low + step * np.maximum(first - 1, 0)
            if (last - first >= END_NODES // 3).all():
                return low, high
            continue  # too coarse to tell the ends: look again between the nodes around them
        width = (WIDENED - 1) * (high - low)
        low, high = low - width * open_low, high + width * open_high
        low[0] = max(low[0], 0.0)
    return None


def is_right(found: Plane, log_density: Density) -> bool:
    """Return whether a table is right at evenly spread draws of it."""
    share = (np.arange(CHECKED_PAIRS)[:, None] + 0.5) * np.array([1.0, 0.618033988749895])
    share = np.stack([share[:, 0] / CHECKED_PAIRS, share[:, 1] % 1.0], axis=1)
    pairs = found.at_shares(share)
    off = log_density(pairs) - found.log_density(pairs)
    return bool(np.ptp(off) < NATS_OFF)
