"""Moments of columns that add up over chunks and partitions, by the updates of Chan, Golub &
LeVeque (1983, The American Statistician 37, 242-247).
"""

from dataclasses import dataclass

import numpy as np

from sgmc.arguments.types import Floats

ROUNDING_SD = 1e-14  # of a constant column's mean


@dataclass(frozen=True)
class Moments:
    """Weights, means and sums of squares about them.

    Attributes
    ----------
    total : float
        Sum of the weights.
    mean, square : array (k,)
    """

    total: float
    mean: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, X: Floats, weight: Floats | None = None) -> "Moments":
        """Of the columns of an array (n, k)."""
        total = float(len(X)) if weight is None else float(weight.sum())
        if total == 0:
            return cls(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        mean = np.average(X, axis=0, weights=weight)
        e = (X - mean) ** 2
        return cls(total, mean, e.sum(axis=0) if weight is None else weight @ e)

    def merge(self, other: "Moments") -> "Moments":
        """Of the rows of both."""
        total = self.total + other.total
        if total == 0:
            return self
        apart, share = other.mean - self.mean, other.total / total
        return Moments(
            total,
            self.mean + share * apart,
            self.square + other.square + self.total * share * apart**2,
        )

    @property
    def sd(self) -> Floats:
        """Standard deviations with divisor total - 1; 0 where a column is constant to rounding."""
        sd = np.sqrt(self.square / max(self.total - 1, 1))
        return np.where(sd > ROUNDING_SD * np.abs(self.mean), sd, 0.0)

    @property
    def variance(self) -> Floats:
        """Variances with divisor total."""
        return self.square / max(self.total, 1e-300)
