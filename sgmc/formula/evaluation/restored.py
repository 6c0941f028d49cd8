"""What a file may hold of fitted transforms: every number that becomes a shape, a place in an
array or a degree is looked at before it is used.
"""

from typing import Any

import numpy as np
from patsy.mgcv_cubic_splines import CC, CR, TE

from sgmc.formula.evaluation.monotone import MOST_ORDERED, Monotonic
from sgmc.formula.evaluation.r_words import NaturalTerm, Poly, Relevel
from sgmc.formula.evaluation.transforms import (
    MOST_DEGREE,
    BSplines,
    Categories,
    Center,
    Standardize,
)
from sgmc.splines.natural import NaturalSplines
from sgmc.splines.restored import MOST_KNOTS, natural, numbers, refuse_unsound, rising


def check_restored(value: Any) -> None:
    """ValueError for a fitted transform of a file that no fit can have made; other objects, the
    transforms of users, are left alone.
    """
    if type(value) in CHECKS:
        refuse_unsound(value, CHECKS[type(value)])


def whole(value: Any, least: int, most: int) -> bool:
    """Whether it is a whole number within ends."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return number and least <= value <= most


def constrained(rows: Any, columns: int | None = None) -> bool:
    """Whether constraints are absent, or fewer than what they constrain."""
    return rows is None or numbers(rows, None, columns) and 0 < rows.shape[0] < rows.shape[1]


def b_splines(one: Any) -> bool:
    """Whether FITPACK's and scipy's loops end within the knots."""
    if not whole(one._degree, 0, MOST_DEGREE):
        return False
    return rising(one._all_knots, 2 * (one._degree + 1), strictly=False)


def cubic(one: Any) -> bool:
    """Of patsy's `cr` and `cc`."""
    cyclic = type(one) is CC
    sound = one._cyclic is cyclic and rising(one._all_knots, 2)
    return sound and constrained(one._constraints, len(one._all_knots) - cyclic)


def moments(one: Any) -> bool:
    """Of `center` and `standardize`."""
    shape = np.shape(one.mean)
    same = numbers(one.mean, *shape) and np.shape(one.squares) in ((), shape)
    return len(shape) <= 1 and same and whole(one.count, 0, 2**62)


def polynomials(one: Any) -> bool:
    """Of `poly`."""
    if one.triangle is None:
        return True
    size = len(one.triangle)
    sound = (
        numbers(one.triangle, size, size) and size <= MOST_KNOTS and one.triangle.diagonal().all()
    )
    return bool(sound and numbers([one.middle, one.scale], 2) and one.scale > 0)


CHECKS = {
    BSplines: b_splines,
    CR: cubic,
    CC: cubic,
    TE: lambda one: constrained(one._constraints),
    Standardize: moments,
    Center: moments,
    Categories: lambda one: isinstance(one.levels, tuple),
    Relevel: lambda one: isinstance(one.levels, tuple),
    Monotonic: lambda one: isinstance(one.levels, tuple) and 2 <= len(one.levels) <= MOST_ORDERED,
    Poly: polynomials,
    NaturalTerm: lambda one: type(one.basis) is NaturalSplines and natural(one.basis),
}
