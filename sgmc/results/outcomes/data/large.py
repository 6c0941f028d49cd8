"""Arrays with a number for each row: in memory, or in a temporary file where they are large."""

import tempfile

import numpy as np

MAPPED_BYTES = 1 << 28  # bytes from which an array is in a file


def room_for(shape, dtype=np.float64):
    """An empty array of numbers of eight bytes: of MAPPED_BYTES and more the memory map of a
    file without a name, which the system frees with the array.
    """
    if 8 * np.prod(shape, dtype=float) < MAPPED_BYTES:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="sgmc") as file:
        return np.memmap(file, dtype, "w+", shape=shape)
