"""Keywords of what fits read: rows of the table in `sgmc.arguments.keywords`."""

from sgmc.arguments.parameter import REQUIRED, Keyword

DATA = Keyword(
    "data",
    REQUIRED,
    """Never changed.  Paths are of CSV, TSV, Parquet and Arrow files, a folder of these, or a
    pattern such as ``"data/*.parquet"``.""",
    "table, dict of arrays, path or list of paths, lazy table, or Prepared",
    "_Table",
    ("formula",),
)
READING = (
    Keyword(
        "cache",
        None,
        """A folder for what is prepared of files that are too large to be read at once; the next
        fit of the same formula to the same files finds it there.  Default: a temporary folder,
        removed with the results.""",
        "path",
        "str | PathLike[str] | None",
        ("formula",),
        str,
    ),
    Keyword(
        "memory_limit",
        None,
        """Of files: rows that take more memory are prepared in a file, in as much memory.  Default:
        a quarter of what is available.""",
        'bytes, at least 64 MB, or text such as "500MB"',
        "float | str | None",
        ("formula",),
        str,
    ),
)
