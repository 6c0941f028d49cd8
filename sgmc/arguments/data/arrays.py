"""Arrays of numbers of any shape, vectors and matrices."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats, SameArray
from sgmc.errors import ArgumentError, DataError

SEEN = 1000  # values of text by which it is said what to do


def numeric(name: str, values: Any) -> Array:
    """Return numbers as a float array, float32 where they are; they need not be finite.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : array_like
        A frame's columns may be of several types of numbers.

    Returns
    -------
    ndarray

    Raises
    ------
    DataError
        If something is no number, or masked; names the column of a frame.
    """
    if values is None:
        raise DataError(f"{name} is None; it must hold numbers")
    if isinstance(values, (str, os.PathLike)):
        raise DataError(
            f"{name} must hold numbers, and {os.fspath(values)!r} is text; read a file first, or "
            "use a formula and the path"
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"{name} has masked values; drop or fill them first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is no array of numbers: {str(error).split('. ')[0]}") from error
    if array.dtype.kind not in "fiub":
        if array.ndim == 2 and hasattr(values, "iloc"):
            labels = enumerate(values.columns)
            return np.column_stack(
                [numeric(f"{name}: column {label!r}", values.iloc[:, j]) for j, label in labels]
            )
        array = from_objects(name, array)
    plain = array.dtype in (np.float64, np.float32) and array.dtype.isnative
    return array if plain else array.astype(float)


def from_objects(name: str, array: Array) -> Floats:
    """Return Python numbers as floats, NaN for whatever pandas calls missing.

    Raises
    ------
    DataError
        If something is no number; text is not read as numbers.
    """
    import pandas as pd

    types = {type(value) for value in array.flat} if array.dtype.kind == "O" else set()
    if types and not any(issubclass(kind, (str, bytes)) for kind in types):
        try:
            return np.where(pd.isna(array), np.nan, array).astype(float)
        except (TypeError, ValueError, OverflowError):
            pass
    held = " and ".join(sorted(kind.__name__ for kind in types)) or (
        "text" if array.dtype.kind in "US" else array.dtype
    )
    hint = "convert it first"
    if array.dtype.kind in "US" or str in types:
        hint = "use a formula for text and categories"
        try:
            array.ravel()[:SEEN].astype(float)
            hint = f"convert it first, np.asarray({name}, dtype=float)"
        except (TypeError, ValueError):  # it does not hold numbers stored as text
            pass
    elif array.dtype.kind in "mM":
        hint += f", e.g. .dt.{'days' if array.dtype.kind == 'm' else 'year'} of a Series"
    raise DataError(f"{name} must hold numbers, it holds {held}; {hint}")


def refuse_swapped(endog: Any, exog: Any) -> None:
    """Raise DataError for a formula in the place of arrays, and for predictors in that of outcomes;
    two columns of counts are outcomes.
    """
    for one in (endog, exog):
        if isinstance(one, str) and "~" in one:
            raise DataError(
                f"{one!r} is a formula: use a verb such as sgmc.logit(formula, data), or "
                "Logit.from_formula(formula, data)"
            )
    if np.ndim(endog) != 2 or np.ndim(exog) != 1 or len(endog) != len(exog):
        return
    numbers = numeric("endog", endog)
    if numbers.shape[1] > 2 or (numbers < 0).any() or (numbers % 1 != 0).any():
        raise DataError(
            f"endog has shape {numbers.shape} and exog is one column: outcomes come first, as in "
            "Logit(y, X)"
        )


def vector(name: str, values: object) -> Floats:
    """Return a finite float64 vector; a matrix of one column is taken as one.

    Raises
    ------
    DataError
        If it is no vector of numbers, or a number is missing or infinite.
    """
    array = numeric(name, values).astype(float, copy=False)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; it must be one number a row")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has missing or infinite values; drop those rows first")
    return array


def shaped(
    name: str,
    array: SameArray,
    *shapes: Sequence[int | str],
    advice: str = "",
    error: type[Exception] = ArgumentError,
) -> SameArray:
    """Return an array that has one of some shapes.

    Parameters
    ----------
    name : str
    array : ndarray
    *shapes : tuple
        Of whole numbers, and of texts for lengths that may be any: ``("n", 2)``.
    advice : str, optional
        What to do, for the message.
    error : type, default ArgumentError

    Returns
    -------
    ndarray

    Raises
    ------
    ArgumentError
        Or `error`, if it has another shape.
    """
    for shape in shapes:
        if array.ndim == len(shape) and all(
            isinstance(wanted, str) or wanted == found for wanted, found in zip(shape, array.shape)
        ):
            return array
    wanted = " or ".join(shape_text(shape) for shape in shapes)
    found = shape_text(array.shape)
    raise error(
        f"{name} has shape {found}; it must be {wanted}" + (f"; {advice}" if advice else "")
    )


def shape_text(shape: Sequence[int | str]) -> str:
    """Return a shape as text, ``"(n, 2)"``."""
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
