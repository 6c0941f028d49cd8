"""What a user passes as data to a source of rows."""

import os
from typing import Any

from sgmc.sources.source import Source


def of(data: Any, name: str = "data") -> Source | None:
    """A `Source` of what a user passes as data; None for a table in memory.

    Parameters
    ----------
    data : object
        A path, a folder, a pattern such as ``"data/*.parquet"``, a list of these, a pyarrow
        Dataset, a polars LazyFrame or a dask DataFrame; or anything else.
    name : str
        The argument, for messages.

    Returns
    -------
    Source or None

    Raises
    ------
    DataError
        If files are not there, of an unknown or of several kinds, cannot be read, or do not fit
        together; names the file and the column.
    MissingExtra
        If the library that reads them is not installed.
    """
    listed = isinstance(data, (list, tuple)) and len(data) and all(map(is_path, data))
    if is_path(data) or listed:
        from sgmc.sources.files import of_paths

        return of_paths(data, name)
    home, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if isinstance(data, Source):
        return data
    if home == "pyarrow" and kind.endswith("Dataset"):
        from sgmc.sources.dataset import of_dataset

        return of_dataset(data, name)
    if home == "polars" and kind == "LazyFrame":
        from sgmc.sources.lazy import of_lazy

        return of_lazy(data, name)
    if home.startswith("dask") and kind == "DataFrame":
        from sgmc.sources.partitions import of_dask

        return of_dask(data, name)
    return None


def is_path(value: object) -> bool:
    """Whether a value is a path."""
    return isinstance(value, (str, os.PathLike))
