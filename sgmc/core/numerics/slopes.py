"""Whether a slope is that of a function, by central differences; kinks and rounding are no alarm.

A central difference is D(h) = f' + h^2 f'''/6 + e/h, with e rounding errors of f.  Its gap to a
slope is g(h) = D(h) - slope, and (4 g(h/2) - g(h)) / 3 is free of the second-order term
(Richardson).  Of a wrong slope the gaps at all steps are alike; those of curvature, of a kink or of
rounding change with the step.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sgmc.arguments.types import Ints

ALIKE = 0.5  # range of gaps that are alike, over the smallest


def surely_apart(
    gap: Callable[[float], float], matters: float, glance: float, steps: Sequence[float]
) -> float:
    """By how much a slope is surely not that of a function; 0 where it may be.

    Parameters
    ----------
    gap : callable
        Of a step: central difference minus slope.
    matters : float
        Gaps below half of it at the first step end the comparison.
    glance : float
        The first step.
    steps : sequence of float
        Those, and their halves, at which gaps must be alike where the first one is large.

    Returns
    -------
    float
    """
    if not abs(gap(glance)) > matters / 2:  # also where the function has no value on one side
        return 0.0
    pairs = np.array([(gap(h), gap(h / 2)) for h in steps])
    least = np.abs(4 * pairs[:, 1] - pairs[:, 0]).min() / 3
    return float(least) if np.ptp(pairs) <= ALIKE * least else 0.0


def diverged_index(error: Callable[[Ints], float], d: int) -> int:
    """The coordinate most concerned, by halving: errors of two halves of the coordinates add up.

    Parameters
    ----------
    error : callable
        Of an array of coordinates that are moved together: the size of the gap along them.
    d : int
        Number of coordinates.
    """
    among = np.arange(d)
    while len(among) > 1:
        among = max(np.array_split(among, 2), key=error)
    return int(among[0])
