"""pyarrow Datasets, with what they filter and the columns that are in the names of folders."""

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sgmc.arguments.types import Frame
from sgmc.errors import DataError
from sgmc.sources import arrow_types
from sgmc.sources.part import Part, chunk_size, of_content, reading
from sgmc.sources.source import Source

if TYPE_CHECKING:
    from sgmc.sources.part import Column


AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}  # a few chunks in memory, not whole files


def of_dataset(dataset: Any, name: str) -> Source:
    """A `Source` of a pyarrow Dataset."""
    part = Scanned(dataset, f"{name} (a pyarrow Dataset)")
    check_files(dataset)
    return Source([part], part.label)


class Scanned(Part):
    """The rows of a Dataset in the order in which it scans them.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    label : str
    """

    def __init__(self, dataset: Any, label: str) -> None:
        super().__init__(label)
        self.dataset = dataset
        arrow_types.check_once(dataset.schema, label)
        self.columns = arrow_types.stored(dataset.schema)
        self.size = chunk_size(self.columns)

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        with reading(self.label):
            return self.dataset.count_rows()

    @cached_property
    def identity(self) -> str | None:
        """By files, sizes and times of a Dataset of files without a filter, else by its rows."""
        schema = hashlib.sha256(str(self.dataset.schema).encode()).hexdigest()
        paths = getattr(self.dataset, "files", None)
        if paths and unfiltered(self.dataset):
            infos = self.dataset.filesystem.get_file_info(paths)
            if all(one.mtime_ns is not None for one in infos):
                facts = [f"{one.path} {one.size} {one.mtime_ns}" for one in infos]
                return "\n".join([schema, *facts])
        return schema + of_content(self.frames(self.columns, {}, 0))

    def look(self, names: list[str]) -> "dict[str, Column]":
        """By the schema, and a scan of the columns of whole numbers, truth values, dictionaries."""
        schema, kinds = self.dataset.schema, ("number", "bool")
        kind_of = arrow_types.kind_of_type
        counted = [name for name in names if kind_of(schema.field(name).type) in kinds]
        counted = [name for name in counted if not pa.types.is_floating(schema.field(name).type)]
        counts = arrow_types.nulls(self._tables(counted, 0), counted) if counted else {}
        gaps = arrow_types.gaps(counts, self.rows)
        levels = lambda coded: arrow_types.levels(self._tables(coded, 0), coded)
        return arrow_types.types_of_schema(schema, names, gaps, levels)

    def frames(self, names: list[str], dtypes: dict[str, Any], skip: int) -> Iterator[Frame]:
        # files that are skipped are not read where there is no filter
        self.passed = min(skip, self.rows)
        for table in self._tables(names, self.passed):
            yield arrow_types.as_pandas(table, names)

    def sample(self, rows: int) -> Frame:
        with reading(self.label):
            return arrow_types.as_pandas(self.dataset.head(rows), self.columns)

    def _tables(self, names: list[str], skip: int) -> Iterator[Any]:
        """Tables of the rows from `skip` on."""
        how = {"columns": names, "batch_size": self.size, **AHEAD}
        for fragment in unfiltered(self.dataset) or [None]:
            with reading(getattr(fragment, "path", self.label)):
                if fragment is None:
                    scanner = self.dataset.scanner(**how)
                else:
                    length = fragment.count_rows() if skip else 1
                    if length <= skip:
                        skip -= length
                        continue
                    scanner = fragment.scanner(schema=self.dataset.schema, **how)
                for batch in scanner.to_batches():
                    ahead = min(skip, len(batch))
                    skip -= ahead
                    if ahead < len(batch):
                        yield pa.Table.from_batches([batch.slice(ahead)])


def unfiltered(dataset: Any) -> list[Any]:
    """The fragments of a Dataset; none where it filters, which its fragments would not."""
    try:
        return list(dataset.get_fragments())
    except ValueError:
        return []


def check_files(dataset: Any) -> None:
    """Refuse files that lack a column, or have one of another kind, than the Dataset tells.

    Raises
    ------
    DataError
        Naming the file and the column.
    """
    folders = getattr(dataset, "partitioning", None)
    folders = folders.schema.names if folders is not None else ()
    fields = [field for field in dataset.schema if field.name not in folders]
    for path in getattr(dataset, "files", ()):
        with reading(path):
            own = dataset.format.inspect(path, dataset.filesystem)
        for field in fields:
            if field.name not in own.names:
                raise DataError(
                    f"{path} has no column {field.name!r}, which the Dataset has; all files must "
                    "have the same columns"
                )
            told, there = field.type, own.field(field.name).type
            kinds = [arrow_types.kind_of_type(one) for one in (told, there)]
            one, other = ("text" if kind == "category" else kind for kind in kinds)
            if other not in (one, "empty"):
                raise DataError(
                    f"column {field.name!r} is {told} in the Dataset and {there} in {path}; make "
                    "it the same in all files"
                )
