"""From rows of any number to a prepared table: `sgmc.prepare`."""

import errno
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.files import writable
from sgmc.arguments.messages import must_be
from sgmc.arguments.seeds import entropy
from sgmc.arguments.sizes import in_bytes
from sgmc.arguments.types import FilePath, Progress, Seed
from sgmc.core.system.interrupts import handled
from sgmc.core.system.memory import MB, READING_SHARE, available, shown
from sgmc.core.system.phases import watched
from sgmc.errors import ArgumentError, DiskError, SGMCError
from sgmc.formula import caller_scope, check_subset_of
from sgmc.formula.data.frames import no_column
from sgmc.formula.evaluation.allowlist import own
from sgmc.formula.stages import as_one
from sgmc.formula.syntax import parser
from sgmc.prepared.file.identity import made_of
from sgmc.prepared.file.layout import MAGIC
from sgmc.prepared.file.prepared import open as opened
from sgmc.prepared.file.recipe import arrays_of
from sgmc.prepared.first_pass.cells import compressed
from sgmc.prepared.first_pass.memory_source import TableSource
from sgmc.prepared.first_pass.scan import Found, Options, Scan, in_columns
from sgmc.prepared.first_pass.selection import Selection
from sgmc.prepared.passes import Passes
from sgmc.prepared.writers.records import Encoder
from sgmc.prepared.writers.shuffle import bucket_count, gather, resumed, scatter
from sgmc.prepared.writers.staging import StagingDirectory
from sgmc.prepared.writers.write_columns import keep
from sgmc.prepared.writers.writing import facts_of, plain_notes, recipe_of
from sgmc.sources.opening import of

if TYPE_CHECKING:
    from sgmc.prepared.file.column_store import ColumnStore
    from sgmc.prepared.file.prepared import Prepared


DTYPES = {"float64": np.float64, "float32": np.float32}
LEAST_MEMORY, MOST_MEMORY = 64 * MB, 1 << 40
SPARE = 16 * MB  # of disk, beside the rows


def prepare(
    formula: Any,
    source: Any,
    path: FilePath,
    *,
    weights: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    se: str | None = None,
    strata: str | None = None,
    subset: Any = None,
    missing: Literal["drop", "raise"] = "drop",
    dtype: Literal["float64", "float32"] = "float64",
    compress: bool = True,
    seed: Seed = None,
    memory_limit: float | str | None = None,
    progress: Progress = None,
) -> "Prepared | ColumnStore":
    """Write the table of a formula to a file that fits read where it is.

    The rows are read in chunks, in two or more passes: one that learns levels, types and what is
    missing, and one that writes the design, factors as codes, in random order, so that blocks of
    rows serve as mini-batches.  Memory is bounded; the disk needs room for the table twice.  A call
    that was interrupted goes on where it was when it is repeated with the same arguments.

    Parameters
    ----------
    formula : str
        As for the verbs, which are then called with the same formula and the result; with ``| z``
        at its end where another parameter has predictors, ``"y ~ x | z"`` for ``sigma="~ z"``.
    source : path, glob or list of files, or table
        Files of Parquet, CSV or Arrow, a pyarrow Dataset, a polars LazyFrame, a dask DataFrame, or
        a table in memory.
    path : str or path
        Of the file to write; replaced if it exists.
    weights, offset, exposure, se, strata : str, optional
        Names of columns, as for the verbs.
    subset : str or function, optional
        A bool column, an expression for `DataFrame.eval`, or a function that is called with chunks
        of the rows and returns a mask.
    missing : {"drop", "raise"}
        What to do with rows that lack anything needed.
    dtype : {"float64", "float32"}
        Of the numbers of the design, which have their means taken off: float32 keeps 7 digits of
        what is left.
    compress : bool, default True
        Whether equal rows become one with a frequency weight, where that leaves at most a tenth of
        the rows and a million: the posterior is the same, and what is asked of single rows later
        (predictions, `loo`) is of the different ones.
    seed : int, optional
        Of the random order.  Default: a fresh one.
    memory_limit : float or str, optional
        Bytes, or text such as ``"500MB"``, that the shuffling may use besides chunks of the source.
        Default: a quarter of the available memory.
    progress : bool or function, optional
        As for fits.

    Returns
    -------
    Prepared
        A formula with group terms, smooths or two parts (``"y ~ x | z"``), and one of outcomes that
        are known in part (`Surv`, ``cens()``), keeps columns instead of a design: a fit reads them
        into memory.

    Raises
    ------
    FormulaError, DataError, ArgumentError
        Naming the column or argument and saying what to do.
    DiskError
        If there is not enough room, or a file cannot be written.

    Examples
    --------
    >>> table = sgmc.prepare("y ~ x + g", "data/*.parquet", "table.sgmc")
    >>> sgmc.logit("y ~ x + g", table).summary()
    """
    one_of("missing", missing, ("drop", "raise"))
    one_of("dtype", dtype, tuple(DTYPES))
    path = replaceable(path)
    if memory_limit is None:
        limit = min(READING_SHARE * available(), MOST_MEMORY)
    else:
        limit = in_bytes("memory_limit", memory_limit, LEAST_MEMORY)
    check_subset_of(formula, subset)
    source = source_of(source)
    parsed = replace(
        parser.parse(as_one(formula), source.columns, scope_of(source)), formula=formula
    )
    given = dict(weights=weights, offset=offset, exposure=exposure, se=se, strata=strata)
    vectors = columns_of(given, source)
    check_subset(subset)
    arguments = {**vectors, "missing": missing}
    arguments["subset"] = subset if subset is None or isinstance(subset, str) else True
    seed = None if seed is None else entropy(seed)
    made = {"dtype": np.dtype(dtype).str, "compress": bool(compress), "seed": seed}
    mark = {**made_of(source, parsed, arguments, subset), **made}
    passes = Passes(progress, source.rows)
    options = Options(missing, compress, limit)
    scan = Scan(parsed, source, vectors, subset, options, passes.chunks)
    with handled(), on_disk(path), watched(progress):
        shop = StagingDirectory(path, mark, parsed.functions)
        try:
            if in_columns(parsed):
                keep(shop, scan, arguments, passes)
            else:
                write(shop, scan, arguments, limit, passes)
        except DiskError:
            raise
        except SGMCError:  # there is nothing to go on with
            shop.discard()
            raise
        else:
            shop.finish()
        finally:
            shop.leave()
    passes.finish()
    return opened(path, functions=own(parsed.functions), trust_formulas=True)


def replaceable(path):
    """The absolute path of the file to be, which must not be someone's data.

    Raises
    ------
    ArgumentError
    """
    full = writable("path", path, none=False)
    if os.path.exists(full):
        with open(full, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise must_be(
                    "path", os.fspath(path), "a new file, or one that sgmc.prepare has written"
                )
    return full


def scope_of(source):
    """Names that the formula may use besides columns."""
    scope = getattr(source, "scope", None)
    return caller_scope() if scope is None else scope


def source_of(data):
    """The source of what was given."""
    if hasattr(data, "chunks") and hasattr(data, "identity"):
        return data
    return of(data, "source") or TableSource(data)


def columns_of(given, source):
    """Argument -> column, of those given.

    Raises
    ------
    ArgumentError, DataError
        For arrays, and for names that are no columns.
    """
    for argument, name in given.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise ArgumentError(
                f"{argument} must be the name of a column here, not {type(name).__name__}: make "
                "it a column of the source"
            )
        if name not in source.columns:
            raise no_column(argument, name, source.columns)
    return {argument: name for argument, name in given.items() if name is not None}


def check_subset(subset):
    """ArgumentError for a mask, which belongs to rows in memory."""
    if subset is not None and not isinstance(subset, str) and not callable(subset):
        raise ArgumentError(
            f"subset must be an expression or a function here, not {type(subset).__name__}: make "
            "the mask a column of the source and give its name"
        )


@contextmanager
def on_disk(path):
    """OSError as DiskError."""
    try:
        yield
    except SGMCError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskError(
                f"the disk of {path} is full; make room and call again: it goes on where it was"
            ) from error
        raise DiskError(f"{error.filename or path}: {error.strerror or error}") from error


def write(shop, scan, arguments, limit, passes):
    """Find out, spread and gather, each from where the journal is."""
    kept = shop.kept()
    if kept is None:
        found, cells = scan.found()
        recipe = recipe_of(found.spec, found.levels, found.examples)
        shop.keep((found.kept(), cells, recipe))
    else:
        (columns, specs, rest), cells, recipe = kept
        found = Found(selection=Selection(scan, columns, scan.vectors, scan.subset, specs), **rest)
    rows, source = found.facts.complete, scan.source
    if cells is not None:
        found, source = compressed(found, cells)
    seed, dtype = shop.made_of["seed"], np.dtype(shop.made_of["dtype"])
    encoder = Encoder(found, dtype, seed)
    n, row = found.facts.complete, encoder.type.itemsize
    buckets = shop.journal.get("buckets") or bucket_count(n, row, limit)
    if not shop.journal.get("spread"):
        enough_disk(shop, n * row * (1 + 1 / buckets))
        scatter(shop, source, encoder, found.facts, buckets, passes.spread)
    small = {"recipe": np.frombuffer(recipe, np.uint8), **resumed(shop, encoder)}
    arrays = arrays_of(n, found.spec, dtype, encoder.vectors, recipe)
    facts = facts_of(
        found.spec.formula,
        kind="design",
        n=n,
        rows=rows,
        compressed=cells is not None,
        columns=scan.source.columns,
        dtype=dtype,
        seed=seed,
        dropped=found.facts.missing,
        left_out=found.left_out,
        notes=plain_notes(found.notes),
        arguments=arguments,
    )
    gather(shop, encoder, arrays, small, facts, passes.gathered)


def enough_disk(shop, needed):
    """DiskError where there is less room than the buckets need; the file takes theirs."""
    there = sum(entry.stat().st_size for entry in os.scandir(shop.folder))
    free = shutil.disk_usage(shop.folder).free
    if needed - there + SPARE > free:
        if not shop.journal.get("chunk"):
            shop.discard()
        raise DiskError(
            f"{shop.path} needs about {shown(needed + SPARE)} of disk while it is made, and "
            f"{shown(free)} are free: give a path on another disk"
        )
