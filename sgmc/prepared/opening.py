"""What a verb was given as data: rows in memory, or those of a file that is prepared for it."""

import os
from dataclasses import replace

import pandas as pd

from sgmc.arguments.messages import must_be
from sgmc.arguments.sizes import in_bytes
from sgmc.core.system.memory import READING_SHARE, available
from sgmc.errors import ArgumentError
from sgmc.formula.data.frames import no_column
from sgmc.formula.reader import VALID
from sgmc.formula.stages import as_one
from sgmc.formula.subsets import subset_columns
from sgmc.formula.syntax import parser
from sgmc.prepared.reading import refuse_groups
from sgmc.sources.opening import is_path, of


def opened(formula, data, scope, given):
    """Data that `sgmc.prepared.reading.read` takes.

    Of files and other sources no more columns are read than the formula needs.  Where these take at
    most a quarter of the available memory, and no more than ``memory_limit``, they are simply read;
    else they are prepared.

    Parameters
    ----------
    formula : str
    data : object
        Of a verb.
    scope : dict
        Names that the formula may use.
    given : dict
        ``weights``, ``offset``, ``exposure``, ``se``, ``strata``, ``subset`` and ``missing``;
        ``cache`` and ``memory_limit`` are taken out.

    Returns
    -------
    table in memory, or SealedTable

    Raises
    ------
    FormulaError, DataError, ArgumentError
        Before rows are read, where that is possible.
    """
    cache, memory_limit = given.pop("cache"), given.pop("memory_limit")
    source = of(data)
    if source is None:
        refuse_beside_memory(data, cache=cache, memory_limit=memory_limit)
        return data
    # only here: tables in memory have no use for what makes files
    from sgmc.prepared.filing import filed
    from sgmc.prepared.prepare import LEAST_MEMORY

    if cache is not None and not (is_path(cache) and os.path.isdir(cache)):
        raise must_be("cache", cache, "a folder that exists", "create it first")
    limit = READING_SHARE * available()
    if memory_limit is not None:
        limit = min(limit, in_bytes("memory_limit", memory_limit, LEAST_MEMORY))
    parsed = replace(parser.parse(as_one(formula), source.columns, scope), formula=formula)
    source = source.only(needed(parsed, source.columns, given))
    if source.bytes <= limit:
        return source.read()
    refuse_arrays(given)
    refuse_groups(given)
    given = {name: value for name, value in given.items() if name != "groups"}
    source.scope = scope
    table = filed(source, parsed, cache, {**given, "memory_limit": memory_limit})
    table.subset = given["subset"]
    return table


def for_verb(data, settings):
    """Data with what a file of them needs to know of the fit."""
    source = of(data)
    if source is None:
        return data
    source.file_options = {k: settings[k] for k in ("dtype", "progress") if k in settings}
    return source


def needed(parsed, columns, given):
    """Which of the columns a formula and the arguments beside it use.

    Raises
    ------
    DataError
        For an argument that names no column.
    """
    subset = given["subset"]
    vectors = {k: v for k, v in given.items() if isinstance(v, str) and k in VALID}
    for argument, name in vectors.items():
        if name not in columns:
            raise no_column(argument, name, columns)
    if parsed.has_dot or callable(subset):
        return columns
    codes = [
        parsed.response,
        parsed.predictors,
        parsed.offset,
        *(bar.effects for bar in parsed.bars),
    ]
    codes += [code for one in parsed.smooths for code in (one.code, one.by or "")]
    used = {*parsed.names.inputs(" ".join(codes)).values(), *vectors.values()}
    used |= {name for bar in parsed.bars for name in bar.columns}
    used |= {*subset_columns(subset, pd.DataFrame(columns=columns))}
    return [name for name in columns if name in used]


def refuse_beside_memory(data, **given):
    """Raise ArgumentError for arguments that belong to files alone."""
    for name, value in given.items():
        if value is not None:
            from sgmc.prepared.file.sealed import SealedTable  # only for the message

            kind = "a prepared file" if isinstance(data, SealedTable) else "a table in memory"
            raise ArgumentError(f"{name}={value!r} does not apply to {kind}: leave it out")


def refuse_arrays(given):
    """Raise ArgumentError for arrays, which belong to rows in memory."""
    for name, value in given.items():
        if not (value is None or isinstance(value, str) or name == "subset" and callable(value)):
            raise ArgumentError(
                f"{name} is an array, and the rows are too many to be read at once (see "
                "memory_limit): make it a column of the files, and give its name"
            )
