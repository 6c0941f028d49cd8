"""Which rows of a table ``subset=`` leaves."""

import re
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.data.rows import same_index, same_length
from sgmc.arguments.types import Bools, Frame, Ints, Series
from sgmc.errors import DataError, SubsetWarning, warn
from sgmc.formula.data.columns import kind, own
from sgmc.formula.syntax import parser

ASKS_FOR_MISSING = re.compile(r"\b(isna|isnull|notna|notnull)\b")


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
        warn_of_kept(subset, frame.iloc[rows])
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
    return mask.to_numpy(dtype=bool, na_value=False)


def warn_of_kept(subset: str, kept: Frame) -> None:
    """Warn where a condition keeps rows in which a column of it is missing: of such a value ``!=``
    is true in pandas, and neither true nor false in R, which leaves the row out.
    """
    if ASKS_FOR_MISSING.search(subset):
        return
    for name in subset_columns(subset, kept):
        count = int(kept[name].isna().sum())
        if count:
            rows = "1 row" if count == 1 else f"{count:,} rows"
            written = name if name.isidentifier() else f"`{name}`"
            warn(
                SubsetWarning(
                    f"subset={subset!r} keeps {rows} in which {name!r} is missing: "
                    "of a missing value != is true in pandas.",
                    f"Give subset={f'({subset}) & {written}.notna()'!r} to leave them out, as R "
                    f"does, or {f'({subset}) | {written}.isna()'!r} to keep them.",
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
        if "@" in subset:
            raise DataError(
                f"subset={subset!r}: names with @ are not looked up; give a function of the "
                "table, subset=lambda df: df['x'] > k, or write the value into the text"
            ) from error
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
