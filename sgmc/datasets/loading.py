"""Find a data set, on this machine or at its source, and check that it is the right one."""

import os
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from sgmc.arguments.choices import nearest
from sgmc.arguments.types import Frame
from sgmc.datasets import checksum, readers
from sgmc.datasets.catalogue import CATALOGUE, Bundled, Joined
from sgmc.datasets.simulated import SIMULATED
from sgmc.errors import ArgumentError, DataError


def names() -> list[str]:
    """Return the names of the data sets that `load` finds, in alphabetical order."""
    return sorted(CATALOGUE)


def licences() -> Frame:
    """Return source and licence of each data set, and of the simulated tables.

    sgmc ships no data sets: `load` reads a copy of yours, downloads the original, or asks for it.
    Terms are those that the source states, in short; read them there before you pass data on.

    Returns
    -------
    pandas.DataFrame
        Columns ``source`` and ``licence``, text; a row for each name.
    """
    found = {name: (entry.source, entry.licence) for name, entry in sorted(CATALOGUE.items())}
    found |= {f"{name}()": ("simulated by sgmc", "BSD-3-Clause") for name in SIMULATED}
    return pd.DataFrame.from_dict(found, orient="index", columns=["source", "licence"])


def load(name: str, download: bool = True) -> Frame:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of `names`.
    download : bool, default True
        Whether to get it from its source where it is not on this machine.

    Returns
    -------
    pandas.DataFrame
        The data as published; row names of R are left out.

    Raises
    ------
    ArgumentError
        No data set has this name.
    DataError
        The data are not on this machine and cannot or may not be downloaded, or are not those that
        were published.

    Examples
    --------
    >>> from sgmc.datasets import load
    >>> load("fair").shape
    (6366, 9)
    """
    if name not in CATALOGUE:
        hint = nearest(name, names(), "known")
        raise ArgumentError(f"No data set is called {name!r}{hint}")
    entry = CATALOGUE[name]
    if isinstance(entry, Bundled):
        origin = "The installed statsmodels"
        frame = pd.read_csv(bundled(entry.module), dtype=float)
    elif isinstance(entry, Joined):
        places = [find(f"{name}-{k}", part, download) for k, part in enumerate(entry.parts)]
        origin = " or ".join(map(str, places))
        frame = entry.join([read(name, part, place) for part, place in zip(entry.parts, places)])
    else:
        origin = find(name, entry, download)
        frame = read(name, entry, origin)
    if checksum.of_content(frame) != entry.sha256:
        raise DataError(
            f"{origin} does not hold the data set {name!r} as published: the checksum of its "
            "content differs. Remove or replace it."
        )
    return frame


def bundled(module: str) -> Path:
    """Path of a data set's file in the installed statsmodels, of which nothing is imported: all of
    its data sets would take longer than the fit of one.
    """
    spec = find_spec("statsmodels")
    if spec is None or spec.origin is None:
        raise DataError("statsmodels, which has the data set, is not installed: install it.")
    return Path(spec.origin).parent / "datasets" / module / f"{module}.csv"


def find(name: str, entry: Any, download: bool) -> Path:
    """Path of a data set's file: in the folder that SGMC_DATA names, else in pooch's cache,
    downloaded where it may be.
    """
    if folder := os.environ.get("SGMC_DATA"):
        for path in (Path(folder, entry.file + ".gz"), Path(folder, entry.file)):
            if path.is_file():
                return path
    place = (
        f"put it as {entry.file} (or .gz) into a folder and name the folder in the environment "
        "variable SGMC_DATA"
    )
    if entry.by_hand:
        steps = f"get {entry.url}, {entry.by_hand}, and {place}"
        raise DataError(f"The data set {name!r} is not on this machine: {steps}.")
    import pooch

    cache = pooch.os_cache("sgmc")
    if not download and not (cache / name).is_file():
        raise DataError(
            f"The data set {name!r} is not on this machine: let it be downloaded, or get it from "
            f"{entry.url} and {place}."
        )
    try:
        return Path(pooch.retrieve(entry.url, known_hash=None, fname=name, path=cache))
    except OSError as error:
        raise DataError(
            f"The data set {name!r} is not on this machine and could not be downloaded "
            f"({type(error).__name__}): get it from {entry.url} and {place}."
        ) from error


def read(name: str, entry: Any, path: Path) -> Frame:
    """Data frame in the file at `path`."""
    try:
        return entry.read(readers.unpack(path.read_bytes(), entry.members))
    except (OSError, EOFError, ValueError, LookupError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read as the data set {name!r}: {error}. Remove or replace it."
        ) from error
