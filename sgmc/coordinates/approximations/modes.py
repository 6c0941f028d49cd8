"""The modes of a posterior, from several starts: which of them differ, and how much of the
posterior each holds by Laplace's approximation.
"""

from dataclasses import dataclass, replace
from itertools import cycle
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.core.engine import full
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ModesWarning

STARTS = 16  # of a search for several modes, the usual one included
SPREADS = (3.0, 10.0, 30.0)  # distances of starts from the first mode in Laplace sds, in turn
DISTINCT = 0.5  # Laplace sds between two modes; nearer ones count as one
NOTICEABLE = 1e-4  # share of the mass from which on a mode counts
MOST_SHOWN = 6  # shares in a warning
TIE = 2  # decimals of the log mass beyond which the earlier mode goes first
HALVINGS = 60  # ways back from a start at which the density is not finite


class LocalMode(NamedTuple):
    """A mode, the precision and the log density there, and what the search itself returned."""

    place: np.ndarray
    precision: np.ndarray
    log_density: float
    found: object

    @property
    def log_mass(self):
        """Log of the Gaussian's integral, up to a constant that all modes share."""
        return self.log_density - 0.5 * np.linalg.slogdet(self.precision)[1]

    def near(self, other):
        """Whether another mode is within DISTINCT sds of this one, or this one of the other."""
        apart = self.place - other.place
        nearest = min(apart @ self.precision @ apart, apart @ other.precision @ apart)
        return nearest < DISTINCT**2


SEARCHED = " (modes='search' looks for others)"


@dataclass(frozen=True)
class ModeSearch:
    """What a fit knows of the modes of its posterior.

    Attributes
    ----------
    starts : int
        Searches that were made; 0 where a fit needs no mode.
    shares : tuple of float
        Share of the Laplace masses that each mode holds, in descending order.  Modes with less than
        NOTICEABLE are left out.
    gaussians : tuple of (array (d,), array (d, d))
        Place of each mode, and a root of the covariance there.  Empty where one start was made.
    """

    starts: int = 0
    shares: tuple = ()
    gaussians: tuple = ()
    can_search: bool = True

    @property
    def found(self):
        """Number of modes found."""
        return len(self.shares)

    def __str__(self):
        if not self.starts:
            return "no mode was looked for"
        if self.starts == 1:
            return f"one start{SEARCHED if self.can_search else ''}"
        return f"{self.found} mode{'' if self.found == 1 else 's'} found from {self.starts} starts"

    def of_chain(self, k):
        """Return the mode at which chain k starts: each has one of the first chains, the others
        follow the shares.
        """
        if k < self.found or self.found < 2:
            return min(k, max(self.found - 1, 0))
        taken = np.ones(self.found)
        for chain in range(self.found, k + 1):
            mode = int(np.argmax(np.array(self.shares) * (chain + 1) - taken))
            taken[mode] += 1
        return mode

    def transformed(self, matrix):
        """Return the same with places and roots multiplied by a matrix."""
        moved = tuple((matrix @ place, matrix @ root) for place, root in self.gaussians)
        return replace(self, gaussians=moved)

    def warnings(self):
        """Return a ModesWarning, in a list, where there is more than one mode."""
        if self.found < 2:
            return []
        shares = ", ".join(f"{share:.2g}" for share in self.shares[:MOST_SHOWN])
        more = ", ..." if self.found > MOST_SHOWN else ""
        return [
            ModesWarning(
                f"the posterior has at least {self.found} modes, found from {self.starts} starts; "
                f"their shares of its mass by Laplace's approximation: {shares}{more}. Chains "
                "that do not move between modes do not have these shares.",
                "Compare the chains; constrain parameters, e.g. to an order, or describe each mode "
                "by itself.",
            )
        ]


def search_modes(search, starts, first=None):
    """Search from each start and keep the modes that differ.

    Parameters
    ----------
    search : callable
        ``search(start)`` returns a LocalMode, or None where there is none.
    starts : iterable of array (d,)
    first : LocalMode, optional
        What the usual start led to.

    Returns
    -------
    searched : ModeSearch
    best : LocalMode or None
        The one with the largest mass; of equal ones the earliest.
    """
    found, made = [] if first is None else [first], 1
    for start in starts:
        try:
            one, made = search(start), made + 1
        except OutOfTime:  # those found so far are worth having
            break
        if one is not None and not any(one.near(other) for other in found):
            found.append(one)
    if not found:
        return ModeSearch(made), None
    found.sort(key=lambda one: -round(one.log_mass, TIE))
    shares = softmax([one.log_mass for one in found])
    kept = [pair for pair in zip(found, shares) if pair[1] >= NOTICEABLE]
    return (
        ModeSearch(
            made,
            tuple(float(share) for _, share in kept),
            tuple((one.place, root_of_inverse(one.precision)) for one, _ in kept),
        ),
        found[0],
    )


def wide_starts(random, place, root=None, draw=None):
    """Return the further starts of a search, a list: in turn one of `draw`, and two on opposite
    sides of a mode.

    Parameters
    ----------
    random : numpy.random.Generator
    place : array (d,)
    root : array (d, d), optional
        Of the covariance there; without it all starts are of `draw`.
    draw : callable, optional
        ``draw(random)`` returns a start.
    """
    starts, spreads = [], cycle(SPREADS)
    while len(starts) < STARTS - 1:
        starts += [] if draw is None else [draw(random)]
        if root is not None:
            away = next(spreads) * (root @ random.normal(size=len(place)))
            starts += [place + away, place - away]
    return starts[: STARTS - 1]


def finite_at(gradient, x):
    """Whether log density and gradient are finite at x."""
    with one_blas_thread(), np.errstate(all="ignore"):
        value, slope = full(gradient, x)
    return bool(np.isfinite(value) and np.isfinite(slope).all())


def where_finite(finite, start, centre):
    """Return the start, or the first point half the way, and half again, to the centre at which
    `finite` holds.
    """
    for _ in range(HALVINGS):
        if finite(start):
            return start
        start = centre + 0.5 * (start - centre)
    return centre
