"""Paths of files."""

import os
from typing import Any

from sgmc.arguments.messages import must_be


def writable(name: str, path: Any, none: bool = True) -> str | None:
    """Return the absolute path of a file that may exist or not, in a folder that exists.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    path : str, bytes, os.PathLike or None
        None is returned as it is.
    none : bool
        Whether it may be None.

    Returns
    -------
    str or None

    Raises
    ------
    ArgumentError
        If it is no path, a folder, a device or a pipe, or in a folder that does not exist.
    """
    if path is None and none:
        return None
    full = absolute(name, path)
    if os.path.isdir(full):
        raise must_be(name, os.fspath(path), "a file, and this is a folder", "add a name")
    if not os.path.isdir(os.path.dirname(full)):
        raise must_be(name, os.fspath(path), "a file in a folder that exists", "create the folder")
    if os.path.exists(full) and not os.path.isfile(full):
        raise must_be(name, os.fspath(path), "a regular file, and this is a device or a pipe")
    return full


def readable(name: str, path: Any) -> str:
    """Return the absolute path of a file that exists.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    path : str, bytes or os.PathLike

    Raises
    ------
    ArgumentError
        If it is no path, or there is no such file.
    """
    full = absolute(name, path)
    if not os.path.isfile(full):
        raise must_be(name, os.fspath(path), "a file that exists")
    return full


def absolute(name: str, path: Any) -> str:
    """Return the absolute path of an argument, a str; ArgumentError where it is no path."""
    if not isinstance(path, (str, bytes, os.PathLike)) or "\0" in os.fsdecode(path):
        raise must_be(name, path, "a path")
    return os.path.abspath(os.fsdecode(path))
