"""Draws of regressions with normal errors whose rows tell the sum of variances, of effects or of a
ridge and of single rows, but hardly their ratios: tables of the ratios and of that sum.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.grid import FIRST_WIDTH, grid_of, mesh
from sgmc.coordinates.independent.integrated import MOST_OPERATIONS, ConditionallyNormal
from sgmc.core.system import deadline

NEARLY = 1e-5  # from the end of an axis where sigma is zero, relative to it
# of tables that find the posterior: nodes of an axis, the largest coordinate of the ratio, how far
# the log of the sd of a row may be from that of the outcomes, and how many there are at most
LOOKED_NODES, MOST_COORDINATE, LOOKED_LOGS, MOST_LOOKS = 33, 16.0, 3.0, 8
# nats below the largest log density where tables with more numbers end, which are wider the less
# is told of an sd: beyond are some 1e-7 of the mass
LOST_OF_MANY = 16.0


@dataclass(frozen=True)
class Ratios:
    """Coordinates psi of ratios r = sd / sigma, in which densities that are flat in r near zero,
    and in 1 / r where that is near zero, are smooth: 1 / r = 1 / (c sinh psi) - 1 / most.

    Attributes
    ----------
    scale : array (q,)
        c, below which rows tell nothing of the sd.
    most : float or array (q,)
        Above which they tell nothing of sigma: infinite where more rows than coefficients do.
    """

    scale: Floats
    most: Floats | float

    @property
    def q(self) -> int:
        """How many there are."""
        return len(self.scale)

    @property
    def end(self) -> Floats:
        """Where each r is infinite, but for rounding, (q,)."""
        return np.arcsinh(self.most / self.scale * (1 - NEARLY))

    def sds(self, psi: Floats) -> Floats:
        """Return ratios of their coordinates."""
        own = self.scale * np.sinh(psi)
        return own / (1 - own / self.most)

    def curved(self, ratios: Floats) -> Floats:
        """Return coordinates of ratios."""
        with np.errstate(divide="ignore"):
            return np.arcsinh(1 / (self.scale * (1 / ratios + 1 / self.most)))

    def steepness(self, psi: Floats) -> Floats:
        """Return derivatives of ratios by their coordinates."""
        own = self.scale * np.sinh(psi)
        return self.scale * np.cosh(psi) / (1 - own / self.most) ** 2


@dataclass(frozen=True, kw_only=True)
class NormalByTotal(ConditionallyNormal):
    """`ConditionallyNormal` with a table of psi and the log of the sd of a row, which hardly depend
    on each other.

    Attributes
    ----------
    ratios : Ratios
    share : array (q,)
        Of the square of each sd in the variance of a row.
    """

    ratios: Ratios
    share: Floats

    def log_sigma(self, psi: Floats, last: Floats) -> Floats:
        ratios = self.ratios.sds(psi[:, : self.ratios.q])
        return last - 0.5 * np.log1p(ratios**2 @ self.share)[:, None]

    def around(self, mode: Floats, covariance: Floats) -> Self | None:
        """Return these draws with their table, of what is known of a mode; None where there is
        none.

        Parameters
        ----------
        mode : array (q + k + 1,)
            About that of (phi, eta, u).
        covariance : array (q + k + 1, q + k + 1)
            About that of (phi, eta, u).
        """
        q, u = self.ratios.q, mode[-1]
        side = np.where(mode[:q] < 0, -1.0, 1.0)  # signs of sds have no meaning
        r = self.loading.sds(side * mode[:q]) * np.exp(-u)
        psi, moved = self.ratios.curved(r), np.zeros((q, len(mode)))
        moved[range(q), range(q)] = side * self.loading.steepness(side * mode[:q]) * np.exp(-u)
        moved[:, -1] = -r
        J, square = np.eye(len(mode)), 1 + self.share @ r**2
        J[:q] = moved / self.ratios.steepness(psi)[:, None]
        J[-1] += (self.share * r / square) @ moved
        middle = np.concatenate([psi, mode[q:-1], [u + 0.5 * np.log(square)]])
        under = np.append(self.ratios.end, np.full(len(mode) - q, np.inf))
        most = MOST_OPERATIONS / self.sums.operations
        how = {"even": q, "under": under, "lost": LOST_OF_MANY}
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                grid = grid_of(self.log_density, middle, J @ covariance @ J.T, most, **how)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        return None if grid is None else replace(self, grid=grid)

    def looked_for(self, middle: float) -> Self | None:
        """Return these draws with their table; None where there is none.

        Parameters
        ----------
        middle : float
            About the log of the sd of a row.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                under = np.append(self.ratios.end, np.inf)
                grid = grid_of(self.log_density, *self.moments(middle), under=under)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        return None if grid is None else replace(self, grid=grid)

    def moments(self, middle: float) -> tuple[Floats, Floats]:
        """Return about the mean and the covariance of the table's numbers, the log of the sd of a
        row being around a `middle`: of wide tables, then of ones around what these show.
        """
        low = np.array([0.0, middle - LOOKED_LOGS])
        high = np.array([min(MOST_COORDINATE, self.ratios.end[0]), middle + LOOKED_LOGS])
        for _ in range(MOST_LOOKS):
            deadline.check()
            axes = np.linspace(low, high, LOOKED_NODES).T
            value = self.log_density(axes[0][:, None], np.tile(axes[1], (LOOKED_NODES, 1)))
            share = np.nan_to_num(np.exp(value - np.nanmax(value))).ravel()
            share /= share.sum()
            at = mesh([*axes]).reshape(-1, 2)
            centre, step = share @ at, axes[:, 1] - axes[:, 0]
            covariance = (share[:, None] * (at - centre)).T @ (at - centre)
            sd = np.sqrt(np.diag(covariance))
            if (sd > 2 * step).all():  # nodes are near enough to show it
                break
            reach = FIRST_WIDTH * np.maximum(sd, step)
            low = np.array([max(centre[0] - reach[0], 0.0), centre[1] - reach[1]])
            high = np.array([min(centre[0] + reach[0], self.ratios.end[0]), centre[1] + reach[1]])
        return centre, covariance + np.diag(step**2)
