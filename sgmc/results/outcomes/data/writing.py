"""Tables written to a file piece by piece: CSV or Parquet, written aside and renamed."""

import os
from contextlib import contextmanager

from sgmc.arguments.files import writable
from sgmc.core.system.files import replacing
from sgmc.core.system.interrupts import handled
from sgmc.errors import ArgumentError, MissingExtra


class Comma:
    """A CSV file."""

    def __init__(self, file):
        self.file, self.begun = file, False

    def write(self, frame):
        """Add rows."""
        frame.to_csv(self.file, index=False, header=not self.begun)
        self.begun = True

    def close(self):
        """Nothing is left to do."""


class ParquetOutput:
    """A Parquet file."""

    def __init__(self, file):
        try:
            import pyarrow.parquet  # noqa: F401  (the sentence below, before anything is computed)
        except ImportError as error:
            raise MissingExtra(
                "to= a Parquet file needs pyarrow: pip install pyarrow, or give a .csv"
            ) from error
        self.file, self.writer = file, None

    def write(self, frame):
        """Add rows."""
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.Table.from_pandas(frame, preserve_index=False)
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, table.schema)
        self.writer.write_table(table)

    def close(self):
        """Write the file's end."""
        if self.writer is not None:
            self.writer.close()


WRITERS = {".csv": Comma, ".parquet": ParquetOutput, ".pq": ParquetOutput}


def checked(to):
    """The absolute path of ``to=``; ArgumentError where it is none, or of another kind."""
    path = writable("to", to)
    if os.path.splitext(path)[1].lower() not in WRITERS:
        raise ArgumentError(f"to={os.fspath(to)!r} must end in one of {', '.join(WRITERS)}")
    return path


@contextmanager
def table_file(path):
    """A file to which frames are written, `path` when all are on the disk.

    Raises
    ------
    ArgumentError
        If the disk is full, or the folder cannot be written to; nothing is left behind.
    """
    try:
        with handled(), replacing(path) as file:
            made = WRITERS[os.path.splitext(path)[1].lower()](file)
            yield made
            made.close()
    except OSError as error:
        raise ArgumentError(
            f"to={path!r} cannot be written ({error.strerror or error}); nothing is left of it: "
            "free space, or give another place"
        ) from error
