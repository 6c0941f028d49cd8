"""Tables of any library as pandas': their columns without a copy where there is a choice, and the
same kinds and levels.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest
from sgmc.arguments.types import Frame, Series
from sgmc.errors import DataError


def as_frame(data: Any) -> Frame:
    """The data as a pandas DataFrame, its names checked.

    Parameters
    ----------
    data : DataFrame, dict of arrays or of the values of one row, or whatever eager table narwhals
        knows

    Raises
    ------
    DataError
        If it is none of these, or its column names are not text or repeat.
    """
    if isinstance(data, Mapping):
        if any(isinstance(value, pd.DataFrame) for value in data.values()):
            raise DataError(
                "data is a dict of tables: give one of them, or a list of imputed data sets, "
                "list(data.values())"
            )
        one_row = bool(data) and all(np.ndim(value) == 0 for value in data.values())
        try:
            data = pd.DataFrame(dict(data), index=[0] if one_row else None, copy=False)
        except ValueError as error:
            raise DataError(f"data: {error}") from error
    elif not isinstance(data, pd.DataFrame):
        frame = from_other_library(data)
        if frame is None:
            hint = ": call its .collect() first" if hasattr(data, "collect") else ""
            if hasattr(data, "compute") and not hint:  # of dask, which has DataFrames, too
                hint = f" of {type(data).__module__.partition('.')[0]}: call its .compute() first"
            if isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
                hint = " of dicts: make a table of it, pd.DataFrame(data)"
            elif isinstance(data, list | tuple) and any(hasattr(one, "columns") for one in data):
                hint = ": a list of imputed data sets has tables alone; read files first"
            if hasattr(data, "to_dataframe"):
                hint = ": call its .to_dataframe() first"
            if isinstance(data, np.ndarray):
                hint = "; classes such as sgmc.Logit(y, X) take arrays, outcomes first"
            if isinstance(data, (str, os.PathLike)):
                hint = f": read {os.fspath(data)!r} first; verbs such as sgmc.logit take paths"
            raise DataError(
                f"data must be a DataFrame or a dict of arrays, not {type(data).__name__}{hint}"
            )
        data = frame
    for name in data.columns:
        if not isinstance(name, str):
            joined = (
                "['_'.join(map(str, c)) for c in data.columns]"
                if isinstance(name, tuple)
                else "data.columns.astype(str)"
            )
            raise DataError(f"column names must be text, not {name!r}: try data.columns = {joined}")
    if not data.columns.is_unique:
        raise DataError(
            f"there is more than one column {data.columns[data.columns.duplicated()][0]!r}; rename "
            "or drop one"
        )
    return data


def plain_value(value: Any) -> Any:
    """A value of a column or an index as Python has it, whose repr is short."""
    return value.item() if isinstance(value, np.generic) else value


def pandas_or_same(data: Any) -> Any:
    """A table of another library as a DataFrame; anything else as it is."""
    frame = None if isinstance(data, pd.DataFrame) else from_other_library(data)
    return data if frame is None else frame


def no_column(argument: str, name: str, columns: Iterable[Any]) -> DataError:
    """The error for an argument that names no column."""
    return DataError(
        f"{argument}={name!r} is not a column of the data{nearest(name, columns, 'columns are')}"
    )


def column_of(values: Any, name: str) -> Series:
    """One value a row as a Series, levels in the order of its library's type;
    `name` for what has none.
    """
    home = type(values).__module__.split(".")[0]
    if home == "polars":
        return _from_polars(values).rename(values.name or name)
    if home == "pyarrow":
        return values.to_pandas().rename(name)
    series = values if isinstance(values, pd.Series) else pd.Series(one_column(values), name=name)
    # pandas' hash tables refuse these
    swapped = isinstance(series.dtype, np.dtype) and not series.dtype.isnative
    return series.astype(series.dtype.newbyteorder("=")) if swapped else series


def one_column(values: Any) -> Any:
    """The column of an array or frame that has one; anything else as it is."""
    if np.ndim(values) != 2 or np.shape(values)[1] != 1:
        return values
    return values.iloc[:, 0] if isinstance(values, pd.DataFrame) else np.asarray(values)[:, 0]


def from_other_library(data: Any) -> Frame | None:
    """A table of another library as a DataFrame; None for what is no table in memory."""
    if not hasattr(type(data), "columns"):  # of the class: a lazy table would have to find its own
        return None  # narwhals need not be loaded to see that
    import narwhals

    try:
        frame = narwhals.from_native(data, eager_only=True)
    except TypeError:
        return None
    native = frame.to_native()
    if frame.implementation.is_polars():
        return pd.DataFrame(
            {name: _from_polars(native[name]) for name in native.columns}, copy=False
        )
    if frame.implementation.is_pyarrow():
        if len(set(native.column_names)) < native.num_columns:
            return native.to_pandas()  # for the caller to report
        return native.to_pandas(split_blocks=True, date_as_object=False)
    return frame.to_pandas()


def _from_polars(series: Any) -> Series:
    """A column of a polars table, without pyarrow.

    An Enum keeps the order of its levels.  A Categorical has none of its own (its codes depend on
    what else the process has read): it is read as text, whose levels are sorted.
    """
    import polars

    dtype = series.dtype
    if dtype == polars.Enum:
        # physical codes may be unsigned and of one byte
        codes = series.to_physical().cast(polars.Int64).fill_null(-1)
        return pd.Series(
            pd.Categorical.from_codes(codes.to_numpy(), categories=dtype.categories.to_list())
        )
    if dtype == polars.Categorical:
        series = series.cast(polars.String)
    # by name: older polars lacks some of them
    if dtype.is_nested() or str(dtype) in ("Null", "Object", "Int128", "UInt128"):
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return pd.Series(values)
    values = pd.Series(series.to_numpy(), copy=False)
    if dtype == polars.Datetime and dtype.time_zone:
        return values.dt.tz_localize("UTC").dt.tz_convert(dtype.time_zone)
    return values
