"""The mode of all rows by Newton's method on the sums of partitions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sgmc.cluster.passes import Expanded, Expansion, Values
from sgmc.cluster.sums import merged
from sgmc.coordinates.approximations.mode import solve
from sgmc.coordinates.approximations.newton import Target, find_mode
from sgmc.errors import DataError

CENTRED = 1e-3  # distance to the mode in posterior sds at which the centre is near enough
MOST_STEPS_UP = 25
FRACTIONS = 0.5 ** np.arange(1, 25)  # of a step that goes too far, looked at in one pass


@dataclass(frozen=True)
class ExpansionPoint:
    """Where all rows have been expanded.

    Attributes
    ----------
    theta : array (p,)
    likelihood : Expanded
        Of all rows.
    prior : array (p, p)
        Curvature of the prior.
    distance : float
        To the mode, in posterior sds.
    """

    theta: np.ndarray
    likelihood: Expanded
    prior: np.ndarray
    distance: float


def expanded(traffic, blocks, recipe, theta, phase="mode"):
    """The `Expanded` of all rows at theta."""
    parts = traffic.run(phase, blocks, Expansion(recipe, theta))
    return merged(parts, Expanded.merge)


def looked_at(traffic, blocks, recipe, points):
    """Log-likelihoods of all rows at several points, (k,)."""
    return merged(traffic.run("step", blocks, Values(recipe, points)), np.add)


class Partitions(Target):
    """The log posterior of all rows.

    A sample of the rows may have no contrary outcome of a rare level, whose coefficient then starts
    where the likelihood is all but flat, and Newton's step is far too long.  A pass over all rows
    is dear, so that one looks at many fractions of such a step.

    Parameters
    ----------
    expand, values, terms
        See `ascend`.
    """

    tolerance = CENTRED

    def __init__(self, expand, values, terms):
        self.expand, self.values, self.terms = expand, values, terms

    def evaluate(self, theta, distance):
        """See `Target`."""
        return Around(self.expand(theta), *self.terms(theta))

    def step(self, theta, here):
        """See `Target`."""
        total = here.known.gradient + here.prior_gradient
        step = solve(here.known.hessian + here.prior, total)
        return step, float(np.sqrt(max(total @ step, 0.0)))

    def shorten(self, theta, step, value):
        """See `Target`."""
        points = (theta - step) + FRACTIONS[:, None] * step
        priors = np.array([self.terms(point)[0] for point in points])
        found = np.nan_to_num(self.values(points) + priors, nan=-np.inf)
        best = found.argmax()
        return (points[best], FRACTIONS[best] * step) if found[best] > value else None


class Around(NamedTuple):
    """The `Expanded` of all rows at a place, and the log prior there; see `newton.Evaluation`."""

    known: Expanded
    prior_value: float
    prior_gradient: np.ndarray
    prior: np.ndarray

    @property
    def value(self):
        """Log posterior."""
        return self.known.value + self.prior_value


def ascend(expand, values, terms, start):
    """The mode, from a start near it.

    Parameters
    ----------
    expand : callable
        ``expand(theta)`` is the `Expanded` of all rows.
    values : callable
        ``values(points)`` are log-likelihoods of all rows.
    terms : PriorTerms
    start : array (p,)
        The mode of a sample of the rows.

    Raises
    ------
    DataError
        Where it is not found, with what to do.
    """
    found = find_mode(Partitions(expand, values, terms), start, MOST_STEPS_UP)
    if found.status == "found":
        return ExpansionPoint(found.theta, found.here.known, found.here.prior, found.distance)
    raise DataError(
        f"the search for the posterior mode over all partitions stopped {found.distance:.2g} "
        f"posterior sds away from it after {MOST_STEPS_UP} passes: rescale or drop extreme "
        "predictors, give a tighter prior, or a larger reservoir="
    )
