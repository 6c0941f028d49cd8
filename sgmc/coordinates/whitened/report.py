"""How the user's coordinates of a regression are printed, and read where a user gives a start."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

NUDGE = 1e-5  # sds are folded by hyperbolic functions of numbers of about one


class Fold(Protocol):
    """Parameters that are sampled with a sign, and printed without it."""

    def folded(self, theta: np.ndarray) -> np.ndarray:
        """Points (..., k) as they are printed; they are changed."""

    def unfolded(self, theta: np.ndarray) -> np.ndarray:
        """A point (k,) that is printed so; it is changed."""


class Cuts(Protocol):
    """Thresholds, for an intercept and gaps."""

    signed: int  # how many of the last gaps are no logs

    def printed(self, values: np.ndarray) -> np.ndarray:
        """Points (..., k) as they are printed."""

    def sampled(self, values: np.ndarray) -> np.ndarray:
        """Points that are printed so."""


@dataclass(frozen=True)
class Report:
    """From the user's coordinates theta to what is printed.

    Attributes
    ----------
    log_params : int
        How many of the last theta are auxiliary parameters: logs of what is printed, but for those
        that `thresholds` says are none.
    signs : Fold, optional
        Standard deviations and correlations of effects.
    thresholds : Cuts, optional
        What is printed in the place of an intercept and gaps.
    """

    log_params: int = 0
    signs: Fold | None = None
    thresholds: Cuts | None = None

    @property
    def affine(self) -> bool:
        """Whether what is printed moves along straight lines as theta does."""
        return not self.log_params and self.signs is None

    def logs(self, size: int) -> slice:
        """Places of logs among so many parameters."""
        end = size if self.thresholds is None else size - self.thresholds.signed
        return slice(min(size - self.log_params, end), end)

    def numbers(self, last: np.ndarray) -> np.ndarray:
        """Auxiliary parameters (..., k) from the last theta."""
        out, at = np.array(last, dtype=float), self.logs(last.shape[-1])
        out[..., at] = np.exp(out[..., at])
        return out

    def printed(self, theta: np.ndarray) -> np.ndarray:
        """What is printed of points theta (..., k), which are changed."""
        if self.signs is not None:
            theta = self.signs.folded(theta)
        if self.log_params:
            at = self.logs(theta.shape[-1])
            theta[..., at] = np.exp(theta[..., at])
        return theta if self.thresholds is None else self.thresholds.printed(theta)

    def slopes(self, theta: np.ndarray) -> np.ndarray:
        """Derivatives of what is printed at a point theta (k,), by central differences where not
        by logs alone.
        """
        if self.signs is None and self.thresholds is None:
            logged = np.arange(len(theta)) >= len(theta) - self.log_params
            return np.diag(np.where(logged, np.exp(np.where(logged, theta, 0.0)), 1.0))
        step = NUDGE * np.eye(len(theta))
        return (self.printed(theta + step) - self.printed(theta - step)).T / (2 * NUDGE)

    def sampled(self, values: np.ndarray) -> np.ndarray:
        """The theta (k,) of what is printed."""
        theta = np.array(values, dtype=float)
        if self.thresholds is not None:
            theta = self.thresholds.sampled(theta)
        if self.log_params:
            at = self.logs(len(theta))
            theta[at] = np.log(theta[at])
        return theta if self.signs is None else self.signs.unfolded(theta)
