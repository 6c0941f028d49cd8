"""One dtype for each column of several parts: what pandas has after `concat`, or a refusal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Frame, Series
from sgmc.errors import DataError
from sgmc.formula.data.columns import kind as kind_of
from sgmc.sources.part import Column, reading

if TYPE_CHECKING:
    from sgmc.sources.part import Part


CHANGED = "was it changed meanwhile?"
CALLED = {
    "number": "a number",
    "bool": "true or false",
    "text": "text",
    "category": "categories of numbers",
    "date": "a date",
}


def column_of(values: Series) -> Column:
    """The `Column` of a pandas Series with all its rows."""
    if values.isna().all():
        return Column("empty", values.dtype)
    return Column(kind_of(values), values.dtype)


def settled(parts: "Sequence[Part]", names: list[str]) -> dict[str, Any]:
    """The dtype of columns in all parts together.

    Parameters
    ----------
    parts : list of Part
    names : list of str

    Returns
    -------
    dict
        Name -> dtype.

    Raises
    ------
    DataError
        If a column is of another kind in one part; names both.
    """
    found = [part.types(names) for part in parts]
    return {
        name: common(name, [(part, types[name]) for part, types in zip(parts, found)])
        for name in names
    }


def common(name: str, entries: "list[tuple[Part, Column]]") -> Any:
    """The dtype of a column.

    Parameters
    ----------
    name : str
    entries : list of (Part, Column)
    """
    full = [(part, column) for part, column in entries if column.kind != "empty"]
    if not full:
        return entries[0][1].dtype
    kinds = {alike(column) for _, column in full}
    if len(kinds) > 1:
        # a column without any value may be of any type in the file
        full = [(part, column) for part, column in full if not part.is_missing(name)]
        refuse_different(name, full)
    gaps = len(full) < len(entries)
    dtypes = list(dict.fromkeys(column.dtype for _, column in full))
    kind = alike(full[0][1])
    if kind == "number":
        return numbers(dtypes, gaps)
    if kind == "bool":
        dtype = dtypes[0] if len(dtypes) == 1 else np.dtype("O")
        return with_gaps(dtype) if gaps else dtype
    if any(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        return categories(name, full)
    if len(dtypes) == 1:
        return dtypes[0]
    return TEXT if kind == "text" else joined(dtypes)


TEXT = pd.Series(["a"]).dtype  # object, or from pandas 3 on str


def alike(column: Column) -> str:
    """The kind, with categories of text as text."""
    if column.kind != "category":
        return column.kind
    levels = column.dtype.categories
    return "text" if all(isinstance(level, str) for level in levels) else "category"


def refuse_different(name: str, full: "list[tuple[Part, Column]]") -> None:
    """Raise DataError where a column is of several kinds."""
    first, one = full[0]
    for part, column in full[1:]:
        if alike(column) != alike(one):
            what, other = (CALLED.get(alike(c), "of another type") for c in (one, column))
            raise DataError(
                f"column {name!r} is {what} in {first.label} and {other} in {part.label}; make it "
                "the same in all"
            )


def numbers(dtypes: list[Any], gaps: bool) -> Any:
    """The dtype of numbers of several dtypes."""
    if len(dtypes) > 1 and np.dtype("O") in dtypes:
        return np.dtype(float)  # decimals beside numbers
    dtype = dtypes[0] if len(dtypes) == 1 else joined(dtypes)
    return with_gaps(dtype) if gaps else dtype


def with_gaps(dtype: Any) -> Any:
    """The dtype that pandas gives to values of a dtype with missing ones among them."""
    code = dtype.kind if isinstance(dtype, np.dtype) else ""
    return {"i": np.dtype(float), "u": np.dtype(float), "b": np.dtype("O")}.get(code, dtype)


def joined(dtypes: list[Any]) -> Any:
    """The dtype that pandas gives to columns of several dtypes below each other."""
    return pd.concat([pd.Series([0], dtype=dtype) for dtype in dtypes]).dtype


def categories(name: str, full: "list[tuple[Part, Column]]") -> Any:
    """The dtype of categories, of several lists or of some beside text."""
    dtypes = list(dict.fromkeys(column.dtype for _, column in full))
    if len(dtypes) == 1:
        return dtypes[0]
    ordered = [d for d in dtypes if isinstance(d, pd.CategoricalDtype) and d.ordered]
    if not ordered:
        return union(dtypes)
    longest = max(ordered, key=lambda dtype: len(dtype.categories))
    for part, column in full:
        own = column.dtype
        if not (isinstance(own, pd.CategoricalDtype) and own.ordered and within(own, longest)):
            raise DataError(
                f"column {name!r} has ordered categories, and not the same order in {part.label}; "
                "give all the same categories"
            )
    return longest


def within(dtype: Any, longest: Any) -> bool:
    """Whether categories are some of a longer list, in its order."""
    places = longest.categories.get_indexer(dtype.categories)
    return bool((places >= 0).all() and (np.diff(places) > 0).all())


def union(dtypes: list[Any]) -> Any:
    """Categories without an order of their own: those of all, sorted; text where some are text."""
    if not all(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        return TEXT
    levels = {level: None for dtype in dtypes for level in dtype.categories}
    try:
        return pd.CategoricalDtype(sorted(levels))
    except TypeError:
        return pd.CategoricalDtype(
            sorted(levels, key=lambda level: (type(level).__name__, str(level)))
        )


def applied(frame: Frame, dtypes: dict[str, Any], label: str) -> Frame:
    """A frame in the dtypes of all parts.

    Raises
    ------
    DataError
        If a value does not fit, as the file has been changed meanwhile.
    """
    frame = frame.copy(deep=False)
    for name, dtype in dtypes.items():
        if frame[name].dtype != dtype:
            with reading(f"column {name!r} of {label}"):
                frame[name] = cast(frame[name], dtype)
    return frame


def cast(values: Series, dtype: Any) -> Series:
    """A column in another dtype, missing values staying so."""
    if dtype.kind == "O" and isinstance(dtype, np.dtype):
        return values.astype(object)
    if values.isna().all():
        return pd.Series([None] * len(values), index=values.index, dtype=dtype)
    if isinstance(values.dtype, pd.CategoricalDtype):
        if not isinstance(dtype, pd.CategoricalDtype):
            return values.astype(object).astype(dtype)
        if not values.cat.categories.isin(dtype.categories).all():
            raise ValueError(f"it has categories that were not there before; {CHANGED}")
        return values.cat.set_categories(dtype.categories, ordered=dtype.ordered)
    plain = isinstance(dtype, np.dtype) and isinstance(values.dtype, np.dtype)
    if plain and values.dtype != object and not np.can_cast(values.dtype, dtype):
        raise ValueError(f"it holds {values.dtype}, and {dtype} before; {CHANGED}")
    if plain and dtype.kind in "biu" and values.isna().any():
        raise ValueError(f"it has missing values, and none before; {CHANGED}")
    return values.astype(dtype)
