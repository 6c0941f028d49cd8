"""Expressions whose value in a row depends on other rows, such as ``x - x.mean()``:
numbers of all rows are kept as the fit has seen them, all else is refused where new rows come.
"""

import ast
import numbers
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.data.tables import chunk_rows
from sgmc.arguments.types import Frame, Ints
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime, RateEstimator
from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.data.columns import own
from sgmc.formula.data.int_overflow import INNER_NAMES
from sgmc.formula.data.places import PLACEHOLDER

if TYPE_CHECKING:
    from sgmc.formula.designs.factors import Factor
    from sgmc.formula.designs.offsets import Offset


PACED = 64  # rows by which the time that others take is told
LOOKED = 4096  # rows that are evaluated, evenly spaced: tables are often sorted
SEEN_ALONE = 5  # rows whose values are compared with those that they have among others
SAME = 1e-9  # of the largest value: what the order of additions may change, and far below a fault
CURE = (
    "use center(x) or standardize(x), give the edges of intervals, pd.cut(x, [0, 5, 9]), or make a "
    "column of it first"
)


def looks_around(value: Callable[[Ints], Any], rows: Ints, most: int = LOOKED) -> bool:
    """Whether what is computed of some rows differs where fewer of them are seen.

    Halves tell means, ranks and differences; single rows tell what balanced halves share, such as
    the range of ``pd.cut(x, 4)``.

    Parameters
    ----------
    value : callable
        ``value(rows)`` returns one value, or several, for each of the rows.
    rows : array of int
    most : int
        Rows to look at, evenly spaced.

    Raises
    ------
    OutOfTime
    """
    rows, pace = rows[:: len(rows) // most + 1], RateEstimator()
    n, half = len(rows), len(rows) // 2
    if deadline.current().set:  # functions of users may take long
        with suppress(Exception):  # which may need more rows
            pace.measured(lambda: value(rows[:PACED]), min(n, PACED))
    whole = pace.run(lambda: value(rows), n)
    if n < 2 or np.shape(whole)[:1] != (n,):  # what is no value a row is refused elsewhere
        return False
    whole = pd.DataFrame(whole)
    alone = np.unique(np.linspace(0, n - 1, SEEN_ALONE).astype(int))
    for part in (slice(0, half), slice(half, n), *(slice(k, k + 1) for k in alone)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # such as those of the variance of one row
                some = rows[part]
                few = pd.DataFrame(pace.run(lambda: value(some), len(some)))
        except OutOfTime:
            raise
        except Exception:  # it needs more rows, or has made levels that the whole has not
            return True
        if not alike(whole[part], few):
            return True
    return False


def alike(some: Any, few: Any) -> bool:
    """Whether two tables of the same rows have the same values, but for rounding."""
    if some.shape != few.shape:
        return False
    for one, other in zip((some[name] for name in some), (few[name] for name in few)):
        if one.dtype.kind in "fiub" and other.dtype.kind in "fiub":
            one, other = one.to_numpy(dtype=float), other.to_numpy(dtype=float)
            finite = np.abs(one[np.isfinite(one)])
            scale = finite.max() if len(finite) else 0.0
            if not np.allclose(other, one, rtol=0, atol=SAME * scale, equal_nan=True):
                return False
        elif list(one.astype(str)) != list(other.astype(str)):
            return False
    return True


def settle(factor: "Factor | Offset", frame: Frame, rows: Ints, width: int = 1) -> None:
    """Make a fitted expression one of its row alone, or mark it as one of several rows (`across`).

    Parts of it that are one number, such as ``x.mean()``, become that number.

    Parameters
    ----------
    factor : Factor
        It is changed.
    frame : DataFrame
    rows : array of int
        Those that the fit uses.
    width : int
        Columns of the design, by which rows are read a piece at a time.

    Raises
    ------
    DataError
        Where the fit itself reads rows in pieces, and the expression needs them together.
    """

    def value(some: Ints) -> Any:
        return factor.evaluate(Chunk(frame, some))

    most = chunk_rows(factor.width or 1, LOOKED)
    if not looks_around(value, rows, most):
        return
    in_pieces = len(rows) > chunk_rows(width)
    # a transform has learned from pieces of which each had numbers of its own
    learned_apart = in_pieces and bool(factor.transforms)
    factor.code = with_numbers(factor, Chunk(frame, rows))
    factor.settled, factor.across = True, looks_around(value, rows, most)
    if learned_apart or in_pieces and factor.across:
        raise DataError(
            f"the value of {factor.label} in a row depends on other rows, and the "
            f"{len(rows):,} rows are read a piece at a time: {CURE}"
        )


def with_numbers(factor: "Factor | Offset", columns: Chunk) -> str:
    """The code of an expression, its parts that are one number of all rows written out."""
    names = {place: own(columns[name]) for place, name in factor.inputs.items()}
    tree = ast.parse(factor.code, mode="eval")
    with np.errstate(all="ignore"):
        tree = ConstantFolder({**factor.functions, **factor.transforms}, names).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


class ConstantFolder(ast.NodeTransformer):
    """Writes a number in the place of each part of a tree that is one, the largest parts first."""

    def __init__(self, functions: Mapping[str, Any], names: dict[str, Any]) -> None:
        self.functions, self.names = functions, names

    def visit(self, node: ast.AST) -> Any:
        """The node, or the number that it is."""
        if isinstance(node, INNER_NAMES):
            return node
        if isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.BinOp):
            found = self.number(node)
            if found is not None:
                constant = ast.Constant(abs(found))
                return ast.UnaryOp(ast.USub(), constant) if found < 0 else constant
        return self.generic_visit(node)

    def number(self, node: Any) -> float | None:
        """The finite number that a part of all rows is, or None."""
        if not PLACEHOLDER.search(ast.unparse(node)):
            return None
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<formula>", "eval")
        try:
            found = eval(code, dict(self.functions), self.names)
        except Exception:  # a part that has no value by itself
            return None
        found = found.item() if isinstance(found, np.generic) else found
        real = isinstance(found, numbers.Real) and not isinstance(found, bool)
        return found if real and np.isfinite(found) else None


def refuse_across(factors: Iterable[Any]) -> None:
    """FormulaError for the first expression that new rows have no value of."""
    for one in factors:
        if one.across:
            raise FormulaError(
                f"the value of {one.label} in a row depends on other rows: new rows "
                f"have no value of it; {CURE}, and fit again"
            )
