"""Arguments of priors by the names of other packages, such as ``normal(mu=0, sigma=1)``."""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from sgmc.elsewhere import REGRESSIONS_OF_PRIORS, SAME_OF_PRIORS
from sgmc.errors import ArgumentError

ENDS = {name: ours for ours in ("low", "high") for name in (ours, *SAME_OF_PRIORS[""][ours])}

P = ParamSpec("P")
R = TypeVar("R")


def with_other_names(make: Callable[P, R]) -> Callable[P, R]:
    """Decorate a prior: names of other packages are taken for its own (`SAME_OF_PRIORS`)."""
    called = make.__name__
    taken = inspect.signature(make).parameters
    same: dict[str, str] = {}
    for table in (SAME_OF_PRIORS[""], SAME_OF_PRIORS.get(called, {})):
        for ours, theirs in table.items():
            if ours in taken:
                same |= dict.fromkeys(theirs, ours)

    @functools.wraps(make)
    def made(*given: P.args, **named: P.kwargs) -> R:
        if given and isinstance(given[0], str) and "~" in given[0]:
            regression = REGRESSIONS_OF_PRIORS.get(
                called, "a verb, such as sgmc.ols(formula, data)"
            )
            raise ArgumentError(f"{called}() is a prior; of a formula use {regression}")
        for name in [name for name in named if name in same and name not in taken]:
            ours = same[name]
            if ours in named:
                raise TypeError(f"{called}() got {name!r}, which is {ours!r} here, more than once")
            named[ours] = named.pop(name)
        for name in named:
            if name in ENDS and not {"low", "high"} & set(taken):
                raise TypeError(
                    f"{called}() got an unexpected keyword argument {name!r}; a prior with ends is "
                    f"sgmc.truncated(sgmc.{called}(...), {ENDS[name]}=...)"
                )
        return make(*given, **named)

    return made
