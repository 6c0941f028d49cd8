"""The one search for a mode: Newton's method, and the mode of a marginal density over it.

A `Target` is a log density with its way of solving for a step: dense, by eigenvalues, by arrow
matrices, by sums of partitions.  `find_mode` has what all of them share: when a step went too far,
when the search has ended, what is left where it has not.

Where coefficients have a learned scale the joint mode is no centre of the posterior.  A
`MarginalTarget` then has the mode of all else given a few numbers psi, and `find_marginal_mode`
climbs the density of psi.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import DataError

NOT_FINITE = (
    "the log density and its slopes are not finite where the search for the mode begins: numbers "
    "overflow; rescale predictors, outcomes and offsets"
)
ROUNDED_FALL = (
    1e-9  # by so much, absolute and relative, a log density may seem to fall near its mode
)
# sds of a step that no fall takes back: it raises the log density by less than a millionth, sums in
# float32 are rounded by more
SHORT = 1e-3
NO_STEP = 1e-12  # change of the largest number, relative, at which a step that is halved has ended
LONGEST_CHANGE = 1.0  # of psi in a step: about a factor of three, where they are logs


class Evaluation(Protocol):
    """What a target tells of a place: its log density, and whatever its step needs."""

    @property
    def value(self) -> float:
        """Log density, up to a constant: NaN where nothing is known; infinite where it need not be
        compared, so close to the mode.
        """


@dataclass(frozen=True)
class ModeResult:
    """Where a search ended.

    Attributes
    ----------
    theta : array (dim,)
        The last place from which a step led up.
    here : Evaluation
        What the target tells of it.
    step : array (dim,)
        Newton's step from there, which is not taken.
    distance : float
        Its length, in posterior sds.
    status : {"found", "stuck", "limit"}
        "stuck": no fraction of the last step led up; "limit": there were too many steps.
    """

    theta: Floats
    here: Any
    step: Floats
    distance: float
    status: str

    @property
    def ahead(self) -> Floats:
        """Where the step leads, or theta where no fraction of it leads up."""
        return self.theta if self.status == "stuck" else self.theta + self.step


class Slope(NamedTuple):
    """An `Evaluation` whose curvature is another matter: log density and its gradient."""

    value: float
    gradient: Floats


class Target(ABC):
    """A log density, as `find_mode` climbs it."""

    tolerance: float  # distance in posterior sds at which the search ends

    @abstractmethod
    def evaluate(self, theta: Floats, distance: float) -> Any:
        """Return the `Evaluation` of a place; `distance` is the length of the last step.

        Raises
        ------
        OutOfTime
            Where that would end too late.
        """

    @abstractmethod
    def step(self, theta: Floats, here: Any) -> tuple[Floats, float]:
        """Return a step up, Newton's where the density is concave, and its length in posterior sds.

        Raises
        ------
        DataError
            Where there is none: the posterior is improper.
        """

    def restart(self, theta: Floats) -> Floats:
        """Return another place to begin with, where nothing is known of the first one."""
        raise DataError(NOT_FINITE)

    def shorten(self, theta: Floats, step: Floats, value: float) -> tuple[Floats, Floats] | None:
        """Return place and step instead of a step to theta that went too far; None: there is none.

        Parameters
        ----------
        theta, step : array (dim,)
        value : float
            Log density where the step began.
        """
        step = 0.5 * step
        if np.abs(step).max() < NO_STEP * (1 + np.abs(theta).max()):
            return None
        return theta - step, step

    def found(self, here: Any, distance: float, last: float) -> bool:
        """Whether the search has ended; `last` is the length of the step before."""
        return distance < self.tolerance


def find_mode(target: Target, start: Floats, limit: int = 100) -> ModeResult:
    """Find the mode of a log density by Newton's method, with steps that lead up.

    A step is accepted where the log density does not fall by more than rounding errors, or where it
    is short; else the target shortens it.  The search ends before a step that is short enough for
    the target.

    Parameters
    ----------
    target : Target
    start : array (dim,)
    limit : int
        Evaluations.

    Raises
    ------
    DataError
        Where nothing is known of the start, or a step has no solution.
    OutOfTime
        With what was reached: a `ModeResult`, or None.
    """
    theta, step = np.array(start, dtype=float), np.zeros(len(start))
    value, distance, reached, status = -np.inf, np.inf, None, "limit"
    for _ in range(limit):
        try:
            here = target.evaluate(theta, distance)
            if reached is None and np.isnan(here.value):
                theta = target.restart(theta)
                here = target.evaluate(theta, distance)
        except OutOfTime as up:
            up.reached = reached
            raise
        rises = here.value >= value - ROUNDED_FALL * abs(value) - ROUNDED_FALL
        if not (rises or distance < SHORT and here.value > -np.inf):  # overshot, or not a number
            shorter = target.shorten(theta, step, value)
            if shorter is None:
                status = "stuck"
                break
            theta, step = shorter
            continue
        last = distance
        step, distance = target.step(theta, here)
        reached = ModeResult(theta, here, step, distance, status)
        if target.found(here, distance, last):
            status = "found"
            break
        value = here.value if np.isfinite(here.value) else -np.inf
        theta = theta + step
    if reached is None:  # not a number at the other start, either
        raise DataError(NOT_FINITE)
    return replace(reached, status=status)


class MarginalTarget(ABC):
    """A few numbers psi, and the mode of all else given them, as `find_marginal_mode` climbs it."""

    tolerance: float  # distance in posterior sds of psi at which the search ends

    @abstractmethod
    def settle(self, psi: Floats, last: Any) -> Any:
        """Return what is known given psi: the mode of all else, from the last one on."""

    @abstractmethod
    def move(self, psi: Floats, given: Any) -> tuple[Floats, float]:
        """Return a place up the marginal density, and its distance in posterior sds."""


def limit_step(step: Floats) -> Floats:
    """A step of psi of which no number changes by more than `LONGEST_CHANGE`."""
    longest = np.abs(step).max()
    return step if longest <= LONGEST_CHANGE else step * (LONGEST_CHANGE / longest)


@dataclass(frozen=True)
class MarginalMode:
    """Where a search ended.

    Attributes
    ----------
    psi : array (k,)
    given : object
        Of `MarginalTarget.settle` there.
    ahead : array (k,)
        Where a step more would lead.
    distance : float
        To it, in posterior sds.
    """

    psi: Floats
    given: Any
    ahead: Floats
    distance: float


def find_marginal_mode(
    target: MarginalTarget, start: Floats, given: Any = None, limit: int = 100
) -> MarginalMode:
    """Find the mode of a marginal density, and the mode of all else given it.

    With theta(psi) and H(psi), the mode and the precision of all else given psi, that density is
    about p(theta(psi), psi) / sqrt(det H(psi)) (Laplace's approximation; Tierney and Kadane 1986,
    doi:10.1080/01621459.1986.10478240).

    Parameters
    ----------
    target : MarginalTarget
    start : array (k,)
    given : object
        What the first search for the rest begins with, as `MarginalTarget.settle` takes it.
    limit : int
        Times that the rest is settled.
    """
    psi = start
    for _ in range(limit):
        given = target.settle(psi, given)
        ahead, distance = target.move(psi, given)
        found = MarginalMode(psi, given, ahead, distance)
        if distance < target.tolerance:
            break
        psi = ahead
    return found
