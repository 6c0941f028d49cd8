"""Autoregressions of order one, ``ar1(t)``: levels that return to their mean from time to time.

At m equally spaced times f_i has the covariances sd^2 rho^|i - j|, so that f_{i+1} given all before
is N(rho f_i, sd^2 (1 - rho^2)); times that no row has are stepped over by powers of rho.

The eigenvectors of these covariances depend on rho, those of nearly the same do not.  With A the
neighbours and E the two ends, A + E has the cosines cos(pi k (i + 1/2) / m) of the discrete cosine
transform as eigenvectors (Strang 1999, doi:10.1137/S0036144598336745), with the eigenvalues
2 cos(pi k / m), and the precision over 1 / sd^2 is

    ((1 + rho^2) I - rho A - rho^2 E) / (1 - rho^2) = T + rho / (1 + rho) E,

T being that of independent coefficients of the cosines.  What the ends add is in the precision of
each coefficient and, between them, in `models.regression.latent.densities.spectrum`: the density is
that of the autoregression for every rho in (-1, 1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgmc.arguments.types import Bools, Floats
from sgmc.errors import DataError, FormulaError
from sgmc.splines.bases import Basis
from sgmc.splines.penalised import PenalisedTerm
from sgmc.splines.restored import numbers
from sgmc.splines.spectra import Autocorrelation

MOST_IN_TIME = 1_000  # times: columns are an array (rows, times)
FEWEST_IN_TIME = 3
OFF_STEP = 1e-4  # by how much of a step a time may be off: rounding


@dataclass(frozen=True)
class StepBasis(Basis):
    """Cosines at equally spaced times; of a given rho the times themselves.

    Attributes
    ----------
    low, high : float
        The first and the last time.
    step : float
        Between neighbouring times.
    rho : float or None
        None where it is learned.
    """

    low: float
    high: float
    step: float
    rho: float | None
    flat = 1
    beyond = "goes on by its own law"
    continues = True

    @property
    def elements(self) -> int:
        """See `Basis`."""
        return round((self.high - self.low) / self.step) + 1

    def sound(self) -> bool:
        """See `Basis`."""
        known = numbers((self.step, self.rho or 0.0), 2) and self.step > 0
        known = known and abs(self.rho or 0.0) < 1
        return bool(known and FEWEST_IN_TIME <= self.elements <= MOST_IN_TIME)

    def steps(self, x: Floats) -> Floats:
        """Numbers of times x (n,), 0 being the first."""
        return (np.asarray(x, dtype=float) - self.low) / self.step

    def outside(self, x: Floats) -> Bools:
        """See `Basis`: nowhere is its law not known."""
        return np.zeros(len(x), dtype=bool)

    def grid(self, count: int) -> Floats:
        """See `Basis`: the times."""
        return self.low + self.step * np.arange(float(self.elements))

    def values(self, x: Floats) -> Floats:
        """See `Basis`; zeros beyond the ends, and DataError for times between two steps."""
        exact, m = self.steps(x), self.elements
        at = np.rint(exact)
        if (off := np.abs(exact - at) > OFF_STEP).any():
            raise DataError(
                f"ar1: the times of the fit are {self.step:g} apart, {self.low:g}, "
                f"{self.low + self.step:g}, ..., and a row has {np.asarray(x)[off][0]:g} between "
                "two of them; round the times"
            )
        if self.rho is None:
            out: Floats = np.cos(np.pi / m * np.outer(at + 0.5, np.arange(m)))
            out *= np.sqrt(np.where(np.arange(m) == 0, 1.0, 2.0) / m)
        else:
            out = np.equal.outer(at, np.arange(m)).astype(float)
        out[(at < 0) | (at >= m)] = 0.0
        return out

    def penalised(self) -> Floats:
        """See `Basis`: of a given rho steps from the one time to the next, each with an innovation
        of its sd.
        """
        if self.rho is None:
            return np.eye(self.elements)
        apart = np.subtract.outer(np.arange(self.elements), np.arange(self.elements))
        powers = np.where(apart >= 0, np.power(self.rho, np.maximum(apart, 0.0)), 0.0)
        powers[:, 1:] *= np.sqrt(1 - self.rho**2)
        return powers

    def blocks(self, roots: Floats) -> dict[str, slice]:
        """See `Basis`: the sd is that of each time."""
        return {"": slice(0, roots.shape[1])}

    def spectral(self) -> Autocorrelation | None:
        """See `Basis`."""
        return Autocorrelation(np.arange(float(self.elements))) if self.rho is None else None


@dataclass(frozen=True)
class FirstAutoregression(PenalisedTerm):
    """An autoregression of order one over equally spaced times, of which some may be without rows.

    Attributes
    ----------
    rho : float or None
        Correlation of neighbouring times; by default it is learned.
    step : float or None
        Between neighbouring times; by default the greatest common divisor of the distances between
        whole numbers, and the smallest distance of others.
    """

    rho: Any = None
    step: Any = None
    name, written, basis = "ar1", "ar1(t)", StepBasis
    smaller = "use a longer step, rw1(t) or s(t)"

    def __post_init__(self) -> None:
        if self.rho is not None and not (numbers(self.rho) and -1 < self.rho < 1):
            raise ValueError(
                "rho is a number between -1 and 1, such as rho=0.5; leave it out to learn it"
            )
        if self.step is not None and not (numbers(self.step) and self.step > 0):
            raise ValueError("step is the distance of neighbouring times, such as step=1")

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`: there are no lines."""
        return 1

    def bases(self, x: Floats, text: str) -> list[StepBasis]:
        """See `PenalisedTerm`."""
        times = np.unique(x)
        if len(times) < FEWEST_IN_TIME:
            raise FormulaError(
                f"{text}: the rows have {len(times)} different values, from which no "
                "autoregression can be told; leave the term out"
            )
        step = self.step or step_of(times)
        at = (times - times[0]) / step
        off = np.abs(at - np.rint(at)) > OFF_STEP
        if off.any():
            raise FormulaError(
                f"{text}: times are whole steps apart, and {times[off][0]:.10g} is not so many of "
                f"{step:g} after {times[0]:.10g}; number the times 0, 1, 2, ..., or give step="
            )
        if (count := round(at[-1]) + 1) > MOST_IN_TIME:
            raise FormulaError(
                f"{text}: there are {count:,} times from the first to the last one, at most "
                f"{MOST_IN_TIME:,}; {self.smaller}"
            )
        rho = None if self.rho is None else float(self.rho)
        return [StepBasis(float(times[0]), float(times[-1]), float(step), rho)]


def step_of(times: Floats) -> float:
    """The distance of neighbouring times, see `FirstAutoregression`."""
    apart = np.diff(times)
    if (apart == np.rint(apart)).all():
        return float(np.gcd.reduce(apart.astype(np.int64)))
    return float(apart.min())
