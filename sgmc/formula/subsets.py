"""Which rows of a table ``subset=`` leaves."""

from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.rows import same_index, same_length
from sgmc.arguments.types import Bools, Frame, Ints, Series
from sgmc.errors import DataError, RowsLeftOutWarning, warn
from sgmc.formula import parser
from sgmc.formula.columns import kind, own
from sgmc.formula.unknown_conditions import unknown_rows


def subset_columns(subset: Any, frame: Frame) -> list[str]:
    """Names of the columns that ``subset=`` uses, where it is text."""
    if not isinstance(subset, str):
        return []
    return [subset] if subset in frame else parser.columns_named(subset, frame.columns)


def subset_rows(subset: Any, frame: Frame) -> Ints | slice:
    """Rows of the subset, for `iloc`; a missing value in the mask leaves the row out, as in R."""
    if subset is None:
        return slice(None)
    mask = subset_mask(subset, frame)
    rows = np.flatnonzero(mask)
    if len(rows) == 0:
        raise no_row(len(frame))
    if isinstance(subset, str) and subset not in frame:
        warn_of_missing(subset, frame, mask)
    return rows


def subset_mask(subset: Any, frame: Frame) -> Bools:
    """Boolean array: the rows of the subset."""
    mask = subset
    if callable(subset):
        mask = subset(own(frame))  # columns that it adds or drops are not the user's
    elif isinstance(subset, str):
        mask = frame[subset] if subset in frame else _eval_subset(subset, frame)
    mask = aligned("subset", mask, frame)
    if kind(mask) != "bool":
        raise DataError(f"subset must be true or false in each row, not {mask.dtype}")
    found = mask.to_numpy(dtype=bool, na_value=False)
    if isinstance(subset, str) and subset not in frame:
        found = found & ~unknown_rows(subset, frame, subset_columns(subset, frame))
    return found


def warn_of_missing(subset: str, frame: Frame, mask: Bools) -> None:
    """Warn of rows that a condition leaves out because a column of it is missing, where pandas
    would take them.
    """
    plain = _eval_subset(subset, frame)
    plain = np.asarray(pd.Series(plain).to_numpy(dtype=bool, na_value=False))
    count = int((plain & ~mask).sum())
    if count:
        rows = "1 row" if count == 1 else f"{count:,} rows"
        names = [name for name in subset_columns(subset, frame) if frame[name].isna().any()]
        listed, one = ", ".join(map(repr, names)), names[0]
        warn(
            RowsLeftOutWarning(
                f"subset={subset!r} leaves out {rows} in which {listed} is missing, as in R.",
                f"Give subset={f'({subset}) | {one}.isna()'!r} to use them.",
            )
        )


def no_row(rows: int) -> DataError:
    """The DataError of a subset without rows, of so many."""
    return DataError(f"the subset has no row: it is false or missing in all {rows} rows")


def spaced(rows: Any, total: int, most: int | None) -> Ints | slice:
    """Places of `most` of the rows for `iloc`, evenly spaced; all where there are not more."""
    every = np.arange(total)[rows]
    if most is None or len(every) <= most:
        return rows
    return every[np.linspace(0, len(every) - 1, most).astype(int)]


def _eval_subset(subset: Any, frame: Frame) -> Any:
    try:
        mask = frame.eval(subset, engine="python")
    except Exception as error:
        raise DataError(
            f"cannot evaluate subset={subset!r}: {type(error).__name__}: {error}"
        ) from error
    if isinstance(mask, pd.DataFrame):
        raise DataError(f"subset={subset!r} assigns to a column: compare by ==")
    return mask


def aligned(argument: str, value: Any, frame: Frame) -> Series:
    """An array argument as a Series of as many rows as the data."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise DataError(f"{argument} has masked values; fill them first")
    series = (
        value
        if isinstance(value, pd.Series)
        else pd.Series(np.asarray(value))
        if np.ndim(value) == 1
        else None
    )
    if series is None:
        raise DataError(
            f"{argument} must be a column name or one value a row, its shape is {np.shape(value)}"
        )
    same_length(argument, series, len(frame))
    same_index(data=frame, **{argument: value})
    return series
