"""Posteriors without a finite integral: densities that do not fall along a parameter."""

import numpy as np

from sgmc.core.engine import full
from sgmc.errors import DataError

BEGINNINGS = 3  # random ones at which all agree: one alone may lie on a ridge of no mass
BEGINNING_SD = 1.0  # of them around the start, in free numbers
DOUBLINGS = 100  # doublings of a step of one: a prior's scale may be large
DOUBLINGS_OF_LOGS = 9  # the same of free numbers whose parameters grow exponentially
LEAST_FALL = 1e-9  # of log densities, relative: a smaller fall is none


def refuse_improper(gradient, start, names, map):
    """DataError where the log density does not fall however far a free number goes, from several
    places: its integral is infinite.

    Parameters
    ----------
    gradient : Gradient
        Over all rows, in free numbers.
    start : array (d,)
    names : list of str
        Of the free numbers.
    map : Map or None
        From free numbers to parameters.
    """
    random = np.random.default_rng(0)
    places = [start + BEGINNING_SD * random.normal(size=len(start)) for _ in range(BEGINNINGS)]
    for name, axis in zip(names, np.eye(len(start))):
        for way, where in ((axis, "infinity"), (-axis, "minus infinity")):
            with np.errstate(all="ignore"):
                improper = all(never_falls(gradient, u, way, map) for u in places)
            if improper:
                raise DataError(
                    f"the posterior is improper: the log density does not fall as {name!r} goes to "
                    f"{where}, so that it has no finite integral; give {name!r} a prior, such as "
                    "sgmc.normal(0, 10), or ends"
                )


def never_falls(gradient, u, way, map):
    """Whether no log density along a ray is below that at its beginning, or no number."""
    begin = full(gradient, u)[0]
    least = begin - LEAST_FALL * (1 + abs(begin))
    plain = map is None or np.isclose(np.abs(map(u + way) - map(u)).max(), 1.0, rtol=1e-9)
    for k in range((DOUBLINGS if plain else DOUBLINGS_OF_LOGS) + 1):
        value = full(gradient, u + 2.0**k * way)[0]
        if not (np.isfinite(value) and value >= least):
            return False
    return bool(np.isfinite(begin))
