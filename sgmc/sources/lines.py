"""Bytes of text files, unpacked, as long as their lines are those of a table."""

import gzip
import io
from typing import Any

from sgmc.errors import DataError

LONGEST_LINE = 1 << 26  # bytes
TEXT_AT_ONCE = (1 << 31) - (1 << 24)  # bytes that are read at a time: pandas crashes from 2^31 on
READ_AHEAD = 1 << 20  # bytes


class TooMuch(DataError):
    """Rows that are to be read at a time have too much text."""


class Lines(io.RawIOBase):
    """A file of lines, for a reader that takes what it needs.

    A few packed bytes may be gigabytes of a single value, which a reader would hold before it looks
    at it.

    Parameters
    ----------
    path : str
    most : int, optional
        Bytes of rows that are read at a time.
    """

    file: Any = None  # where it could not be opened, which Python closes all the same

    def __init__(self, path: str, most: int = TEXT_AT_ONCE) -> None:
        self.path = path
        self.file = gzip.GzipFile(path) if is_packed(path) else io.FileIO(path)
        self.line = self.rows = 0  # bytes since the last end of a line, and in the rows that wait
        self.most = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer, and count rows and the length of the last line."""
        content = self.file.read(len(buffer))
        buffer[: len(content)] = content
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self.line = len(content) - end - 1 + (self.line if end < 0 else 0)
        self.rows += len(content)
        if self.line > LONGEST_LINE:
            raise DataError(
                f"{self.path} has a line of more than {LONGEST_LINE >> 20} MB, which is no row of "
                "a table"
            )
        if self.rows > self.most:
            raise TooMuch(
                f"{self.path} has {self.most >> 20} MB of text in rows that are read together: "
                "does a quotation mark lack its second one?"
            )
        return len(content)

    def taken(self) -> None:
        """Rows do not wait any longer: a reader has made a table of them."""
        self.rows = 0

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        super().close()


def is_packed(path: str) -> bool:
    """Whether a file is one of gzip, by its name."""
    return path.lower().endswith(".gz")
