"""Priors of numbers that are known to lie between ends."""

import math
from dataclasses import replace

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import number
from sgmc.errors import ArgumentError
from sgmc.priors.other_names import with_other_names
from sgmc.priors.spec import ENDS, PriorSpec, is_infinite

UNTRUNCATED = ("horseshoe", "dirichlet", "lkj")  # beside those whose scale is learned


@with_other_names
def uniform(low: float, high: float) -> PriorSpec:
    """Uniform prior between two numbers; the parameter is nowhere else.

    Parameters
    ----------
    low, high : float
        Both finite; in the parameter's own units.
    """
    return PriorSpec("uniform", low=low, high=high, scale=1.0)


@with_other_names
def truncated(prior: PriorSpec, low: float = -math.inf, high: float = math.inf) -> PriorSpec:
    """Prior cut off at one end or both: ``truncated(normal(0, 1), low=0)`` is of a positive number,
    with ``high=0`` of a negative one.

    p(b) is proportional to the prior's density for low < b < high, and zero elsewhere.

    Parameters
    ----------
    prior : PriorSpec
        `normal`, `student_t`, `cauchy`, `laplace`, `flat`, or one of positive numbers.
    low, high : float
        In the parameter's own units; infinite for none.

    Raises
    ------
    ArgumentError
        For ends that are none, and for priors that have no truncated form.
    """
    if not isinstance(prior, PriorSpec):
        raise must_be("truncated: prior", prior, "a prior such as sgmc.normal(0, 1)")
    if prior.family in UNTRUNCATED or prior.learned:
        raise ArgumentError(
            f"truncated: {prior} cannot be cut off; use e.g. sgmc.normal(0, 1) instead"
        )
    for name, end in zip(ENDS, (low, high)):
        if not is_infinite(end):
            number(f"truncated: {name}", end)
    if prior.family == "flat" and math.isfinite(high - low):
        return uniform(low, high)
    found = replace(prior, low=max(low, prior.low), high=min(high, prior.high))
    if not found.bounds[0] < found.bounds[1]:
        raise ArgumentError(f"truncated: {prior} has nothing below {high:g}: give another end")
    return found
