"""Natural cubic splines in B-splines whose curvature vanishes at both ends, the columns of R's
`splines::ns`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.errors import DataError

DEGREE = 3


def inner_knots(x: Floats, count: int, ends: tuple[float, float]) -> Floats:
    """Knots at equally spaced quantiles of the numbers between the ends, as R places them."""
    inside = x[(x >= ends[0]) & (x <= ends[1])]
    return np.quantile(inside, np.linspace(0.0, 1.0, count + 2)[1:-1])


@dataclass(frozen=True)
class NaturalSplines:
    """A basis of natural cubic splines.

    The B-splines B on the knots lose the two directions in which B''(low) and B''(high) are: with
    [B''(low)' B''(high)'] = Q R the columns are B Q without the first two of Q (Hastie 1992,
    Statistical Models in S, section 7.6.2).  Without the intercept the first B-spline is left out.

    Attributes
    ----------
    knots : array (k,)
        Between the ends, in rising order.
    ends : tuple of float
        Beyond them curves go on as straight lines.
    intercept : bool
        Whether constants are among the curves.
    """

    knots: np.ndarray
    ends: tuple[Any, ...]
    intercept: bool

    @property
    def columns(self) -> int:
        """Columns of the basis."""
        return len(self.knots) + 1 + self.intercept

    def values(self, x: Floats) -> Floats:
        """The basis at numbers x (n,), an array (n, columns)."""
        from scipy.interpolate import BSpline  # only here: it takes long to import

        low, high = self.ends
        knots = np.concatenate([[low] * (DEGREE + 1), self.knots, [high] * (DEGREE + 1)])
        pieces = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
        inside = np.clip(x, low, high)
        found = pieces(inside) + (x - inside)[:, None] * pieces(inside, 1)
        bent = pieces(np.array(self.ends), 2)
        first = 0 if self.intercept else 1
        turned = np.linalg.qr(bent[:, first:].T, mode="complete")[0]
        return found[:, first:] @ turned[:, 2:]


def natural_splines(
    x: Floats, df: int | None, knots: Any, ends: Any, intercept: bool
) -> NaturalSplines:
    """The `NaturalSplines` for numbers x (n,).

    Parameters
    ----------
    x : array (n,)
    df : int or None
        Columns; the knots are then quantiles of x.
    knots : array_like or None
    ends : pair of float or None
        Default: the least and the largest x.
    intercept : bool

    Raises
    ------
    DataError
        Where knots and data do not suit.
    """
    x = x[np.isfinite(x)]
    if not len(x):
        raise DataError("ns() has no finite number to place its knots by")
    ends = (float(x.min()), float(x.max())) if ends is None else tuple(map(float, ends))
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise DataError(
            f"ns() needs two different ends, in rising order, not {ends}: is its column constant?"
        )
    if knots is None:
        count = (1 if df is None else df) - 1 - intercept
        if count != int(count) or count < 0:
            raise DataError(
                f"ns(): df={df} must be a whole number from {1 + intercept} on; give more"
            )
        knots = inner_knots(x, int(count), ends)
    knots = np.sort(np.atleast_1d(np.asarray(knots, dtype=np.float64)))
    if not ((knots > ends[0]) & (knots < ends[1])).all():
        raise DataError(
            f"ns(): the knots {knots.tolist()} must be between the ends {ends[0]:g} and "
            f"{ends[1]:g}; give fewer, or other ones"
        )
    return NaturalSplines(knots, ends, bool(intercept))
