"""Random walks, ``rw1(t)`` and ``rw2(t)``: levels that change from time to time.

At the values t_1 < ... < t_m that rows have, a walk of order one has independent increments,
f_{i+1} - f_i ~ N(0, sd^2 g_i) with g_i = t_{i+1} - t_i; one of order two has slopes
(f_{i+1} - f_i) / g_i whose increments are ~ N(0, sd^2 (g_i + g_{i+1}) / 2) (Rue & Held 2005,
Gaussian Markov Random Fields, sections 3.3 and 3.4; Lindgren & Rue 2008,
doi:10.1111/j.1467-9469.2008.00610.x).  The constant, with order two the straight line, is not
penalised.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.errors import FormulaError
from sgmc.splines.bases import Basis
from sgmc.splines.penalised import PenalisedTerm
from sgmc.splines.restored import numbers, rising

MOST_TIMES = 1_000  # different times: the columns of a walk are an array (rows, times)


@dataclass(frozen=True)
class WalkBasis(Basis):
    """Walks at times, and straight lines between these.

    Attributes
    ----------
    low, high : float
        The first and the last time.
    knots : array (m,)
        All times, in [0, 1].
    flat : {1, 2}
        The order.
    """

    low: float
    high: float
    knots: np.ndarray
    flat: int

    @property
    def beyond(self) -> str:  # type: ignore[override]
        """See `Basis`."""
        return "stays where it ended" if self.flat == 1 else "goes on as a straight line"

    @property
    def elements(self) -> int:
        """See `Basis`."""
        return len(self.knots)

    def sound(self) -> bool:
        """See `Basis`."""
        times = rising(self.knots, self.flat + 1) and numbers((self.low, self.high), 2)
        return times and self.flat in (1, 2) and self.elements <= MOST_TIMES

    def grid(self, count: int) -> Floats:
        """See `Basis`: the times."""
        return self.low + self.knots * (self.high - self.low)

    def values(self, x: Floats) -> Floats:
        """See `Basis`: between times walks are straight; beyond the last one those of order one
        stay, those of order two go on with their slope.
        """
        u = self.position(x)
        if self.flat == 1:
            u = np.clip(u, 0.0, 1.0)
        right = np.clip(np.searchsorted(self.knots, u, side="right"), 1, len(self.knots) - 1)
        start, end = self.knots[right - 1], self.knots[right]
        share, row = (u - start) / (end - start), np.arange(len(u))
        out = np.zeros((len(u), len(self.knots)))
        out[row, right - 1], out[row, right] = 1.0 - share, share
        return out

    def penalised(self) -> Floats:
        """See `Basis`: walks from zero, each with an increment of one of its sds."""
        gaps = np.diff(self.knots)
        if self.flat == 1:
            increments = np.diag(np.sqrt(gaps))
        else:
            between = 0.5 * (gaps[1:] + gaps[:-1])
            slopes = np.vstack([np.zeros(len(between)), np.diag(np.sqrt(between))])
            increments = gaps[:, None] * np.cumsum(slopes, axis=0)
        return np.vstack([np.zeros(increments.shape[1]), np.cumsum(increments, axis=0)])


@dataclass(frozen=True)
class FirstWalk(PenalisedTerm):
    """A random walk of order one: levels of neighbouring times are near each other.

    Attributes
    ----------
    knots : sequence of float or None
        Times that the walk has besides those of the rows, such as future ones, at which predictions
        are then as uncertain as they are.
    """

    knots: Any = None
    name, written, basis = "rw1", "rw1(t)", WalkBasis
    smaller = "round the times, or use s(t)"
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.knots is None:
            return
        known = isinstance(self.knots, tuple | list)
        numeric = known and all(isinstance(one, int | float) for one in self.knots)
        if not numeric or not np.isfinite(np.array(self.knots, dtype=float)).all():
            raise ValueError("knots are more times, such as knots=[2025, 2026]")

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`."""
        return self.order

    def bases(self, x: Floats, text: str) -> list[WalkBasis]:
        """See `PenalisedTerm`."""
        times = np.unique(np.append(x[:, 0], self.knots or ()))
        if not self.order < len(np.unique(x)):
            raise FormulaError(
                f"{text}: the rows have {len(np.unique(x))} different values, from which no walk "
                "can be told; leave the term out"
            )
        if len(times) > MOST_TIMES:
            raise FormulaError(
                f"{text}: there are {len(times):,} different values, at most {MOST_TIMES:,}; "
                f"{self.smaller}"
            )
        low, high = times[0], times[-1]
        return [WalkBasis(float(low), float(high), (times - low) / (high - low), self.order)]


@dataclass(frozen=True)
class SecondWalk(FirstWalk):
    """A random walk of order two: slopes between neighbouring times are near each other.

    Attributes
    ----------
    knots : sequence of float or None
        See `FirstWalk`.
    """

    name, written, order = "rw2", "rw2(t)", 2
