"""A prepared table: what `sgmc.prepare` writes, `sgmc.open` opens and every verb takes as data."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.files import readable
from sgmc.arguments.types import FilePath, Floats
from sgmc.formula.designs.coded import CodedTable
from sgmc.prepared.file.column_store import ColumnStore
from sgmc.prepared.file.layout import manifest
from sgmc.prepared.file.outcome import as_outcome
from sgmc.prepared.file.recipe import check_design
from sgmc.prepared.file.rows import check_rows
from sgmc.prepared.file.scaling import of_file
from sgmc.prepared.file.schema import VECTORS
from sgmc.prepared.file.sealed import SealedTable, whole_file
from sgmc.saved import LoadPermissions


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

    def blocks(self, dtype, chunk=CHUNK_ROWS, change=None):
        """Pairs of a slice of the rows and their part of the design, nothing taken off;
        ``change(block, span)``, if given, makes what is written of each block of float64.
        """
        dtype = dtype if change is None else np.float64
        step = chunk_rows(self.X.shape[1], chunk)
        for start in range(0, self.n, step):
            span = slice(start, min(start + step, self.n))
            block = (self.X[span] + self.shift).astype(dtype, copy=False)
            yield span, block if change is None else change(block, span)

    def coded(self, position, dtype, change=None):
        """The design with its factors as codes in memory, row i at ``position[i]``, nothing taken
        off; `change` is of the numbers, see `blocks`.
        """
        out = self.spec.coding.empty(self.n, dtype)
        for start in range(0, self.n, CHUNK_ROWS):
            span = slice(start, min(start + CHUNK_ROWS, self.n))
            rows = position[span]
            numbers = self.X.numbers[span] + self.shift[self.X.places]
            out.numbers[rows] = numbers if change is None else change(numbers, span)
            out.codes[rows], out.factors[rows] = self.X.codes[span], self.X.factors[span]
        return out

    def design_bytes(self, dtype):
        """Bytes of the design in memory."""
        coding = self.spec.coding
        width = self.X.shape[1] * dtype.itemsize if coding is None else coding.row_bytes(dtype)
        return float(self.n) * width


def reopened(path, outcome, trust):
    """A table as it was when it was sent to another process: its file is opened again."""
    prepared = Prepared(path, trust=trust)
    prepared.checked = outcome is not None  # where it came from
    return prepared if outcome is None else prepared.of_outcome(outcome)


def _design(coding, arrays):
    """The design of what is in the file: an array, or a coded table of arrays."""
    if coding is None:
        return arrays["X"]
    parts = arrays["numbers"], coding.places, arrays["codes"], coding.cells, arrays["factors"]
    return CodedTable(*parts, coding.by)


def open(
    path: FilePath,
    check: bool = False,
    *,
    functions: Mapping[str, Any] | None = None,
    trust_formulas: bool = False,
) -> Prepared | ColumnStore:
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
        Or `ColumnStore`, of a formula whose rows are read into memory, see `prepare`.

    Raises
    ------
    ArgumentError
        If there is no such file, or it needs a function that is not given.
    DataError
        If it is damaged, of another kind, or of a format of another release.
    """
    path = readable("path", path)
    with whole_file(path):
        kind = manifest(path)[2]["kind"]
    trust = LoadPermissions({} if functions is None else functions, trust_formulas)
    return (ColumnStore if kind == "columns" else Prepared)(path, check, trust)
