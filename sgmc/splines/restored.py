"""What a file may hold of bases and smooths: every number that becomes a shape or a place in an
array is looked at before it is used.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

MOST_KNOTS = 2_000  # of one basis: with k of them arrays of k^2 numbers are made


def refuse_unsound(value: Any, check: Callable[[Any], bool]) -> None:
    """ValueError for what a file has where ``check(value)`` is not true of it, or a field is absent
    or of another kind.
    """
    try:
        sound = check(value)
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError):
        sound = False
    if not sound:
        name = type(value).__name__
        raise ValueError(f"knots, shapes or numbers of a {name} are none that a fit makes")


def numbers(value: Any, *shape: int | None) -> bool:
    """Whether it is finite real numbers of a shape, whose None stands for any length."""
    array = np.asarray(value)
    fits = array.ndim == len(shape) and all(b in (None, a) for a, b in zip(array.shape, shape))
    return bool(fits and array.dtype.kind in "iuf" and np.isfinite(array).all())


def rising(knots: Any, least: int, strictly: bool = True) -> bool:
    """Whether there are from `least` to MOST_KNOTS finite numbers in rising order."""
    if not numbers(knots, None) or not least <= len(knots) <= MOST_KNOTS:
        return False
    steps = np.diff(knots)
    return bool((steps > 0).all() if strictly else (steps >= 0).all())


def natural(one: Any) -> bool:
    """Of `ns`."""
    ends = one.ends
    if not (isinstance(one.intercept, bool) and len(ends) == 2 and rising(ends, 2)):
        return False
    return rising(one.knots, 0, strictly=False) and all(
        (one.knots > ends[0]) & (one.knots < ends[1])
    )


def curves(one: Any) -> bool:
    """Of splines."""
    from scipy.interpolate import BSpline, CubicSpline  # only here: they take long to import

    if not (rising(one.knots, 2) and isinstance(one.cyclic, bool)):
        return False
    if isinstance(one.curves, BSpline):
        t, c, k = one.curves.t, one.curves.c, one.curves.k
        size = len(t) - 4
        return k == 3 and rising(t, 8, strictly=False) and numbers(c, size, size)
    x, c = one.curves.x, one.curves.c
    return isinstance(one.curves, CubicSpline) and rising(x, 2) and numbers(c, 4, len(x) - 1, None)


def smooth(one: Any) -> bool:
    """Whether the parts of a `Smooth` have the shapes that its columns need."""
    count = len(one.bases)
    lines = int(np.prod([basis.flat for basis in one.bases]))
    sizes = [root.shape[1] for root in one.roots]
    if one.labels is not None and len(one.labels) != one.bases[0].elements:
        return False
    sound = len(sizes) == count == len(one.covariates.exog_names) <= 2
    for basis, root in zip(one.bases, one.roots):
        sound &= numbers(root, basis.elements, None)
    for block in one.blocks:
        ends = [
            size if own else basis.flat for size, own, basis in zip(sizes, block.part, one.bases)
        ]
        width = int(np.prod(ends))
        sound &= len(block.part) == count and 0 <= block.by < one.width
        sound &= numbers(block.turn, width, None) and numbers(block.line, lines, None)
        sound &= block.turn.shape[1] == block.line.shape[1]
    return sound and numbers(one.centre, count) and numbers(one.scale, count) and all(one.scale > 0)
