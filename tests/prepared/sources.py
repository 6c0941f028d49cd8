"""Sources of rows for tests: a frame in chunks."""

import hashlib

import pandas as pd


class Chunked:
    """A frame as a source: `size` rows a chunk."""

    def __init__(self, frame, size):
        self.frame, self.size = frame, size
        self.columns = list(frame.columns)
        self.rows, self.bytes = len(frame), float(frame.memory_usage(deep=True).sum())
        self.begun = []

    @property
    def identity(self):
        content = pd.util.hash_pandas_object(self.frame, index=False).to_numpy()
        return hashlib.sha256(content.tobytes()).hexdigest()

    def chunks(self, start=0, columns=None):
        self.begun.append(start)
        frame = self.frame if columns is None else self.frame[columns]
        for at in range(start * self.size, self.rows, self.size):
            yield frame.iloc[at : at + self.size].reset_index(drop=True)

    def read(self):
        return self.frame
