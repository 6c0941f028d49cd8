"""Columns as they are, in a file: for formulas whose rows are read into memory, those with group
terms, smooths or two parts, and outcomes that are known in part.
"""

import numpy as np
import pandas as pd

from sgmc.core.system.files import Damaged
from sgmc.core.system.memory import available, shown
from sgmc.errors import DataError, OutOfMemoryError
from sgmc.formula.data.columns import LevelIndexer, is_missing
from sgmc.prepared.file.recipe import check_sections, kept_arrays
from sgmc.prepared.file.rows import check_codes, refuse_cut
from sgmc.prepared.file.schema import INT
from sgmc.prepared.file.sealed import SealedTable
from sgmc.saved.designs import are_levels, are_texts

READING = 3  # copies of the columns while a fit reads them
NOT_KEPT = ("date", "complex", "other")  # kinds of columns


class ColumnStore(SealedTable):
    """A prepared table of a formula whose rows are read into memory: the columns that it needs, in
    the order of the source.

    A fit reads them into memory, and is the fit of these rows in memory, bit by bit.
    """

    def check(self, recipe, arrays, facts):
        check_columns(recipe, arrays, facts)

    def take(self, arrays, recipe):
        self.kept, self.arrays = recipe["columns"], arrays

    @property
    def width(self):
        """Columns."""
        return len(self.kept)

    @property
    def beside(self):
        """The arguments of a fit of these columns, which are rows of the subset alone."""
        return {name: value for name, value in self.arguments.items() if name != "subset"}

    def frame(self):
        """The columns as a DataFrame.

        Raises
        ------
        OutOfMemoryError
            If they do not fit into memory.
        """
        needed, free = READING * 8.0 * self.n * self.width, available()
        if needed > free:
            raise OutOfMemoryError(
                f"the columns of {str(self.formula)!r} need about {shown(needed)} of memory, and "
                f"{shown(free)} are available: rows of formulas with group terms, smooths or two "
                "parts, and of survival times, are read into memory; prepare a subset of them"
            )
        refuse_cut(self.path, self.nbytes)
        for one in self.kept:
            if one.levels:
                what = f"codes of column {one.name!r}"
                check_codes(self.path, what, self.arrays[one.section], -1, len(one.levels))
        return pd.DataFrame({one.name: one.restored(self.arrays[one.section]) for one in self.kept})


class StoredColumn:
    """How a column is kept: numbers as they are, labels as codes.

    Parameters
    ----------
    facts : ColumnFacts
        Of all rows that are kept.
    number : int
        Of the column.
    whole : bool
        Whether its numbers are integers in all rows.
    """

    def __init__(self, facts, number, whole):
        self.name, self.kind = facts.name, facts.kind
        self.section = f"column {number}"
        self.levels = facts.found_levels() if facts.kind in ("text", "category", "bool") else None
        if facts.kind == "category":
            self.levels = tuple(facts.levels)  # those that do not occur, too
        if facts.kind in NOT_KEPT:
            raise DataError(
                f"column {facts.name!r} holds {facts.held}, which a prepared file does not keep: "
                "make a number or text of it"
            )
        integers = whole and not facts.missing and facts.kind == "number"
        self.dtype = np.dtype(np.int32 if self.levels else np.int64 if integers else np.float64)

    def coded(self, column):
        """The column as it is in the file."""
        if self.levels:
            if is_missing(column).all():
                return np.full(len(column), -1)
            return LevelIndexer(self.levels, self.name).of(column)
        if self.dtype.kind == "i":
            return column.to_numpy(self.dtype)
        return column.to_numpy(self.dtype, na_value=np.nan)

    def restored(self, values):
        """The column as it was."""
        values = np.array(values)
        if not self.levels:
            return values
        if self.kind == "category":
            return pd.Categorical.from_codes(values, categories=pd.Index(self.levels))
        if self.kind == "bool" and (values >= 0).all():
            return values.astype(bool)
        return np.array([*self.levels, None], dtype=object)[values]


def check_columns(found, arrays, facts):
    """Damaged unless the columns of a recipe are those in the file."""
    kept = found["columns"]
    if not isinstance(kept, list) or not all(isinstance(one, StoredColumn) for one in kept):
        raise Damaged("is damaged: its recipe lacks the columns")
    names = [one.name for one in kept]
    if not are_texts(names) or len({*names, *facts["columns"]}) != len(facts["columns"]):
        raise Damaged("is damaged: its columns are not those of its source")
    for one in kept:
        coded = are_levels(one.levels)
        if one.levels and not coded or coded != (one.dtype == INT):
            raise Damaged(f"is damaged: its column {one.name!r} has no levels, or some twice")
        if coded:
            one.restored(np.array([-1, 0]))  # as it will be: labels that are none raise an error
    check_sections(kept_arrays(facts["n"], kept, arrays["recipe"]), arrays)
