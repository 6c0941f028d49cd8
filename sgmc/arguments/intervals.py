"""The probability of intervals: ``alpha=0.05`` and ``level=0.95`` are the same everywhere, and
names of other packages are taken for it (`sgmc.elsewhere.INTERVALS`).
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from sgmc.arguments.numbers import fraction
from sgmc.elsewhere import INTERVALS
from sgmc.errors import ArgumentError

R = TypeVar("R")
ALPHA, LEVEL = "alpha", "level"
DIGITS = 12  # of 1 - level, so that 0.95 is the complement of 0.05


def refuse_unclear(called: str, share: float) -> None:
    """ArgumentError for a probability without a name that would be meant for that of intervals."""
    if 0.5 < share < 1:
        raise ArgumentError(
            f"{called}({share:g}): write level={share:g} for intervals of {100 * share:g} %, or "
            f"alpha={share:g} for those of {100 - 100 * share:g} %"
        )


def with_level(method: Callable[..., R]) -> Callable[..., R]:
    """Decorate a method that takes `alpha` or `level`: it takes the other one too, by name."""
    taken = inspect.signature(method)
    own, other = (ALPHA, LEVEL) if ALPHA in taken.parameters else (LEVEL, ALPHA)
    called = method.__name__

    place = list(taken.parameters).index(own)

    @functools.wraps(method)
    def made(*given: Any, **named: Any) -> R:
        if own == ALPHA and len(given) > place and isinstance(given[place], float):
            refuse_unclear(called, given[place])
        for name in [name for name in named if name == other or name in INTERVALS]:
            value = named.pop(name)
            if value is None and name == other:  # its default
                continue
            if own in named:
                raise TypeError(f"{called}() got the probability of intervals twice, by {name!r}")
            share = fraction(name, value, advice="e.g. alpha=0.1, level=0.9")
            same = (name == ALPHA) == (own == ALPHA)
            named[own] = share if same else round(1 - share, DIGITS)
        return method(*given, **named)

    extra = inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY, default=None)
    listed = list(taken.parameters.values())
    at = len(listed) - (bool(listed) and listed[-1].kind is inspect.Parameter.VAR_KEYWORD)
    shown = taken.replace(parameters=[*listed[:at], extra, *listed[at:]])
    made.__signature__ = shown  # type: ignore[attr-defined]
    return made
