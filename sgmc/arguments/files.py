"""Paths of files."""

import os

from sgmc.arguments.messages import must_be


def writable(name, path):
    """Return the absolute path of a file that may exist or not, in a folder that exists.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    path : str, os.PathLike or None
        None is returned as it is.

    Returns
    -------
    str or None

    Raises
    ------
    ArgumentError
        If it is no path, a folder, or in a folder that does not exist.
    """
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)):
        raise must_be(name, path, "a path")
    full = os.path.abspath(path)
    if os.path.isdir(full) or not os.path.isdir(os.path.dirname(full)):
        raise must_be(name, os.fspath(path), "a file in a folder that exists", "create the folder")
    return full


def readable(name, path):
    """Return the absolute path of a file that exists.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    path : str or os.PathLike

    Raises
    ------
    ArgumentError
        If it is no path, or there is no such file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise must_be(name, path, "a path")
    full = os.path.abspath(path)
    if not os.path.isfile(full):
        raise must_be(name, os.fspath(path), "a file that exists")
    return full
