"""One value for each row: lengths, and the labels of rows."""

from typing import Any

import numpy as np

from sgmc.arguments.data.arrays import numeric, shaped
from sgmc.arguments.types import Array, Same
from sgmc.errors import ArgumentError, DataError


def same_length(name: str, values: Same, n: int, of: str = "the data have") -> Same:
    """Return values, one for each of n rows.

    Parameters
    ----------
    name : str
        The values in messages.
    values : array
    n : int
    of : str
        Whose rows they are, with the verb: ``"the new data have"``.

    Raises
    ------
    DataError
        If there are more values or fewer.
    """
    if len(values) != n:
        raise DataError(f"{name} has {len(values)} values, {of} {n} rows; give one value a row")
    return values


def same_index(**objects: Any) -> None:
    """Refuse pandas objects whose indices differ: their rows would be paired by position.

    Parameters
    ----------
    **objects
        By the names that messages use; what has no index passes.

    Raises
    ------
    DataError
        Naming two objects whose indices differ.
    """
    labelled = {
        name: one.index
        for name, one in objects.items()
        if hasattr(getattr(one, "index", None), "equals")
    }
    first = next(iter(labelled), "")
    for name, index in labelled.items():
        if not index.equals(labelled[first]):
            raise DataError(
                f"{first} and {name} have different indices; align them first, or pass "
                f"{name}.to_numpy()"
            )


def for_rows(name: str, values: object, n: int) -> Array:
    """Return one number for each of n new rows, of as many numbers or of one for all.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : float or array_like, shape (n,)
    n : int

    Returns
    -------
    ndarray, shape (n,)
        Read-only where it was one number.

    Raises
    ------
    DataError
        If something is no number, or there are more or fewer.
    """
    array = numeric(name, not_a_name(name, values))
    if array.ndim > 1:
        shaped(name, array, (), (n,), error=DataError)
    if array.ndim:
        same_length(name, array, n, "the new data have")
    return np.broadcast_to(array, (n,))


def not_a_name(name: str, values: Same) -> Same:
    """Return values for new rows.

    Raises
    ------
    ArgumentError
        If it is text: what is passed for new rows are numbers, not a column's name.
    """
    if isinstance(values, str):
        raise ArgumentError(
            f"{name}={values!r}: give the numbers themselves, e.g. {name}=new[{values!r}]"
        )
    return values
