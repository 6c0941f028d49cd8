"""Results in a file, without their data."""

import os
import pickle

import numpy as np

from sgmc.core.files import Damaged, read_sealed, write_sealed
from sgmc.errors import ArgumentError

KIND, FORMAT = b"sgmc results", 8  # first line of a file; number of what is pickled in it


def save(results, path):
    """See `Results.save`."""
    try:
        content = pickle.dumps(results)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ArgumentError(
            f"these results cannot be saved: {error}; functions in formulas must be importable, no "
            "lambda and none defined inside another function"
        ) from error
    write_sealed(path, KIND, {"format": FORMAT, "pickle": np.frombuffer(content, dtype=np.uint8)})


def load(path):
    """Read results written by `Results.save`.  As with any pickle, open only files you trust.

    Raises
    ------
    ArgumentError
        If the file is not one of ours, damaged, or of another format.
    """
    if isinstance(path, bool) or not isinstance(path, (str, bytes, os.PathLike)):
        raise ArgumentError(f"load needs the path of a file, not {path!r}")
    refused = f"{path} is not a file written by Results.save, or it is damaged"
    try:
        tree = read_sealed(path, KIND)
    except Damaged as error:
        raise ArgumentError(f"{refused}: it {error}") from error
    if tree["format"] != FORMAT:
        raise ArgumentError(f"{path} has format {tree['format']}, this release reads {FORMAT}")
    try:
        return pickle.loads(tree["pickle"].data)
    except Exception as error:  # whole, but of a release whose classes are gone
        raise ArgumentError(f"{refused} ({type(error).__name__}: {error})") from error
