"""Means and standard deviations of columns, chunk by chunk, which merge."""

import numpy as np

CONSTANT = 1e-14  # share of the squares that rounding alone leaves of a constant column's spread


class ShiftedMoments:
    """Weighted count, means and squares about the means of columns less an origin.

    Chunks merge by the formula of Chan, Golub and LeVeque (1983),
    doi:10.1080/00031305.1983.10483115.

    Parameters
    ----------
    origin : array (d,)
        Taken off all rows against cancellation.
    """

    def __init__(self, origin):
        self.origin = np.asarray(origin, dtype=float)
        self.total, self.mean, self.squares = 0.0, np.zeros(len(origin)), np.zeros(len(origin))

    def add(self, rows, weight=None):
        """Add rows (m, d) that have the origin taken off already; weights (m,) count as rows."""
        rows = np.asarray(rows, dtype=float)
        total = float(len(rows)) if weight is None else float(weight.sum())
        if total == 0:
            return
        mean = (rows.sum(axis=0) if weight is None else weight @ rows) / total
        rows = rows - mean
        rows *= rows
        self.merge(total, mean, rows.sum(axis=0) if weight is None else weight @ rows)

    def merge(self, total, mean, squares):
        """Add rows of which count, means and squares about them are known."""
        both, delta = self.total + total, mean - self.mean
        self.mean = self.mean + delta * (total / both)
        self.squares = self.squares + squares + delta**2 * (self.total * total / both)
        self.total = both

    def result(self):
        """Means of the columns, nothing taken off, and standard deviations (n - 1)."""
        sd = np.sqrt(self.squares / max(self.total - 1, 1))
        sd[self.squares <= CONSTANT * (self.squares + self.total * self.mean**2)] = 0.0
        return self.origin + self.mean, sd

    def state(self):
        """As plain values."""
        parts = self.origin, self.mean, self.squares
        return [self.total, *(part.tolist() for part in parts)]

    @classmethod
    def of_state(cls, state, width):
        """From such plain values, of so many columns; ValueError where they are of others."""
        total, *parts = state
        origin, mean, squares = (np.array(part, dtype=float) for part in parts)
        if not origin.shape == mean.shape == squares.shape == (width,):
            raise ValueError(f"moments of {len(mean)} columns, not {width}")
        made = cls(origin)
        made.total, made.mean, made.squares = float(total), mean, squares
        return made
