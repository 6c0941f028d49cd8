"""Arrow IPC files, also called Feather (version 2)."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sgmc.arguments.types import Frame
from sgmc.errors import MissingExtra
from sgmc.sources import arrow_types
from sgmc.sources.part import FilePart, chunk_size, reading

if TYPE_CHECKING:
    from sgmc.sources.part import Column


class ArrowFile(FilePart):
    """An Arrow IPC file, read batch by batch where it is."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingExtra(
                f"{path}: reading Arrow files needs pyarrow; pip install pyarrow"
            ) from error
        with reading(path):
            self.schema = pa.ipc.open_file(pa.memory_map(path)).schema
        arrow_types.check_once(self.schema, path)
        self.columns = arrow_types.stored(self.schema)
        self.size = chunk_size(self.columns)

    @cached_property
    def lengths(self) -> list[int]:
        """Rows of each batch."""
        with reading(self.path):
            file = self._opened(self.columns[:1])
            return [file.get_batch(k).num_rows for k in range(file.num_record_batches)]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    def look(self, names: list[str]) -> "dict[str, Column]":
        """By the schema and the counts of missing values; dictionaries are read."""
        counts = arrow_types.nulls(self._tables(names, 0), names)
        gaps = arrow_types.gaps(counts, self.rows)
        return arrow_types.types_of_schema(self.schema, names, gaps, self._levels)

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # batches that are skipped are not read
        self.passed = min(skip, self.rows)
        for table in self._tables(names, self.passed):
            for start in range(0, len(table), self.size):
                yield arrow_types.as_pandas(table.slice(start, self.size), names)

    def sample(self, rows: int) -> Frame:
        for table in self._tables(self.columns, 0):
            return arrow_types.as_pandas(table.slice(0, rows), self.columns)
        return arrow_types.as_pandas(self.schema.empty_table(), self.columns)

    def _opened(self, names: list[str]) -> Any:
        import pyarrow as pa

        places = [self.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=sorted(places))
        return pa.ipc.open_file(pa.memory_map(self.path), options=options)

    def _tables(self, names: list[str], skip: int) -> Iterator[Any]:
        """Tables of the rows from `skip` on, a batch each."""
        import pyarrow as pa

        with reading(self.path):
            file = self._opened(names)
            for k, length in enumerate(self.lengths):
                ahead = min(skip, length)
                skip -= ahead
                if ahead < length:
                    yield pa.Table.from_batches([file.get_batch(k).slice(ahead)])

    def _levels(self, names: list[str]) -> dict[str, Any]:
        return arrow_types.levels(self._tables(names, 0), names)
