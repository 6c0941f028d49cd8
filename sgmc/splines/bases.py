"""Bases of curves, and what is penalised of them.

A basis of splines has k piecewise cubic polynomials B on u in [0, 1], the range of a covariate.
Curves f = B c whose integral of f''^2 is zero are the straight lines, among periodic ones the
constants.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.types import Bools, Floats
from sgmc.core.system import deadline
from sgmc.errors import FormulaError
from sgmc.splines import restored
from sgmc.splines.restored import refuse_unsound, rising

if TYPE_CHECKING:
    from sgmc.splines.spectra import SpectralParameter

SHORTEST = {"cr": 3, "bs": 4, "cc": 4}  # bases: with fewer elements nothing is left to be penalised
ROWS_OF_PENALTY = 32  # made together, so that the products of an interval stay in the cache
EXTREMES = 2  # knots that are the ends of an interval, others being between them at equal distances


class Basis(ABC):
    """A basis of curves of a covariate, for a kind of term (`sgmc.splines.kinds`).

    Attributes
    ----------
    low, high : float
        Ends of the range.
    flat : {1, 2}
        Of what is not penalised: constants alone, or straight lines.
    beyond : str
        What curves do beyond the ends, in words.
    continues : bool
        Whether they go on there by their own law, see `models.regression.latent.effects.continued`.
    """

    low: float
    high: float
    flat: int
    beyond: str
    continues = False

    def of_file(self, state: dict[str, Any]) -> None:
        """Take over the attributes in a file; ValueError for those that no fit makes."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        refuse_unsound(self, lambda one: rising((one.low, one.high), 2) and one.sound())

    def position(self, x: Floats) -> Floats:
        """u for numbers x (n,), which is in [0, 1] between the ends."""
        return (np.asarray(x, dtype=float) - self.low) / (self.high - self.low)

    def outside(self, x: Floats) -> Bools:
        """Which of the numbers x (n,) are beyond the ends."""
        u = self.position(x)
        return (u < 0) | (u > 1)

    def grid(self, count: int) -> Floats:
        """Numbers x at which curves are shown, about so many."""
        return np.linspace(self.low, self.high, count)

    @property
    @abstractmethod
    def elements(self) -> int:
        """How many there are, k."""

    @property
    def width(self) -> int:
        """Columns of R, at most."""
        return self.elements

    @abstractmethod
    def values(self, x: Floats) -> Floats:
        """B at numbers x (n,), an array (n, k)."""

    def combined(self, x: Floats, root: Floats) -> Floats:
        """Combinations `root` (k, r) of the basis at numbers x (n,), an array (n, r)."""
        return self.values(x) @ root

    @abstractmethod
    def penalised(self) -> Floats:
        """Combinations R (k, r) of the basis such that a curve B R b has the penalty |b|^2."""

    @abstractmethod
    def sound(self) -> bool:
        """Whether numbers and shapes are such as a fit makes: those in a file may be others."""

    def blocks(self, roots: Floats) -> "dict[str, slice] | None":
        """Columns of R that have an sd each, where these are in a unit of their own: its name, or
        nothing, to a slice.  None where R is one block, whose columns are taken off what is not
        penalised and scaled.
        """
        return None

    def spectral(self) -> "SpectralParameter | None":
        """What sds of the columns of R depend on besides the sd of all; None where they are the
        same.
        """
        return None


@dataclass(frozen=True)
class SplineBasis(Basis):
    """A basis of cubic splines.

    Attributes
    ----------
    low, high : float
        Ends of the range.
    knots : array (m,)
        Where pieces meet, in [0, 1], both ends included.
    curves : CubicSpline or BSpline
        From u to values (..., k).
    cyclic : bool
        Whether curves have the same value, slope and curvature at both ends.
    """

    low: float
    high: float
    knots: np.ndarray
    curves: Any
    cyclic: bool
    beyond = "goes on as a straight line"

    @property
    def flat(self) -> int:  # type: ignore[override]
        """See `Basis`: no line but the constant is periodic."""
        return 1 if self.cyclic else 2

    @property
    def elements(self) -> int:
        """See `Basis`."""
        return int(self.curves.c.shape[-1])

    def sound(self) -> bool:
        """See `Basis`."""
        return restored.curves(self)

    def values(self, x: Floats) -> Floats:
        """See `Basis`: beyond the ends curves go on as straight lines, and cyclic ones begin
        again.
        """
        u = self.position(x)
        if self.cyclic:
            return self.curves(u % 1.0)
        inside = np.clip(u, 0.0, 1.0)
        return self.curves(inside) + (u - inside)[:, None] * self.curves(inside, 1)

    def penalty(self) -> Floats:
        """The integrals of B_i'' B_j'' over [0, 1], (k, k): these are linear between knots."""
        bend, h = self.curves(self.knots, 2), np.diff(self.knots)
        total = np.zeros((bend.shape[1],) * 2)
        for start in range(0, len(total), ROWS_OF_PENALTY):
            deadline.check()
            rows = slice(start, start + ROWS_OF_PENALTY)
            for left, right, length in zip(bend[:-1], bend[1:], h):
                each = 2 * np.outer(left[rows], left) + np.outer(left[rows], right)
                each += np.outer(right[rows], left)
                each += 2 * np.outer(right[rows], right)
                total[rows] += length / 6 * each
        return total

    def penalised(self) -> Floats:
        """See `Basis`."""
        values, vectors = np.linalg.eigh(self.penalty())
        return vectors[:, self.flat :] / np.sqrt(values[self.flat :])

    def outside(self, x: Floats) -> Bools:
        """See `Basis`; none where curves begin again."""
        return super().outside(x) & (not self.cyclic)


def spline_basis(x: Floats, k: int, bs: str, knots: Any, text: str) -> SplineBasis:
    """The `SplineBasis` for numbers x (n,).

    Parameters
    ----------
    x : array (n,)
    k : int
        Elements of the basis.
    bs : {"cr", "bs", "cc"}
        Natural cubic splines whose knots are at quantiles of the different x; B-splines between
        knots at equal distances; periodic cubic splines with knots at quantiles.
    knots : tuple of float or None
        Two of them are the ends of the range; more are all the knots.
    text : str
        The term, for messages.

    Raises
    ------
    FormulaError
        If there are fewer different numbers than elements, or knots that do not suit.
    """
    one_of(f"{text}: bs", bs, tuple(SHORTEST))
    used = np.unique(x)
    count = k - 2 if bs == "bs" else k  # knots
    if k < SHORTEST[bs]:
        raise FormulaError(f"{text}: k={k} is too few for bs={bs!r}; give at least {SHORTEST[bs]}")
    if len(used) < k:
        if len(used) == 1:
            raise FormulaError(f"{text}: the covariate has a single value; leave the term out")
        raise FormulaError(
            f"{text}: the covariate has {len(used)} different values, fewer than k={k}; "
            + (f"give k={len(used)}" if len(used) >= SHORTEST[bs] else "use it as a factor, C(x)")
        )
    low, high = used[0], used[-1]
    if knots is not None:
        low, high = knots[0], knots[-1]
        if len(knots) not in (EXTREMES, count) or (np.diff(knots) <= 0).any():
            raise FormulaError(
                f"{text}: knots={knots!r}: give two ends, or {count} knots, in rising order"
            )
        if bs == "cc" and (used[0] < low or used[-1] > high):
            raise FormulaError(
                f"{text}: the covariate goes from {used[0]:g} to {used[-1]:g}, beyond the period "
                f"{low:g} to {high:g} that knots={knots!r} give"
            )
    if knots is not None and len(knots) > EXTREMES:
        at = (np.array(knots) - low) / (high - low)
    elif bs == "bs" or knots is not None:
        at = np.linspace(0.0, 1.0, count)
    else:
        at = (np.quantile(used, np.linspace(0.0, 1.0, count)) - low) / (high - low)
    return SplineBasis(float(low), float(high), at, curves(at, k, bs), bs == "cc")


def curves(at: Floats, k: int, bs: str) -> Any:
    """The elements of a basis between knots (m,), as a function of u."""
    from scipy.interpolate import BSpline, CubicSpline  # only here: they take long to import

    if bs == "bs":
        ends = np.concatenate([np.zeros(3), at, np.ones(3)])
        return BSpline(ends, np.eye(k), 3)
    if bs == "cr":
        return CubicSpline(at, np.eye(k), bc_type="natural")
    height = np.eye(k - 1)
    return CubicSpline(at, np.concatenate([height, height[:1]]), bc_type="periodic")
