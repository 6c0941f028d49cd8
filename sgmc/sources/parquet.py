"""Parquet files."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sgmc.arguments.types import Frame
from sgmc.errors import MissingExtra
from sgmc.sources import arrow_types
from sgmc.sources.part import FilePart, chunk_size, reading

if TYPE_CHECKING:
    from sgmc.sources.part import Column


class Parquet(FilePart):
    """A Parquet file: rows are read by groups, and of these no more columns than are needed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise MissingExtra(
                f"{path}: reading Parquet needs pyarrow; pip install pyarrow"
            ) from error
        with reading(path):
            file = pq.ParquetFile(path)
        self.file, self.schema, self.rows = file, file.schema_arrow, file.metadata.num_rows
        arrow_types.check_once(self.schema, path)
        self.columns = arrow_types.stored(self.schema)
        self.size = chunk_size(self.columns)

    def look(self, names: list[str]) -> "dict[str, Column]":
        """By the schema and the statistics; dictionaries are read."""
        return arrow_types.types_of_schema(self.schema, names, self._gaps(names), self._levels)

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # groups of rows that are skipped are not read
        self.passed = min(skip, self.rows)
        for batch in self._batches(names, self.passed):
            yield arrow_types.as_pandas(batch, names)

    def sample(self, rows: int) -> Frame:
        for batch in self._batches(self.columns, 0, rows):
            return arrow_types.as_pandas(batch, self.columns)
        return arrow_types.as_pandas(self.schema.empty_table(), self.columns)

    def _batches(self, names: list[str], skip: int, size: int | None = None) -> Iterator[Any]:
        """Tables of the rows from `skip` on."""
        import pyarrow as pa

        for group in range(self.file.num_row_groups):
            length = self.file.metadata.row_group(group).num_rows
            if length <= skip:
                skip -= length
                continue
            with reading(self.path):
                for batch in self.file.iter_batches(size or self.size, [group], names):
                    ahead = min(skip, len(batch))
                    skip -= ahead
                    if ahead < len(batch):
                        yield pa.Table.from_batches([batch.slice(ahead)])

    def _gaps(self, names: list[str]) -> dict[str, str]:
        """Name -> whether "some" or "all" values are missing, by statistics or else by reading."""
        counts: dict[str, Any] = dict.fromkeys(names, 0)
        for k in range(self.file.metadata.num_row_groups):
            group = self.file.metadata.row_group(k)
            for j in range(group.num_columns):
                part = group.column(j)
                if part.path_in_schema in counts:
                    told = part.statistics
                    known = told is not None and told.has_null_count
                    counts[part.path_in_schema] += told.null_count if known else float("nan")
        unknown = [name for name, count in counts.items() if count != count]
        if unknown:
            counts |= arrow_types.nulls(self._batches(unknown, 0), unknown)
        return arrow_types.gaps(counts, self.rows)

    def _levels(self, names: list[str]) -> dict[str, Any]:
        return arrow_types.levels(self._batches(names, 0), names)
