"""A checksum of what a data frame says, not of the file that it came from."""

import hashlib

import numpy as np
import pandas as pd

from sgmc.arguments.types import Frame


def of_content(frame: Frame) -> str:
    """SHA-256 of the shape, the column names and the values in their order.

    Copies that differ in compression, line ends or the type of a column have the same checksum.
    Numbers count to 32 bits, because versions of pandas differ in the last bit of what they read;
    all else counts as text; all missing values are the same.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256(repr(frame.shape).encode())
    for name, column in frame.items():
        missing = column.isna().to_numpy()
        if pd.api.types.is_numeric_dtype(column):
            mantissa, exponent = np.frexp(column.fillna(0).to_numpy(np.float64))
            content = (
                np.rint(np.ldexp(mantissa, 32)).astype("<i8").tobytes()
                + exponent.astype("<i4").tobytes()
            )
        else:
            content = "\x1f".join(column.astype(object).where(~missing, "")).encode()
        for part in (name.encode(), np.packbits(missing).tobytes(), content):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()
