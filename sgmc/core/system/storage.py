"""Where numbers of all rows lie: in memory, or beside a table that is mapped from a file.

A table that is mapped may be larger than memory.  A fit keeps at most `KEPT_BYTES` for each number
per row of it: control values beyond that are computed again where they are needed
(`sgmc.core.targets.centre`), and vectors beyond that lie in a file that has no name.
"""

import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.types import Array, Floats
from sgmc.errors import OutOfMemoryError

KEPT_BYTES = 1 << 26  # bytes
SPAN = 16 * CHUNK_ROWS  # rows that are looked at together: 8 MB a number


def spans(n: int, size: int | None = None) -> Iterator[slice]:
    """Yield slices of `size` rows (default SPAN), in order, that make up n rows."""
    size = size or SPAN
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def mapping(values: Any) -> mmap.mmap | None:
    """Return the memory map that an array is a part of, or None; of a coded table that of its
    codes.
    """
    owner = getattr(values, "codes", values)
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner if isinstance(owner, mmap.mmap) else None


def is_large(values: Any, n: int, numbers: float = 1) -> bool:
    """Return whether `values` are mapped from a file, and so many float64 numbers for each of n
    rows beside them are too many to keep in memory.
    """
    return 8.0 * n * numbers > KEPT_BYTES and mapping(values) is not None


def too_many(model: Any, numbers: float) -> bool:
    """Return `is_large` of the table of a compiled model."""
    table = getattr(getattr(model, "X", None), "table", None)
    return is_large(table, model.n, numbers)


def folder_of(values: Any) -> str:
    """Return the folder of the file that an array is mapped from; that of temporary files where it
    is not known, or not to be written to.
    """
    owner = getattr(values, "codes", values)
    while isinstance(owner, np.ndarray):
        name = getattr(owner, "filename", None)
        if name and os.access(os.path.dirname(os.path.abspath(name)), os.W_OK):
            return os.path.dirname(os.path.abspath(name))
        owner = owner.base
    return tempfile.gettempdir()


def vector(n: int, beside: Any, dtype: DTypeLike = float) -> Array:
    """Return an array (n,) to write to, in memory or, where `beside` is large, in a file in its
    folder that goes with the array.

    Raises
    ------
    OutOfMemoryError
        Where the disk has no room for it.
    """
    if not is_large(beside, n):
        return np.empty(n, dtype)
    folder, size = folder_of(beside), np.dtype(dtype).itemsize * n
    with tempfile.TemporaryFile(dir=folder) as file:
        free = shutil.disk_usage(folder).free
        try:
            if size > free:
                raise OSError
            reserve(file, size)
        except OSError:
            raise OutOfMemoryError(
                f"{folder} has no room for {size / 2**30:.1f} GB of numbers per row "
                f"({free / 2**30:.1f} GB are free): free some, or use fewer rows"
            ) from None
        return np.ndarray(n, dtype, mmap.mmap(file.fileno(), size))


def reserve(file: IO[bytes], size: int) -> None:
    """Make an open file so long, on the disk where the system can promise it (Linux)."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:  # macOS, Windows
        file.truncate(size)


class Computed:
    """An array (n,) of which spans are computed when they are asked for.

    Parameters
    ----------
    n : int
    values : callable
        From a slice of the rows to their numbers.
    """

    def __init__(self, n: int, values: Callable[[slice], Floats]) -> None:
        self.n, self.values = n, values

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, rows: slice) -> Floats:
        return self.values(rows)


def made(n: int, beside: Any, values: Callable[[slice], Array], dtype: DTypeLike = float) -> Array:
    """Return `vector` with values(rows) in each span of rows."""
    if not is_large(beside, n):
        return values(slice(0, n))
    out = vector(n, beside, dtype)
    for rows in spans(n):
        out[rows] = values(rows)
    return out


def mean_and_variance(values: Any, weight: Array | None = None) -> tuple[float, float]:
    """Return mean and variance of an array (n,), by frequency weights where they are given."""
    if not is_large(values, len(values)):
        mean = np.average(values, weights=weight)
        away = values - mean
        np.square(away, out=away)  # in place: a column of a large table is much memory
        return mean, np.average(away, weights=weight)
    total, mean, squares = 0.0, 0.0, 0.0
    for rows in spans(len(values)):  # merged as by Chan, Golub & LeVeque (1983)
        w = None if weight is None else weight[rows]
        count = float(rows.stop - rows.start) if w is None else float(w.sum())
        if not count:
            continue
        own = np.average(values[rows], weights=w)
        apart, total = own - mean, total + count
        squares += count * np.average((values[rows] - own) ** 2, weights=w)
        squares += apart**2 * count * (total - count) / total
        mean += apart * count / total
    return mean, squares / total


def largest(values: Any) -> float:
    """Return the largest absolute number of an array (n,), 0 of none; a span of rows at a time."""
    return max((float(np.abs(values[rows]).max()) for rows in spans(len(values))), default=0.0)


def advise(values: Iterable[Any], random: bool) -> None:
    """Tell the system whether arrays that are mapped will be read in random places, or in order.

    Where it reads ahead, each row in a random place would cost megabytes.  Reading in order is the
    default: being told of it the system discards pages early, which is slower in a small memory.

    Parameters
    ----------
    values : list of array, coded table or None
    random : bool
    """
    parts: list[mmap.mmap | None] = []
    for one in values:
        coded = [one.numbers, one.codes, one.factors] if hasattr(one, "codes") else [one]
        parts += map(mapping, coded)
    code = getattr(mmap, "MADV_RANDOM" if random else "MADV_NORMAL", None)
    for one in {id(one): one for one in parts if one is not None}.values():
        if code is not None:
            one.madvise(code)
