"""Columns of Arrow tables: their kinds, and as pandas has them."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from sgmc.arguments.types import Frame
from sgmc.errors import DataError
from sgmc.sources.part import Column
from sgmc.sources.settling import with_gaps


def stored(schema: Any) -> list[str]:
    """Names of the columns; an index that pandas has stored with them is none."""
    known = schema.pandas_metadata or {}
    index = {one for one in known.get("index_columns", ()) if isinstance(one, str)}
    return [name for name in schema.names if name not in index]


def check_once(schema: Any, label: str) -> None:
    """Refuse names that repeat."""
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise DataError(f"{label} has more than one column {name!r}; rename or drop one")


def as_pandas(table: Any, names: list[str]) -> Frame:
    """Columns of an Arrow table as a DataFrame, an index that pandas stored left out."""
    frame = table.to_pandas(split_blocks=True, date_as_object=False)
    frame.columns = frame.columns.map(str)
    return frame[names].reset_index(drop=True)


def kind_of_type(dtype: Any) -> str:
    """The kind of an Arrow type, as `sgmc.formula.data.columns.kind` calls it."""
    from pyarrow import types

    if types.is_null(dtype):
        return "empty"
    for kind, tests in {
        "bool": (types.is_boolean,),
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "category": (types.is_dictionary,),
        "date": (types.is_temporal,),
    }.items():
        if any(test(dtype) for test in tests):
            return kind
    return "other"


def types_of_schema(
    schema: Any, names: list[str], gaps: dict[str, str], levels: Callable[..., Any]
) -> dict[str, Column]:
    """Name -> `Column` of a schema.

    Parameters
    ----------
    schema : pyarrow.Schema
    names : list of str
    gaps : dict
        Name -> "none", "some" or "all" values are missing.
    levels : callable
        Names of dictionaries -> their dtypes, a dict.
    """
    empty = as_pandas(schema.empty_table(), names)
    kinds = {name: kind_of_type(schema.field(name).type) for name in names}
    coded = levels([name for name in names if kinds[name] == "category"])
    found = {}
    for name in names:
        dtype = coded.get(name, empty[name].dtype)
        missing = gaps.get(name, "none")
        if missing != "none":
            dtype = with_gaps(dtype)
        found[name] = Column("empty" if missing == "all" else kinds[name], dtype)
    return found


def levels(tables: Iterable[Any], names: list[str]) -> dict[str, Any]:
    """The categories of dictionaries over several tables: in the order in which these have them, as
    one table of all rows would have.

    Returns
    -------
    dict
        Name -> CategoricalDtype.
    """
    if not names:
        return {}
    found: dict[str, Any] = {name: {} for name in names}
    ordered = dict.fromkeys(names, False)
    for table in tables:
        for name in names:
            column = table.column(name)
            ordered[name] = column.type.ordered
            for chunk in column.chunks:
                found[name].update(dict.fromkeys(chunk.dictionary.to_pylist()))
    return {
        name: pd.CategoricalDtype([one for one in values if one is not None], ordered[name])
        for name, values in found.items()
    }


def nulls(tables: Iterable[Any], names: list[str]) -> dict[str, int]:
    """Name -> number of missing values over several tables."""
    counts = dict.fromkeys(names, 0)
    for table in tables:
        for name in names:
            counts[name] += table.column(name).null_count
    return counts


def gaps(counts: dict[str, int], rows: int) -> dict[str, str]:
    """Name -> whether "none", "some" or "all" values are missing, by their number."""
    return {
        name: "none" if count == 0 else "all" if count >= rows else "some"
        for name, count in counts.items()
    }
