"""Where partitions are, and what runs a function on each: dask, or whatever has `map_blocks`."""

import pickle
import time
from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np

from sgmc.core.system import deadline
from sgmc.errors import ArgumentError, DataError, MissingExtra

RETRIES = 3  # of a task that raises: a file that was out of reach for a moment
KEPT_SHARE = 0.4  # of the workers' memory that encoded rows may take
PATHS = {".parquet": "read_parquet", ".csv": "read_csv", ".csv.gz": "read_csv"}
WANTED = (
    "a dask DataFrame, a path or pattern of .parquet or .csv files, or an object with map_blocks()"
)


class RowsNeeded(Exception):
    """A fit is of rows, not of sums over partitions; the text is why."""


@dataclass
class Traffic:
    """What passes over the partitions have cost.

    Attributes
    ----------
    passes : list of dict
        ``phase``, ``bytes`` that the partitions returned (pickled), ``rows`` among them, and
        ``seconds``.
    """

    passes: list = field(default_factory=list)

    @property
    def bytes(self):
        """Returned in all."""
        return sum(one["bytes"] for one in self.passes)

    def run(self, phase, blocks, function, rows=lambda result: 0):
        """The results of a function of every partition, in their order."""
        deadline.check()
        begun = time.perf_counter()
        results = blocks.map_blocks(function)
        if not results:
            raise DataError("data has no partition; give a table that has rows")
        sizes = [len(pickle.dumps(one, pickle.HIGHEST_PROTOCOL)) for one in results]
        self.passes.append(
            {
                "phase": phase,
                "bytes": sum(sizes),
                "rows": sum(rows(one) for one in results),
                "seconds": time.perf_counter() - begun,
            }
        )
        return results


class DaskBlocks:
    """Partitions that dask keeps or makes.

    Parameters
    ----------
    client : distributed.Client
    parts : list
        Delayed tables, or futures.
    """

    def __init__(self, client, parts):
        self.client, self.parts = client, parts

    @property
    def workers(self):
        """How many workers there are now."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    @property
    def memory(self):
        """Bytes that the workers may use."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return float(sum(one["memory_limit"] or np.inf for one in workers))

    def map_blocks(self, function):
        """``function(number, table)`` of every partition, a list in their order."""
        return self.client.gather(self.submitted(function))

    def submitted(self, function):
        """Its futures: a worker that dies loses none of them, dask computes them again."""
        from dask import delayed

        shared = delayed(function, pure=False)
        told = f"{getattr(function, '__name__', type(function).__name__).lower()}-{uuid4().hex}"
        tasks = [shared(k, part, dask_key_name=f"{told}-{k}") for k, part in enumerate(self.parts)]
        return self.client.compute(tasks, retries=RETRIES)

    def keep(self, function, size):
        """The partitions as a function makes them, kept by the workers where they have the room."""
        if size > KEPT_SHARE * self.memory:
            return None
        return DaskBlocks(self.client, self.submitted(function))


def blocks_of(data, client):
    """The partitions of data.

    Parameters
    ----------
    data : dask DataFrame, path, or object with ``map_blocks``
    client : distributed.Client or None

    Raises
    ------
    ArgumentError
        Saying what would do.
    MissingExtra
        Without dask.
    """
    if hasattr(data, "map_blocks"):
        if client is not None:
            raise ArgumentError("client belongs to dask data: data with map_blocks run themselves")
        return data
    if not (hasattr(client, "compute") and hasattr(client, "scheduler_info")):
        raise ArgumentError(f"client must be a dask.distributed.Client, not {client!r:.80}")
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        data = read(str(data))
    if not hasattr(data, "to_delayed"):
        raise ArgumentError(
            f"client: the rows of a {type(data).__name__} are in this process; give {WANTED}, or "
            "leave client out"
        )
    return DaskBlocks(client, list(data.to_delayed()))


def read(path):
    """A dask DataFrame of files, which workers read."""
    try:
        from dask import dataframe
    except ImportError:
        raise MissingExtra("data in partitions need dask: pip install 'sgmc[dask]'") from None
    reader = next((PATHS[end] for end in PATHS if path.endswith(end)), None)
    if reader is None:
        raise ArgumentError(f"data={path!r} is no .parquet or .csv file: give {WANTED}")
    try:
        return getattr(dataframe, reader)(path)
    except OSError as error:
        raise DataError(f"data={path!r} cannot be read: {error}") from error


def is_partitioned(data, client):
    """Whether data are read where they are, partition by partition."""
    return client is not None or hasattr(data, "map_blocks")
