"""A table in a sealed file: what its prepared design and its kept columns have in common."""

import os
from contextlib import contextmanager

import numpy as np

from sgmc.core.system.files import Damaged, read_tree
from sgmc.core.system.memory import shown
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.evaluation.safe import SafeFormula
from sgmc.formula.terms import left_out_warning
from sgmc.prepared.file.layout import manifest, mapped, verify
from sgmc.prepared.file.recipe import refuse_subset_of
from sgmc.prepared.file.schema import NOTES
from sgmc.saved import LoadPermissions, Unreadable, restored
from sgmc.version import __version__

SMALL = ("recipe", "mean", "sd", "scale", "shift")  # sections that are read, and checked, at once


class SealedTable:
    """A table in a sealed file; see `Prepared` and `KeptColumns`.

    Attributes
    ----------
    path : str
    formula : str
    columns : list of str
        Of the source.
    n : int
        Rows of the table.
    rows : int
        Rows of the source that they stand for.
    compressed : bool
        Whether equal rows have become one, with a frequency in `weights`.
    dtype : numpy.dtype
        Of the numbers of the design: float64 or float32.
    seed : int
        Of the random order.
    dropped : int
        Rows lost to missing values.
    left_out : dict
        Columns that the dot of the formula left out -> reason.
    notes : tuple of SGMCWarning
        What was warned of when the file was made.
    arguments : dict
        What was given of ``weights``, ``offset``, ``exposure``, ``se``, ``strata``, ``subset`` and
        ``missing``.
    nbytes : int
        Of the file.
    groups : None
        Clusters, which files do not have.
    subset : function or None
        That chose the rows, where the file was made for a call that has it.
    """

    subset = groups = None

    def __init__(self, path, check=False, trust=None):
        self.path, self.trust = path, trust or LoadPermissions()
        with whole_file(path):
            sections, known, facts = manifest(path)
            small = {name: sections[name] for name in SMALL if name in sections}
            verify(path, sections if check else small, known)
            arrays = {name: mapped(path, section) for name, section in sections.items()}
        refuse_subset_of(path, facts, self.trust)
        content, check = arrays["recipe"].tobytes(), lambda found: self.check(found, arrays, facts)
        recipe = recipe_in(path, content, self.trust, check)
        self.formula, self.columns = facts["formula"], facts["columns"]
        if facts.get("safe"):
            self.formula = SafeFormula(self.formula)
        self.n, self.dtype, self.seed = facts["n"], np.dtype(facts["dtype"]), facts["seed"]
        self.dropped, self.left_out = facts["dropped"], facts["left_out"]
        self.notes = notes_of(facts)
        self.arguments = facts["arguments"]
        self.rows, self.compressed = facts["rows"], facts["compressed"]
        self.nbytes = os.path.getsize(path)
        self.take(arrays, recipe)

    def check(self, recipe, arrays, facts):
        """Raise Damaged where the recipe is not that of what the file has."""
        raise NotImplementedError

    def take(self, arrays, recipe):
        """Take over what the file has: arrays by name, and the recipe of the design."""
        raise NotImplementedError

    def __reduce__(self):
        return type(self), (self.path, False, self.trust)

    def __repr__(self) -> str:
        return f"<prepared {str(self.formula)!r}: {self.n} rows, {self.width} columns>"

    def __str__(self) -> str:
        compression = f"{self.n:,} different rows with frequencies" if self.compressed else "none"
        parts = {
            "formula": str(self.formula),
            "rows": f"{self.rows:,}" + f" ({self.dropped:,} dropped)" * bool(self.dropped),
            "compression": compression,
            "columns": f"{self.width:,}, {self.dtype}",
            "file": f"{self.path}, {shown(self.nbytes)}",
        }
        return "\n".join(f"{name:<13}{text}" for name, text in parts.items())


def notes_of(facts):
    """The warnings in the facts of a file, as `Table` has them; older ones are about the dot."""
    if "notes" in facts:
        return tuple(NOTES[code](*text) for code, *text in facts["notes"])
    return (left_out_warning(facts["left_out"]),) if facts["left_out"] else ()


@contextmanager
def whole_file(path):
    """Damaged as DataError."""
    try:
        yield
    except Damaged as error:
        raise DataError(f"{path} {error}") from error


def recipe_in(path, content, trust, check=lambda found: None):
    """The recipe of the columns in a file; `check` raises Damaged for one of other columns."""
    tree = {}
    try:
        tree = read_tree(content)
        found = restored(tree["content"], trust, "sgmc.open(path")
        with whole_file(path):
            check(found)
    except (ArgumentError, DataError):
        raise
    except Unreadable as error:
        raise DataError(
            f"{path} was prepared by sgmc {tree.get('version')!s:.20}, and this is sgmc "
            f"{__version__}: {error}; prepare it again"
        ) from error
    except Exception as error:  # whole, but no recipe of ours
        raise DataError(
            f"{path} has no recipe of a design in it ({type(error).__name__}: {error!s:.200})"
        ) from error
    return found
