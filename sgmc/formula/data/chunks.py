"""Chunks of a table as formulas see them, and the gaps in their columns."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Bools, Floats, Ints, Series
from sgmc.errors import DataError, FormulaError, SGMCError
from sgmc.formula.data.columns import is_plain, own, plain
from sgmc.formula.data.int_overflow import refuse_int_overflow
from sgmc.formula.data.undefined import gaps_of, undefined

if TYPE_CHECKING:
    from sgmc.formula.data.undefined import Undefined
    from sgmc.formula.designs.factors import Factor
    from sgmc.formula.designs.offsets import Offset
    from sgmc.formula.syntax.parser import Parsed


# functions and methods that may bring values to other rows
SORTING = {"sort", "sorted", "sample", "shuffle", "permutation", "permuted", "partition"}
COLUMN = "column "  # marks, for patsy, a factor that is a column by itself


class Chunk(dict[Any, Any]):
    """Some rows of the columns of a frame or of a dict, each made when first asked for."""

    def __init__(self, frame: Any, rows: Any) -> None:
        super().__init__()
        self.frame = frame
        self.n_rows = len(rows)
        # rows ascend: a slice makes no copy
        whole = self.n_rows and rows[-1] - rows[0] == self.n_rows - 1
        self.rows = slice(rows[0], rows[-1] + 1) if whole else rows

    def __missing__(self, name: str) -> Series:
        self[name] = plain(self.frame[name], self.rows)
        return self[name]

    def numbers(self, name: str) -> Floats:
        """A column of numbers as an array."""
        column = self.frame[name]
        return column.to_numpy()[self.rows] if is_plain(column) else self[name].to_numpy()


class Gaps:
    """Rows with something missing, and where.

    Attributes
    ----------
    counts : dict
        Label -> rows that lack it.
    undefined : dict
        Label of an expression -> its `Undefined`.
    """

    def __init__(self, n_rows: int, use: Ints | slice = slice(None), counted: bool = True) -> None:
        self.counted = counted  # whether these rows are all that there are
        self.used = np.zeros(n_rows, dtype=bool)
        self.used[use] = True
        self.missing = np.zeros(n_rows, dtype=bool)
        self.counts: dict[str, int] = {}
        self.undefined: dict[str, Undefined] = {}

    def add(self, label: str, rows: Any, gaps: Bools) -> None:
        """Note which of `rows` lack `label`."""
        gaps = gaps & self.used[rows]
        if gaps.any():
            self.missing[rows] |= gaps
            self.counts[label] = self.counts.get(label, 0) + int(gaps.sum())

    def add_values(
        self, one: "Expression | Factor | Offset", frame: Any, rows: Ints, values: Any
    ) -> None:
        """Note where an expression has no value, and where its columns are no reason for it; see
        `undefined`.
        """
        gaps = gaps_of(values, len(rows)) & self.used[rows]
        if not gaps.any():
            return
        self.add(one.label, rows, gaps)
        found = undefined(one, frame, rows, values, gaps)
        if found is not None:
            found.rows = found.rows if self.counted else None
            add_undefined(self.undefined, found)

    def complete(self) -> Ints:
        """Positions of the rows in use that lack nothing."""
        return np.flatnonzero(self.used & ~self.missing)

    def check(self, on_missing: str) -> None:
        """Raise a DataError for missing rows that the user refuses; see `refuse_gaps`."""
        if self.counts:
            complete, missing = len(self.complete()), int(self.missing.sum())
            refuse_gaps(self.counts, missing, complete, on_missing, self.undefined)


def add_undefined(known: "dict[str, Undefined]", found: "Undefined") -> None:
    """Add an `Undefined` to those in a dict."""
    if found.label in known:
        known[found.label].merge(found)
    else:
        known[found.label] = found


def refuse_undefined(undefined: "dict[str, Undefined]") -> None:
    """DataError where an expression leaves the domain of a function."""
    for found in undefined.values():
        if not found.chosen:
            raise found.error()


def refuse_gaps(
    counts: Mapping[str, int],
    missing: int,
    complete: int,
    on_missing: str,
    undefined: "dict[str, Undefined]",
) -> None:
    """DataError where an expression leaves the domain of a function, rows are missing against the
    user's wish, or no row is left.

    Parameters
    ----------
    counts : dict
        Label -> rows that lack it.
    missing, complete : int
        Rows that lack anything, and nothing.
    on_missing : {"drop", "raise"}
    undefined : dict
        See `Gaps`.
    """
    refuse_undefined(undefined)
    if not counts:
        return
    where = ", ".join(f"{label!r} ({count})" for label, count in counts.items())
    if on_missing == "raise":
        rows = "1 row has" if missing == 1 else f"{missing} rows have"
        raise DataError(f"{rows} missing values, in {where}; missing='drop' leaves them out")
    if complete == 0:
        raise DataError(f"no row is complete: values are missing in {where}")


def arguments_of(error: Exception, functions: Mapping[str, Any]) -> str:
    """What the function takes whose argument a TypeError finds unexpected; else nothing."""
    name, unexpected, _ = str(error).partition("() got an unexpected keyword argument")
    if not isinstance(error, TypeError) or not unexpected or name not in functions:
        return ""
    try:
        return f"; it takes {', '.join(inspect.signature(functions[name]).parameters)}"
    except ValueError:  # functions in C may have no signature
        return ""


def evaluate(
    code: str, functions: Mapping[str, Any], names: Mapping[str, Any], label: str, rows: int
) -> Any:
    """The value of an expression of the formula in so many rows, or one for all of them;
    FormulaError, naming it by its label, where it has none.
    """
    # ``x -= 1`` would change it for others
    names = {place: own(values) for place, values in names.items()}
    refuse_int_overflow(code, functions, names, label)
    try:
        # the log of a negative number is missing; of zero, infinite and reported
        with np.errstate(all="ignore"):
            value = eval(code, dict(functions), names)
    except FormulaError:
        raise
    except SGMCError as error:
        raise FormulaError(f"cannot evaluate {label!r}: {error}") from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}{arguments_of(error, functions)}"
        raise FormulaError(f"cannot evaluate {label!r}: {told}") from error
    if np.ndim(value) and len(value) != rows:
        raise FormulaError(
            f"{label!r} must have a value in each of the {rows:,} rows, it has {len(value):,}: "
            "make a column of it first, or use functions of one row"
        )
    refuse_reordered(value, names, label)
    if SORTING & {*compile(code, "<formula>", "eval").co_names}:
        refuse_sorting(code, functions, names, label, value, rows)
    return value


def refuse_reordered(value: Any, names: Mapping[str, Any], label: str) -> None:
    """FormulaError where a Series or DataFrame has its rows in another order than the columns, as
    its index tells.
    """
    index = next((one.index for one in names.values() if hasattr(one, "index")), None)
    if index is None or not isinstance(value, pd.Series | pd.DataFrame):
        return
    if not value.index.equals(index) and value.index.sort_values().equals(index):
        raise FormulaError(reordered(label))


def refuse_sorting(
    code: str,
    functions: Mapping[str, Any],
    names: Mapping[str, Any],
    label: str,
    value: Any,
    rows: int,
) -> None:
    """FormulaError where a function such as ``np.sort`` has brought values to other rows: they do
    not follow when the rows of the columns are reversed, as those of ``searchsorted(sort(x), x)``
    do.
    """
    if rows < 2 or not np.ndim(value):
        return
    turned = {
        place: one.iloc[::-1].reset_index(drop=True) if hasattr(one, "iloc") else one
        for place, one in names.items()
    }
    with np.errstate(all="ignore"):
        other = eval(code, dict(functions), turned)
    first, second = (pd.DataFrame(np.asarray(one)) for one in (value, other))
    if not first.equals(second.iloc[::-1].reset_index(drop=True)):
        raise FormulaError(reordered(label))


def reordered(label: str) -> str:
    """What is wrong with an expression of values in another order."""
    return (
        f"{label!r} has the values of the rows in another order, so that rows would get the values "
        "of others: use the column as it is, or its ranks, x.rank()"
    )


class Expression:
    """An expression of a formula that has no memory, such as ``np.log(x)``.

    Parameters
    ----------
    parsed : Parsed
    code : str
    """

    def __init__(self, parsed: "Parsed", code: str) -> None:
        self.label, self.code = parsed.names.label(code), code
        self.inputs, self.functions = parsed.names.inputs(code), parsed.functions

    def evaluate(self, columns: Chunk) -> Any:
        """Its value in the rows of a `Chunk`."""
        names = {place: columns[name] for place, name in self.inputs.items()}
        return evaluate(self.code, self.functions, names, self.label, columns.n_rows)


class PatsyChunk(dict[Any, Any]):
    """What patsy's factors look up in a chunk: placeholders, and factors that are columns.

    Of columns patsy is shown stand-ins, for categories two levels: the algebra of terms depends on
    what is a number alone, and its contrasts are dense.
    """

    def __init__(self, chunk: Chunk, inputs: Mapping[str, str], levels: Mapping[str, Any]) -> None:
        super().__init__()
        self.chunk, self.inputs, self.levels = chunk, inputs, levels
        self.number = np.zeros(chunk.n_rows)
        self.category = pd.Categorical.from_codes(np.zeros(chunk.n_rows, int), categories=(0, 1))

    def __missing__(self, key: str) -> Any:
        if key in self.levels:
            return self.number if self.levels[key] is None else self.category
        return own(self.chunk[self.inputs[key.removeprefix(COLUMN)]])
