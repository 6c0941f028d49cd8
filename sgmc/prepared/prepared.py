"""A prepared table: what `sgmc.prepare` writes, `sgmc.open` opens and every verb takes as data."""

import copy
import os
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.files import readable
from sgmc.arguments.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.types import FilePath, Floats
from sgmc.core.files import Damaged, read_tree
from sgmc.core.memory import shown
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.coded import CodedTable
from sgmc.formula.safe import SafeFormula
from sgmc.formula.terms import left_out_warning
from sgmc.prepared.layout import manifest, mapped, verify
from sgmc.prepared.outcome import as_outcome
from sgmc.prepared.recipe import check_design, refuse_subset_of
from sgmc.prepared.rows import check_rows
from sgmc.prepared.scaling import of_file
from sgmc.prepared.schema import NOTES, VECTORS
from sgmc.saved import Trust, Unreadable, restored
from sgmc.version import __version__

if TYPE_CHECKING:
    from sgmc.prepared.kept import KeptColumns


SMALL = ("recipe", "mean", "sd", "scale", "shift")  # sections that are read, and checked, at once


class SealedTable:
    """A table in a sealed file; see `Prepared`, and `kept.KeptColumns`.

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
        self.path, self.trust = path, trust or Trust()
        with _whole(path):
            sections, known, facts = manifest(path)
            small = {name: sections[name] for name in SMALL if name in sections}
            verify(path, sections if check else small, known)
            arrays = {name: mapped(path, section) for name, section in sections.items()}
        refuse_subset_of(path, facts, self.trust)
        content, check = arrays["recipe"].tobytes(), lambda found: self.check(found, arrays, facts)
        recipe = _recipe(path, content, self.trust, check)
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


class Prepared(SealedTable):
    """A table in a file, ready to be fitted: rows in random order, factors as codes.

    Made by `sgmc.prepare` and `sgmc.open`; every verb takes it in the place of data, with the
    formula that it was prepared with.  The file is mapped into memory and never changed.

    Attributes
    ----------
    path, formula, columns, n, rows, compressed, dtype, seed, dropped, left_out, arguments, nbytes
        See `SealedTable`.
    X : memmap (n, d) or CodedTable
        The design less `shift`, in random order.
    y : memmap (n,)
        Numbers, or places among `outcome_levels`.
    trials, weights, offset, exposure, se, strata : memmap (n,) or None
    order : memmap (n,) of int64
        Row i is row order[i] of the source; of compressed tables the number of a different row,
        in the order in which they were met.
    mean, sd, scale, shift : array (d,)
        Moments of the design's columns, what autoscaled priors are divided by (None in files of
        releases that did not keep it), and what was taken off the columns.
    """

    outcome = None  # of the family that its outcomes suit
    checked = False  # whether all rows have been looked at
    given_offset = None  # beside one of the formula there is none, see `scan.column_of_offset`

    def check(self, recipe, arrays, facts):
        check_design(recipe, arrays, facts)

    def take(self, arrays, recipe):
        self.spec, self.outcome_levels = recipe["spec"], recipe["outcome_levels"]
        self.examples = recipe["examples"]
        self.mean, self.sd, self.shift = (np.array(arrays[k]) for k in ("mean", "sd", "shift"))
        self.scale = np.array(arrays["scale"]) if "scale" in arrays else None
        self.X = _design(self.spec.coding, arrays)
        self.y, self.order = arrays["y"], arrays["order"]
        for name in VECTORS:
            setattr(self, name, arrays.get(name))

    @property
    def width(self) -> int:
        """Columns of the design."""
        return self.X.shape[1]

    def __reduce__(self):
        return reopened, (self.path, self.outcome, self.trust)

    def of_outcome(self, outcome: str) -> "Prepared":
        """This table with the outcomes of a family: "binary", "numeric" or "category"."""
        if not self.checked:
            check_rows(self)
            self.checked = True
        y, trials, levels = as_outcome(self, outcome)
        view = object.__new__(type(self))
        vars(view).update(vars(self), outcome=outcome, y=y, trials=trials)
        view.spec = copy.copy(self.spec)
        view.spec.levels = levels
        return view

    def scales(self, sd: Floats, weight: Floats | None = None) -> Floats:
        """Return what autoscaled priors of the columns are divided by, (d,)."""
        return of_file(self)(sd) if self.scale is None else self.scale

    def grouping(self):
        """None: see `sgmc.formula.table.Table.grouping`."""
        return

    def blocks(self, dtype, chunk=CHUNK_ROWS):
        """Pairs of a slice of the rows and their part of the design, nothing taken off."""
        step = chunk_rows(self.X.shape[1], chunk)
        for start in range(0, self.n, step):
            span = slice(start, min(start + step, self.n))
            yield span, (self.X[span] + self.shift).astype(dtype, copy=False)

    def coded(self, position, dtype):
        """The design with its factors as codes in memory, row i at ``position[i]``, nothing taken
        off.
        """
        out = self.spec.coding.empty(self.n, dtype)
        for start in range(0, self.n, CHUNK_ROWS):
            span = slice(start, min(start + CHUNK_ROWS, self.n))
            rows = position[span]
            out.numbers[rows] = self.X.numbers[span] + self.shift[self.X.places]
            out.codes[rows], out.factors[rows] = self.X.codes[span], self.X.factors[span]
        return out

    def design_bytes(self, dtype):
        """Bytes of the design in memory."""
        coding = self.spec.coding
        width = self.X.shape[1] * dtype.itemsize if coding is None else coding.row_bytes(dtype)
        return float(self.n) * width


def notes_of(facts):
    """The warnings in the facts of a file, as `Table` has them; older ones are about the dot."""
    if "notes" in facts:
        return tuple(NOTES[code](*text) for code, *text in facts["notes"])
    return (left_out_warning(facts["left_out"]),) if facts["left_out"] else ()


def reopened(path, outcome, trust):
    """A table as it was when it was sent to another process: its file is opened again."""
    prepared = Prepared(path, trust=trust)
    prepared.checked = outcome is not None  # where it came from
    return prepared if outcome is None else prepared.of_outcome(outcome)


@contextmanager
def _whole(path):
    """Damaged as DataError."""
    try:
        yield
    except Damaged as error:
        raise DataError(f"{path} {error}") from error


def _design(coding, arrays):
    """The design of what is in the file: an array, or a coded table of arrays."""
    if coding is None:
        return arrays["X"]
    parts = arrays["numbers"], coding.places, arrays["codes"], coding.cells, arrays["factors"]
    return CodedTable(*parts, coding.by)


def _recipe(path, content, trust, check=lambda found: None):
    """The recipe of the columns in a file; `check` raises Damaged for one of other columns."""
    tree = {}
    try:
        tree = read_tree(content)
        found = restored(tree["content"], trust, "sgmc.open(path")
        with _whole(path):
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


def open(
    path: FilePath,
    check: bool = False,
    *,
    functions: Mapping[str, Any] | None = None,
    trust_formulas: bool = False,
) -> "Prepared | KeptColumns":
    """Open a file that `sgmc.prepare` has written.

    Nothing in the file is executed: it has arrays, plain values and names of functions, which are
    looked up in a fixed list.  New rows are read by the formula; its code may therefore have only
    columns, arithmetic and listed functions (docs/security.md).

    Parameters
    ----------
    path : str or path
    check : bool, default False
        Whether to read all of the file and compare it with its checksums; the small parts always
        are.
    functions : dict, optional
        Functions of your own that the formula calls, by the names that they have there, as for
        `sgmc.load`.
    trust_formulas : bool, default False
        Whether the formula may have any code: for your own files.

    Returns
    -------
    Prepared
        Or `KeptColumns`, of a formula with group terms or smooths.

    Raises
    ------
    ArgumentError
        If there is no such file, or it needs a function that is not given.
    DataError
        If it is damaged, of another kind, or of a format of another release.
    """
    from sgmc.prepared.kept import KeptColumns

    path = readable("path", path)
    with _whole(path):
        kind = manifest(path)[2]["kind"]
    trust = Trust({} if functions is None else functions, trust_formulas)
    return (KeptColumns if kind == "columns" else Prepared)(path, check, trust)
