"""Gaussian processes by waves, ``gp(x)``; with a given length scale ``gp(x, scale=2)``.

f has the covariances sd^2 exp(-(x - x')^2 / (2 scale^2)), of two covariates the product of both
factors.  It is a sum of sines on an interval that is wider than the range of x, each with the sd of
the spectral density at its frequency (Solin & Sarkka 2020, doi:10.1007/s11222-019-09886-w;
Riutort-Mayol, Burkner, Andersen, Solin & Vehtari 2023, doi:10.1007/s11222-022-10167-2).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.errors import FormulaError
from sgmc.splines.bases import EXTREMES, Basis
from sgmc.splines.penalised import PenalisedTerm, whole
from sgmc.splines.restored import numbers
from sgmc.splines.spectra import LengthScale

MOST_WAVES = 400  # functions of all covariates together
MOST_RANGES = 10.0  # scale, in ranges of the covariate: the process is a constant then
# scales from an end of the range to where sines are zero: they have covariances of mirror images
# beyond that, which are exp(-(2 x 1.75)^2 / 2) = 0.002 at the end
SCALES_BEYOND = 1.75
WAVES_BY_SCALE = 1.75  # half widths over scales that waves are at first: Riutort-Mayol et al., 4.2
# of covariances, in units of sd^2, at places between the ends: of waves chosen here, and given
MOST_OFF, MOST_OFF_GIVEN = 0.005, 0.05
PLACES_COMPARED = 65
# scales that are learned, in ranges of the covariate: the longest that sines are chosen for, and
# the shortest by the number of covariates
LONGEST_LEARNED, SHORTEST_LEARNED = 1.0, {1: 1 / 20, 2: 1 / 5}
FEWEST_WAVES = 2


@dataclass(frozen=True)
class WaveBasis(Basis):
    """Sines of u in [0, 1], the range of a covariate, that are zero beyond both ends.

    Attributes
    ----------
    low, high : float
        Ends of the range.
    scale : float
        In half ranges; where it is learned, the longest that the interval is wide enough for.
    waves : int
    learned : float
        Where the length scale is learned, the shortest one to be expected, in half ranges; else
        zero.
    """

    low: float
    high: float
    scale: float
    waves: int
    learned: float = 0.0
    flat = 1
    beyond = "falls to zero, with less uncertainty than it has"

    @property
    def reach(self) -> float:
        """Half the interval's length, in half ranges."""
        return 1 + SCALES_BEYOND * self.scale

    @property
    def half(self) -> float:
        """Half the range."""
        return 0.5 * (self.high - self.low)

    @property
    def elements(self) -> int:
        """See `Basis`."""
        return self.waves

    def sound(self) -> bool:
        """See `Basis`."""
        known = whole(self.waves) and numbers((self.scale, self.learned), 2)
        scaled = known and 0 <= self.learned < self.scale
        return scaled and 1 <= self.waves <= MOST_WAVES

    @property
    def frequencies(self) -> Floats:
        """Of each wave, per half range."""
        return 0.5 * np.pi / self.reach * np.arange(1.0, self.waves + 1)

    def values(self, x: Floats) -> Floats:
        """See `Basis`."""
        t = np.clip(2 * self.position(x) - 1, -self.reach, self.reach)
        return np.sin(np.outer(t + self.reach, self.frequencies)) / np.sqrt(self.reach)

    def penalised(self) -> Floats:
        """See `Basis`: roots of the spectral density at each frequency on the diagonal; of scales
        that are learned what these have in common, see `LengthScale`.
        """
        if self.learned:
            return np.sqrt(np.sqrt(2 * np.pi) / self.half) * np.eye(self.waves)
        waves: Floats = np.exp(-0.5 * (self.scale * self.frequencies) ** 2)
        return np.diag(np.sqrt(np.sqrt(2 * np.pi) * self.scale * waves))

    def blocks(self, roots: Floats) -> dict[str, slice]:
        """See `Basis`: the sd is that of the process."""
        return {"": slice(0, roots.shape[1])}

    def spectral(self) -> LengthScale | None:
        """See `Basis`."""
        if not self.learned:
            return None
        # that sines resolve: Riutort-Mayol et al., 4.2
        shortest = WAVES_BY_SCALE * self.reach / self.waves
        ends = self.half * min(self.learned, shortest), self.half * self.scale
        squares = (self.frequencies / self.half) ** 2
        return LengthScale(squares, ends, self.half * shortest, self.waves)

    def error(self) -> float:
        """By how much covariances are off, in units of sd^2."""
        x = np.linspace(self.low, self.high, PLACES_COMPARED)
        t, Z = 2 * self.position(x) - 1, self.values(x) @ self.penalised()
        right = np.exp(-0.5 * ((t[:, None] - t) / self.scale) ** 2)
        return float(np.abs(Z @ Z.T - right).max())


@dataclass(frozen=True)
class GaussianProcess(PenalisedTerm):
    """A Gaussian process of one or two covariates, each with a length scale.

    Attributes
    ----------
    scale : float or pair of float or None
        Length scale, in units of the covariate: values so far apart have a correlation of 0.61; by
        default it is learned.
    k : int or pair of int or None
        Waves of each covariate; by default as many as covariances need, or as the shortest scale
        that is learned.
    knots : pair of float or None
        Ends of the range; default those of the rows.
    """

    scale: Any = None
    k: Any = None
    knots: Any = None
    name, written, covariates, basis = "gp", "gp(x)", (1, 2), WaveBasis
    smaller = "give a longer scale, or a smaller k"

    def __post_init__(self) -> None:
        if not all(isinstance(one, int | float) for one in self.scales):
            raise ValueError(
                "scale is a length scale in units of x, such as scale=2, of two covariates "
                "scale=(2, 0.5); leave it out to learn it"
            )
        if not all(0 < one < np.inf for one in self.scales):
            raise ValueError("scale must be positive")
        if not all(map(whole, self.sizes)):
            raise ValueError("k must be a whole number, or two")
        known = self.knots is None or isinstance(self.knots, tuple | list)
        ends = self.knots or (0.0, 1.0)
        if not known or len(ends) != EXTREMES or not numbers(ends, 2) or not ends[0] < ends[1]:
            raise ValueError("knots are the ends of the range, such as knots=(0, 10)")

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`: there are no lines."""
        return 1

    @property
    def scales(self) -> tuple[float, ...]:
        """Of each covariate, or one of all; empty where they are learned."""
        if self.scale is None:
            return ()
        return tuple(self.scale) if isinstance(self.scale, tuple | list) else (self.scale,)

    @property
    def sizes(self) -> tuple[int, ...]:
        """See `PenalisedTerm`."""
        if self.k is None:
            return ()
        return tuple(self.k) if isinstance(self.k, tuple | list) else (self.k,)

    def bases(self, x: Floats, text: str) -> list[WaveBasis]:
        """See `PenalisedTerm`."""
        count = x.shape[1]
        if len(self.scales) not in (0, 1, count) or len(self.sizes) not in (0, 1, count):
            raise FormulaError(f"{text}: give one scale and k, or as many as covariates, {count}")
        if count > 1 and self.knots is not None:
            raise FormulaError(f"{text}: knots are those of one covariate")
        scales = self.scales * (count // len(self.scales)) if self.scales else (None,) * count
        sizes = self.sizes * (count // len(self.sizes)) if self.sizes else (None,) * count
        shortest = SHORTEST_LEARNED[count]
        found = [
            self.learned(column, shortest, k, text)
            if scale is None
            else self.waves(column, scale, k, text)
            for column, scale, k in zip(x.T, scales, sizes)
        ]
        total = int(np.prod([one.waves for one in found]))
        if total > MOST_WAVES:
            raise FormulaError(
                f"{text}: a process of this scale needs {total:,} functions, at most {MOST_WAVES}; "
                f"{self.smaller}, or use s(x) or te(x, z)"
            )
        return found

    def ends(self, x: Floats, text: str) -> tuple[float, float]:
        """Ends of the range of a covariate (n,)."""
        low, high = self.knots or (float(x.min()), float(x.max()))
        if not low < high:
            raise FormulaError(f"{text}: the covariate has a single value; leave the term out")
        return float(low), float(high)

    def learned(self, x: Floats, shortest: float, k: int | None, text: str) -> WaveBasis:
        """The basis of one covariate (n,) whose scale is learned: that resolves a share of the
        range, or the mean distance between neighbouring values where this is longer.
        """
        low, high = self.ends(x, text)
        apart = (x.max() - x.min()) / max(len(np.unique(x)) - 1, 1) / (high - low)
        expected = 2 * max(shortest, min(apart, LONGEST_LEARNED / 2))
        made = WaveBasis(low, high, 2 * LONGEST_LEARNED, 1, expected)
        waves = int(np.ceil(WAVES_BY_SCALE * made.reach / expected)) if k is None else k
        if waves < FEWEST_WAVES:
            raise FormulaError(f"{text}: k={k} is too few; give at least {FEWEST_WAVES}")
        return replace(made, waves=waves)

    def waves(self, x: Floats, scale: float, k: int | None, text: str) -> WaveBasis:
        """The basis of one covariate (n,) of a given scale."""
        low, high = self.ends(x, text)
        share = 2 * scale / (high - low)
        if scale > MOST_RANGES * (high - low):
            raise FormulaError(
                f"{text}: the covariate goes from {low:g} to {high:g}, and scale={scale:g} is more "
                f"than {MOST_RANGES:g} times as long: the process is a constant; give a shorter one"
            )
        made = WaveBasis(low, high, share, 1)
        needed = int(np.ceil(WAVES_BY_SCALE * made.reach / share))
        enough = replace(made, waves=min(needed, MOST_WAVES + 1))
        while enough.waves <= MOST_WAVES and enough.error() > MOST_OFF:
            enough = replace(enough, waves=enough.waves + max(enough.waves // 8, 1))
        if k is None:
            return enough
        chosen = replace(made, waves=k)
        if k < 1 or k < enough.waves and chosen.error() > MOST_OFF_GIVEN:
            raise FormulaError(
                f"{text}: k={k} functions are too few for scale={scale:g}, covariances are off by "
                f"{100 * chosen.error():.0f} % of sd^2; give k={enough.waves}, or leave k out"
            )
        return chosen
