"""Draws kept by the time between them: the mixing distance of Welling & Teh (2011, section
5.3.1).
"""

import math
from dataclasses import replace

from sgmc.core.recorders import Spaced, steps_to_space
from sgmc.errors import ArgumentError

MAX_SPACED_STEPS = 10**8  # of a chain, warmup not included


def spaced(plan):
    """The plan, with draws kept by distance.

    Raises
    ------
    ArgumentError
        For a constant step, between whose draws the number of steps is the same.
    """
    if not plan.weighted:
        raise ArgumentError(
            "thin='distance' is for steps that decrease; with a constant step_size give the number "
            "of steps between draws"
        )
    return replace(plan, thin=1, spaced=True)


def power(plan):
    """The power of a step that its Langevin time grows with: 1 for Langevin dynamics, 2 for
    increments.
    """
    h = plan.schedule(0)
    return math.log2(plan.spec.langevin_time(2 * h) / plan.spec.langevin_time(h))


def recorder(plan, draws, dim):
    """What keeps the draws of one chain."""
    return Spaced(draws, dim, power(plan))


def steps(plan, draws):
    """Steps of a chain after warmup, until it has its draws."""
    if not plan.spaced:
        return plan.thin * math.ceil(draws / plan.spec.walkers)
    found = steps_to_space(plan.schedule, plan.warmup, draws, power(plan), MAX_SPACED_STEPS)
    if found < 0:
        raise ArgumentError(
            f"thin='distance': {draws} draws need more than {MAX_SPACED_STEPS:.0e} steps of this "
            "step_size; take fewer draws, or steps that decrease more slowly"
        )
    return found
