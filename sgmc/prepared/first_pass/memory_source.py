"""A table in memory as a source of chunks."""

import hashlib

import pandas as pd

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.formula.data.frames import as_frame


class TableSource:
    """Rows of a table in memory; see `sgmc.sources.source` for what a source is.

    Parameters
    ----------
    data : DataFrame, dict of arrays, or a polars or pyarrow table
    """

    def __init__(self, data):
        self.frame = as_frame(data)
        self.columns, self.rows = list(self.frame.columns), len(self.frame)

    @property
    def identity(self):
        """Hash of the content."""
        total = hashlib.sha256(repr(self.columns).encode())
        for chunk in self.chunks():
            total.update(pd.util.hash_pandas_object(chunk, index=False).to_numpy().tobytes())
        return total.hexdigest()

    def chunks(self, start=0, columns=None):
        """Frames of some rows, from chunk `start` on."""
        frame = self.frame if columns is None else self.frame[columns]
        for at in range(start * CHUNK_ROWS, self.rows, CHUNK_ROWS):
            yield frame.iloc[at : at + CHUNK_ROWS].reset_index(drop=True)
