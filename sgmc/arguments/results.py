"""Arguments that several methods of a result share, or an ArgumentError that names them."""

import difflib
import numbers

import numpy as np

from sgmc.errors import ArgumentError


def check_alpha(alpha):
    """`alpha` if it is between 0 and 1."""
    if not isinstance(alpha, numbers.Real) or not 0 < alpha < 1:
        raise ArgumentError(
            f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05 for 95 % intervals"
        )
    return alpha


def check_choice(name, value, choices):
    """`value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")
    return value


def known(cols, names):
    """Names of parameters, as a list; ArgumentError with the nearest one for a name that is
    none.
    """
    cols = [cols] if isinstance(cols, str) else cols
    if not np.iterable(cols):
        raise ArgumentError(f"cols={cols!r} must be a list of parameters")
    for name in (cols := list(cols)):
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"they are: {', '.join(names[:20])}"
            raise ArgumentError(f"cols: {name!r} is not a parameter; {hint}")
    return cols
