"""Types of values that were read from files."""

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

import numpy as np

WHOLE, NUMBERS = (int, np.integer), (int, float, np.integer, np.floating)
TRUTHS = (bool, np.bool_)


def fits(value: Any, kind: Any, named: Callable[[str], Any] | None = None) -> bool:
    """Whether a value is of the type of an annotation.

    A float may be whole, a list a tuple and the other way round; what stands within brackets is
    the type of each part, and ``Annotated[int, (0, 10)]`` a number within a span,
    ``Annotated[np.ndarray, "iuf"]`` an array of these kinds.

    Parameters
    ----------
    value, kind : object
    named : callable, optional
        The class of a name, for annotations that are names.
    """
    if named is not None and isinstance(kind, (str, ForwardRef)):
        kind = named(str(getattr(kind, "__forward_arg__", kind)))
    while hasattr(get_origin(kind) or kind, "__value__"):  # an alias, as NumPy's NDArray may be
        kind = (get_origin(kind) or kind).__value__
    origin, inner = get_origin(kind), [one for one in get_args(kind) if one is not Ellipsis]
    if kind in (object, Any):
        return True
    if kind is None:
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, one, named) for one in inner)
    if origin is Annotated:
        (within,) = kind.__metadata__
        if not fits(value, inner[0], named):
            return False
        if isinstance(within, str):
            return value.dtype.kind in within
        return within[0] <= value <= within[1]
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(key, inner[0], named) and fits(one, inner[1], named) for key, one in value.items()
        )
    if origin in (list, tuple):
        return isinstance(value, (list, tuple)) and all(fits(one, inner[0], named) for one in value)
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind in (list, tuple):
        return isinstance(value, (list, tuple))
    if kind in (int, float):
        numbers = WHOLE if kind is int else NUMBERS
        return isinstance(value, numbers) and not isinstance(value, TRUTHS)
    return isinstance(value, TRUTHS if kind is bool else origin or kind)
