"""Columns of data frames: what they hold, what is missing,
and their values in dtypes free of surprises.
"""

from collections.abc import Sequence
from datetime import date, time
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text, labels_text
from sgmc.arguments.types import Bools, Floats, Ints, Series
from sgmc.errors import DataError, FormulaError

_OBJECT_KINDS = (
    {"string": "text", "boolean": "bool", "complex": "complex"}
    | dict.fromkeys(["integer", "floating", "mixed-integer-float", "decimal"], "number")
    | dict.fromkeys(
        ["date", "datetime", "datetime64", "timedelta", "timedelta64", "time", "period"], "date"
    )
)

MAX_TEXT_STRATA = 32  # of text as strata: no more than rows of the smallest batch


# until 3.0 a pandas copy that is not deep shares its numbers for good, not only until they change
COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3


def own(table: Any) -> Any:
    """A DataFrame or Series that users' code may change, at the least cost."""
    return table.copy(deep=not COPIES_ON_WRITE)


def types_of(column: Series) -> str:
    """The types that a column of objects holds, missing values aside, as text:
    ``"Decimal and float"``.
    """
    return " and ".join(sorted({type(value).__name__ for value in column.dropna()}))


def kind(column: Series) -> str:
    """What a column holds: ``"number"``, ``"bool"``, ``"text"``, ``"category"``, ``"date"``,
    ``"complex"`` or ``"other"``.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if pd.api.types.is_bool_dtype(dtype):
        return "bool"
    if pd.api.types.is_complex_dtype(dtype):
        return "complex"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if (
        isinstance(dtype, pd.PeriodDtype)
        or dtype.kind in "mM"
        or issubclass(dtype.type, (date, time))
    ):
        return "date"
    if dtype == object:  # noqa: E721  (a dtype, which equals the type)
        return _OBJECT_KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "other")
    return "text" if issubclass(dtype.type, (str, pd.CategoricalDtype.type)) else "other"


def is_missing(column: Series) -> Bools:
    """Boolean array: where the column is missing; a NaN inside a nullable float column counts."""
    if column.dtype.kind == "f":
        return np.isnan(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return column.isna().to_numpy(dtype=bool)


def is_plain(column: Series) -> bool:
    """Whether a column is an array of real numbers as it is."""
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu"


def plain(column: Series, rows: Any) -> Series:
    """Rows of a column, none missing, in a dtype free of surprises: float64, int64, bool, or text
    and categories as they are.

    Small integers would overflow in ``x ** 2``, unsigned ones wrap in ``x - 1``; nullable ones are
    unknown to patsy.  Numbers are read-only: a function in a formula must not change what others
    see.
    """
    values = column.to_numpy()[rows] if isinstance(column.dtype, np.dtype) else column.iloc[rows]
    values = pd.Series(values, copy=False)
    dtype = _plain_dtype(values)
    if dtype is not None:
        try:
            numbers = values.to_numpy(dtype=dtype)[:]
        except (OverflowError, ValueError, TypeError) as error:
            raise DataError(
                f"column {column.name!r} holds what is no {dtype.__name__} number: {error}"
            ) from error
        numbers.setflags(write=False)
        values = pd.Series(numbers, copy=False)
    return values.reset_index(drop=True).rename(column.name)


def _plain_dtype(values: Any) -> Any:
    code: Any = values.dtype.kind
    if code == "O":
        code = {"number": "f", "bool": "b"}.get(kind(values))
        if code == "f" and np.array(values.tolist()).dtype.kind == "i":
            code = "i"  # whole ones, of at most 64 bits: levels are named 1, not 1.0
    if code == "u" and values.dtype.itemsize == 8:
        code = "f"
    return {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}.get(code)


def levels_of(values: Any) -> tuple[Any, ...]:
    """The distinct values, missing ones aside:
    used categories in their order, anything else sorted.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        rows = np.bincount(values.cat.codes.to_numpy() + 1, minlength=1)  # missing ones first
        return tuple(values.cat.categories[np.flatnonzero(rows[1:])].tolist())
    if kind(values) == "bool":
        return (False, True)
    try:
        found = values.dropna().unique().tolist()
    except TypeError as error:
        raise DataError(f"{values.name!r} holds {types_of(values)}, which are no labels") from error
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))


def labels_of(argument: str, values: Any) -> Floats:
    """Labels of rows as numbers, NaN where missing:
    numbers as they are, anything else by its place among the levels.

    Raises
    ------
    DataError
        Naming the argument, where there are more than MAX_TEXT_STRATA levels of text.
    """
    if kind(values) == "number":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    levels = levels_of(values)
    refuse_many_strata(argument, levels)
    codes = codes_of(values, levels, argument).astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def clusters_of(values: Any) -> Floats:
    """Numbers of the different values, NaN where missing."""
    codes = pd.factorize(values)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def refuse_many_strata(argument: str, levels: Sequence[Any]) -> None:
    """Raise DataError where labels of strata are of more than MAX_TEXT_STRATA levels."""
    if len(levels) > MAX_TEXT_STRATA:
        raise DataError(
            f"{argument} has {len(levels)} levels; at most {MAX_TEXT_STRATA}: join some of them"
        )


def codes_of(values: Any, levels: Sequence[Any], label: str) -> Ints:
    """Position of each value among the levels, -1 where missing.

    Raises
    ------
    FormulaError
        If a value is none of the levels; names the column `label`, the value and the levels.
    """
    return LevelIndexer(levels, label).of(values)


class LevelIndexer:
    """Positions of values among levels, chunk by chunk: see `codes_of`.

    Parameters
    ----------
    levels : sequence
    label : str
    """

    def __init__(self, levels: Sequence[Any], label: str) -> None:
        self.levels, self.label = levels, label
        self.index = pd.Index(levels, dtype=object)
        # categories of the last chunk, and their positions
        self.known: tuple[Any, Any] = None, None

    def of(self, values: Any) -> Ints:
        """Position of each value, -1 where missing."""
        if isinstance(values.dtype, pd.CategoricalDtype):
            positions = values.cat.codes.to_numpy()
            codes = np.where(positions < 0, -1, self.of_categories(values)[positions])
        else:
            codes = self.index.get_indexer(pd.Index(values, dtype=object))
        absent = codes < 0
        unseen = absent & values.notna().to_numpy() if absent.any() else absent
        if unseen.any():
            raise FormulaError(
                f"column {self.label!r} has the level {label_text(values[unseen].iloc[0])}; known "
                f"are {labels_text(self.levels, 10)}{self.of_other_type(values[unseen])}"
            )
        return codes

    def of_other_type(self, unseen: Any) -> str:
        """The end of the message where unknown values are known ones of another type."""
        known = dict(zip(map(str, self.levels), self.levels))
        meant = [known[one] for one in unseen.astype(str) if one in known]
        if not meant:
            return ""
        of_text = [isinstance(one, str) for one in (meant[0], unseen.iloc[0])]
        if of_text[0] == of_text[1]:
            return ""
        wanted, given = ("text" if one else "numbers" for one in of_text)
        return f", which are {wanted}, not {given}: convert the column as in the fit"

    def of_categories(self, values: Any) -> Ints:
        """Positions of the categories, and -1 behind them."""
        categories, table = self.known
        if categories is not values.cat.categories:
            categories = values.cat.categories
            table = np.append(self.index.get_indexer(categories.astype(object)), -1)
            self.known = categories, table
        return table


def is_constant(column: Series) -> bool:
    """Whether the values of a column, missing ones aside, are all the same."""
    if is_plain(column):
        head = column.to_numpy()[:1000]
        head = head[head == head]  # not NaN
        if len(head) and (head != head[0]).any():
            return False
    head = plain(column, np.flatnonzero(~is_missing(column.iloc[:1000]))).to_numpy()
    if len(head) and (head != head[0]).any():
        return False
    values = plain(column, np.flatnonzero(~is_missing(column))).to_numpy()
    return bool((values == values[0]).all())
