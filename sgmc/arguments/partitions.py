"""Keywords of fits on a cluster: rows of the table in `sgmc.arguments.keywords`."""

from sgmc.arguments.parameter import Keyword

PARTITIONS = (
    Keyword(
        "client",
        None,
        """Of a dask cluster, for data in partitions: a dask DataFrame, or the path or pattern of
        Parquet or CSV files that the workers can read.  Sums over all rows come from the workers,
        mini-batches from a uniform sample of the rows (see `reservoir`).""",
        "dask.distributed.Client",
        "Any",
        ("formula",),
    ),
    Keyword(
        "client",
        None,
        """Of a dask cluster: chains run on its workers, with the draws that they have here.""",
        "dask.distributed.Client",
        "Any",
        ("model",),
    ),
    Keyword(
        "reservoir",
        None,
        """Of data in partitions: rows of the uniform sample that mini-batches are drawn from.
        Default: as many as keep its error, which the verdict states, below 0.02 sd.""",
        "int >= 100",
        "int | None",
        ("formula",),
    ),
)
