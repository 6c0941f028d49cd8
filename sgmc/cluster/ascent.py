"""The mode of all rows by Newton's method on the sums of partitions."""

from dataclasses import dataclass

import numpy as np

from sgmc.cluster.passes import Expanded, Expansion, Values
from sgmc.cluster.sums import merged
from sgmc.coordinates.mode import solve
from sgmc.errors import DataError

CENTRED = 1e-3  # distance to the mode in posterior sds at which the centre is near enough
MOST_STEPS_UP = 25
FRACTIONS = 0.5 ** np.arange(1, 25)  # of a step that goes too far, looked at in one pass


@dataclass(frozen=True)
class Centre:
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


def ascend(expand, values, terms, start):
    """The mode, from a start near it.

    A sample of the rows may have no contrary outcome of a rare level, whose coefficient then starts
    where the likelihood is all but flat, and Newton's step is far too long.  A pass over all rows
    is dear, so that one looks at many fractions of such a step.

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
    theta, value, step = np.array(start, dtype=float), -np.inf, np.zeros(len(start))
    distance = np.inf
    for _ in range(MOST_STEPS_UP):
        known = expand(theta)
        prior_value, prior_gradient, prior_curvature = terms(theta)
        now = known.value + prior_value
        if not now >= value - 1e-9 * abs(value) - 1e-9:
            points = (theta - step) + FRACTIONS[:, None] * step
            priors = np.array([terms(point)[0] for point in points])
            found = np.nan_to_num(values(points) + priors, nan=-np.inf)
            if not found.max() > value:
                break
            theta, step = points[found.argmax()], FRACTIONS[found.argmax()] * step
            continue
        value, total = now, known.gradient + prior_gradient
        step = solve(known.hessian + prior_curvature, total)
        distance = float(np.sqrt(max(total @ step, 0.0)))
        if distance < CENTRED:
            return Centre(theta, known, prior_curvature, distance)
        theta = theta + step
    raise DataError(
        f"the search for the posterior mode over all partitions stopped {distance:.2g} posterior "
        f"sds away from it after {MOST_STEPS_UP} passes: rescale or drop extreme predictors, give "
        "a tighter prior, or a larger reservoir="
    )
