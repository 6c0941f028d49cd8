"""Paths, folders and patterns to a source of files."""

import glob
import os
from importlib import import_module
from typing import Any

from sgmc.errors import DataError
from sgmc.sources.part import reading
from sgmc.sources.source import Source

PACKED = ("", ".gz")
SUFFIXES = {  # suffix -> (kind, leaf, its class)
    **{f".csv{packed}": ("CSV", "delimited", "Commas") for packed in PACKED},
    **{f".tsv{packed}": ("TSV", "delimited", "Tabs") for packed in PACKED},
    ".parquet": ("Parquet", "parquet", "Parquet"),
    ".pq": ("Parquet", "parquet", "Parquet"),
    ".arrow": ("Arrow", "ipc", "ArrowFile"),
    ".feather": ("Arrow", "ipc", "ArrowFile"),
    ".ipc": ("Arrow", "ipc", "ArrowFile"),
}
KNOWN = ", ".join(SUFFIXES)


def of_paths(data: Any, name: str) -> Source:
    """A `Source` of the files that a path, a folder, a pattern or a list of these means.

    Raises
    ------
    DataError
        Naming the path and saying what to do.
    """
    listed = [data] if isinstance(data, (str, os.PathLike)) else data
    paths = [path for one in listed for path in found(os.fspath(one), name)]
    kinds = {path: kind_of(path, name) for path in paths}
    for path in paths:
        if not os.path.isfile(path):  # opening a pipe would wait for someone who writes to it
            raise DataError(f"{name}: {path} is no regular file: save what it holds as one")
    first = paths[0]
    for path in paths:
        if kinds[path][0] != kinds[first][0]:
            raise DataError(
                f"{name}: {first} is {kinds[first][0]} and {path} is {kinds[path][0]}; give files "
                "of one kind"
            )
    places = [os.path.realpath(path) for path in paths]
    for path, place in zip(paths, places):
        if places.count(place) > 1:
            raise DataError(f"{name}: {path} is there twice, and its rows would count twice")
    _, leaf, of_file = kinds[first]
    part = getattr(import_module(f"sgmc.sources.{leaf}"), of_file)
    parts = []
    for path in paths:
        with reading(path):
            parts.append(part(path))
    return Source(parts, first if len(paths) == 1 else f"{name} ({len(paths)} files)")


def found(path: str, name: str) -> list[str]:
    """The files that a path, a folder or a pattern means: as a pattern finds them, sorted."""
    if "://" in path:
        raise DataError(
            f"{name}={path!r} is no file of this machine; download it, or pass "
            "pyarrow.dataset.dataset(...) or polars.scan_parquet(...)"
        )
    place = os.path.expanduser(path)
    if os.path.isdir(place):
        return inside(place, name)
    if os.path.exists(place):
        return [place]
    if not glob.has_magic(place):
        meant = ": it is a formula, which comes before the data" * ("~" in str(path))
        if name == "exog" and path.isidentifier():  # a column, or marginaleffects' newdata="mean"
            meant = (
                f". For averages by a column give by={path!r}, for typical rows sgmc.datagrid(...)"
            )
        raise DataError(f"{name}={path!r}: there is no such file or folder{meant}")
    paths = sorted(one for one in glob.glob(place, recursive=True) if not os.path.isdir(one))
    if not paths:
        raise DataError(f"{name}={path!r} matches no file; check the folder and the suffix")
    return paths


def inside(folder: str, name: str) -> list[str]:
    """The files of a folder, sorted; names that begin with . or _ are no data, as in Spark."""
    names = sorted(one for one in os.listdir(folder) if one[0] not in "._")
    for one in names:
        if os.path.isdir(os.path.join(folder, one)):
            advice = (
                f"pass pyarrow.dataset.dataset({folder!r}, partitioning='hive'), which makes a "
                "column of it"
                if "=" in one
                else f"give a pattern such as {os.path.join(folder, '**', '*.parquet')!r}"
            )
            raise DataError(f"{name}: the folder {folder} has a folder {one!r} in it; {advice}")
    if not names:
        raise DataError(f"{name}: the folder {folder} has no files")
    return [os.path.join(folder, one) for one in names]


def kind_of(path: str, name: str) -> tuple[str, str, str]:
    """(kind, leaf, class) by the suffix of a file."""
    lower = path.lower()
    for suffix, kind in SUFFIXES.items():
        if lower.endswith(suffix):
            return kind
    prepared = lower.endswith(".sgmc")
    advice = "; what sgmc.prepare has written is opened by sgmc.open(path)" if prepared else ""
    raise DataError(
        f"{name}: {path} is of an unknown kind; known by their suffixes are {KNOWN}{advice}"
    )
