"""Prepared files of what a verb was given, in a cache or for one fit."""

import hashlib
import json
import os
import tempfile

from sgmc.formula.evaluation.allowlist import own
from sgmc.prepared.file.identity import made_of
from sgmc.prepared.file.prepared import open as sealed
from sgmc.prepared.prepare import prepare

ORDER_SEED = 0  # seed of the order of rows in prepared files, which serve fits of any seed


def filed(source, parsed, cache, given):
    """The rows of a source in a prepared file, made unless the cache has it.

    Parameters
    ----------
    source : Source
    parsed : Parsed
        The formula.
    cache : str, path or None
    given : dict
        Arguments of `prepare`.
    """
    arguments = {**given, **source.file_options, "seed": ORDER_SEED}
    if cache is None:
        folder = tempfile.TemporaryDirectory(prefix="sgmc-")
        place = os.path.join(folder.name, "table.sgmc")
        table = prepare(parsed.formula, source, place, **arguments)
        table.folder = folder  # removed when nothing has the table any more
        return table
    place = os.path.join(cache, f"{name_of(source, parsed, arguments)}.sgmc")
    if os.path.exists(place):
        return sealed(place, functions=own(parsed.functions), trust_formulas=True)
    return prepare(parsed.formula, source, place, **arguments)


def name_of(source, parsed, arguments):
    """The name of a prepared file in a cache: a hash of all that it is made of."""
    rest = ("subset", "seed", "memory_limit", "progress")
    known = {"dtype": "float64", "columns": source.columns, **arguments}
    known = {name: value for name, value in known.items() if name not in rest}
    subset = arguments["subset"]
    known["subset"] = subset if isinstance(subset, str) else callable(subset)
    made = made_of(source, parsed, known, subset)
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:32]
