"""From the bytes of a file to a data frame, one function per format."""

import gzip
import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Array, Frame


def unpack(content: bytes, members: Sequence[str] = ()) -> bytes:
    """Uncompress `content`, whatever its file is called.

    Parameters
    ----------
    content : bytes
        A gzip file, a zip archive, or plain text.
    members : tuple of str
        For a zip archive: the member to take; a second one is taken from the first, and so on.

    Returns
    -------
    bytes
    """
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content)
    if not content.startswith(b"PK\x03\x04"):
        return content
    for member in members:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(member)
    return content


def table(content: bytes, **options: Any) -> Frame:
    """Read delimited text with the options of `pandas.read_csv`."""
    return pd.read_csv(io.BytesIO(content), **options)


def rdatasets(content: bytes) -> Frame:
    """Read a file of the Rdatasets collection:
    the first column holds the row names of R and is left out.
    """
    return table(content).iloc[:, 1:]


def lda_c(content: bytes) -> Frame:
    """Read documents in the format of lda-c, a line each:
    ``words id:count id:count ...``, ids from 0.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    pandas.DataFrame
        Columns ``document``, ``word`` and ``count``, a row for each word of a document.
    """
    lines = [line.split()[1:] for line in content.decode("ascii").splitlines()]
    pairs = [entry.split(":") for line in lines for entry in line]
    return pd.DataFrame(
        {
            "document": np.repeat(np.arange(len(lines)), [len(line) for line in lines]),
            "word": [int(word) for word, _ in pairs],
            "count": [int(count) for _, count in pairs],
        }
    )


def words(content: bytes) -> Frame:
    """Read a list of words, one a line, as the column ``word``."""
    return pd.DataFrame({"word": content.decode("ascii").splitlines()})


def libsvm(content: bytes, features: int) -> Frame:
    """Read LIBSVM text with labels -1 and +1 and binary features.

    Parameters
    ----------
    content : bytes
        One row per line: ``label index:1 index:1 ...``, indices from 1.
    features : int
        Number of features; the last ones may be absent from the file.

    Returns
    -------
    pandas.DataFrame
        Columns ``f1``, ``f2``, ... and ``y``, all 0 or 1.
    """
    rows = [line.split() for line in content.decode("ascii").splitlines()]
    values = np.zeros((len(rows), features + 1), dtype=np.int8)
    for row, (label, *entries) in zip(values, rows):
        indices = [int(entry.split(":")[0]) for entry in entries]
        row[np.subtract(indices, 1)] = 1
        row[-1] = int(label) > 0
    return pd.DataFrame(values, columns=[*(f"f{j}" for j in range(1, features + 1)), "y"])


def transposed(content: bytes) -> Frame:
    """Read delimited text whose lines are columns: ``x1``, ``x2``, ..."""
    values = table(content).to_numpy().T
    return pd.DataFrame(values, columns=[f"x{j + 1}" for j in range(values.shape[1])])


def idx(content: bytes) -> Array:
    """Read the IDX format: two zero bytes, a type (8: bytes), the number of dimensions, these as
    big-endian integers, the values.
    """
    dimensions = content[3]
    if content[:3] != b"\x00\x00\x08":
        raise ValueError("it does not begin as an IDX file of bytes")
    shape = np.frombuffer(content, ">u4", dimensions, 4)
    return np.frombuffer(content, np.uint8, int(np.prod(shape)), 4 + 4 * dimensions).reshape(shape)


def images(content: bytes) -> Frame:
    """Read images in the IDX format: pixels by line as columns ``p0``, ``p1``, ...,
    of type uint8.
    """
    pixels = idx(content)
    return pd.DataFrame(
        pixels.reshape(len(pixels), -1), columns=[f"p{j}" for j in range(pixels[0].size)]
    )


def labels(content: bytes) -> Frame:
    """Read labels in the IDX format, a column ``label``."""
    return pd.DataFrame({"label": idx(content)})


def side_by_side(frames: list[Frame]) -> Frame:
    """One frame of the columns of several, the last one first."""
    return pd.concat(frames[::-1], axis=1)
