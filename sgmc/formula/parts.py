"""Formulas of two parts, ``y ~ x | z``: two designs of the same rows, side by side."""

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.names import of_second
from sgmc.arguments.types import Array, Floats, Frame, Ints
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.formula.designs.groups import crossed
from sgmc.formula.evaluation.safe import like
from sgmc.formula.table import Table

if TYPE_CHECKING:
    from sgmc.formula.designs.blocks import Block
    from sgmc.formula.designs.design import DesignSpec
    from sgmc.formula.designs.factors import Factor
    from sgmc.formula.designs.groups import Crossing
    from sgmc.formula.evaluation.safe import SafeFormula


def bars_of(formula: "str | SafeFormula") -> tuple[str, str, list[int]]:
    """The sides of a formula, and the places of bars in the right one; bars in parentheses,
    brackets, quotes and backticks are none.
    """
    response, _, predictors = str(formula).partition("~")
    depth, quote, bars = 0, "", []
    for at, sign in enumerate(predictors):
        if quote or sign in "'\"`":
            quote = "" if sign == quote else quote or sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "|" and depth == 0:
            bars.append(at)
    return response, predictors, bars


def has_bar(formula: "str | SafeFormula") -> bool:
    """Whether a formula has a second part."""
    return bool(bars_of(formula)[2])


def split(formula: "str | SafeFormula", second: str) -> tuple[Any, Any]:
    """The formulas of both parts, the second ``"y ~ 1"`` where there is no bar.

    Parameters
    ----------
    formula : str or SafeFormula
    second : str
        See `of_second`.

    Raises
    ------
    FormulaError
        For more than one bar, or a part that is empty.
    """
    response, predictors, bars = bars_of(formula)
    if not bars:
        return formula, like(f"{response}~ 1", formula)
    before, after = predictors[: bars[0]], predictors[bars[0] + 1 :]
    if len(bars) > 1 or not before.strip() or not after.strip():
        raise FormulaError(
            f"formula {str(formula)!r}: write 'y ~ x | z', predictors of the mean before one bar "
            f"and those of {of_second(second)} after it; for no predictor write 1"
        )
    return like(f"{response}~{before}", formula), like(f"{response}~{after}", formula)


def with_second(
    formula: "str | SafeFormula", name: str, second: "str | SafeFormula"
) -> "str | SafeFormula":
    """The formula ``"y ~ x | z"`` of ``"y ~ x"`` and of ``"~ z"``, the value of an argument.

    Parameters
    ----------
    formula : str or SafeFormula
    name : str
        Of the argument.
    second : str or SafeFormula

    Raises
    ------
    ArgumentError
        For a bar in `formula`, beside which the argument would be another second part.
    FormulaError
        For a second formula with a left side, without a tilde, or with a bar.
    """
    response, tilde, predictors = str(second).partition("~")
    if not tilde or response.strip() or not predictors.strip() or has_bar(second):
        raise FormulaError(
            f"{name}={str(second)!r} must be a formula without a left side, such as '~ z'; for no "
            "predictor write '~ 1'"
        )
    if has_bar(formula):
        raise ArgumentError(
            f"{name}={str(second)!r}: {str(formula)!r} has predictors after a bar already; leave "
            "one of them out"
        )
    return like(f"{formula} | {predictors.strip()}", formula, second)


class PartsSpec:
    """The recipes of two designs as one, see `DesignSpec`.

    Parameters
    ----------
    formula : str
        As written.
    specs : tuple of DesignSpec
    second : str
        With which names of the second one's columns begin, see `of_second`.
    """

    coding = None  # designs whose factors stay codes are refused

    def __init__(self, formula: str, specs: "tuple[DesignSpec, DesignSpec]", second: str) -> None:
        first, other = specs
        self.formula, self.specs, self.endog_name = formula, specs, first.endog_name
        self.expanded = f"{first.expanded} | {other.expanded.partition('~')[2].strip()}"
        self.first, self.second = len(first.exog_names), second
        self.exog_names = first.exog_names + [second + name for name in other.exog_names]
        moved = {
            second + name: slice(at.start + self.first, at.stop + self.first)
            for name, at in other.term_slices.items()
        }
        self.term_slices = {**first.term_slices, **moved}
        for one in specs:
            if one.coding is not None:
                wide = max(one.term_slices, key=lambda name: width(one.term_slices[name]))
                raise DataError(
                    f"{wide!r} has {width(one.term_slices[wide])} columns, which are too many "
                    "beside a second design: join its rare levels, or leave it out"
                )

    @property
    def has_intercept(self) -> bool:
        """Whether the first design has a column of ones."""
        return self.specs[0].has_intercept

    @property
    def levels(self) -> tuple[Any, ...] | None:
        """Those of the outcome, see `DesignSpec`."""
        return self.specs[0].levels

    @property
    def offset(self) -> Any:
        """The offset in the formula, which belongs to the first linear predictor."""
        return self.specs[0].offset

    @property
    def parts(self) -> tuple[slice, slice]:
        """Columns of each part."""
        return slice(0, self.first), slice(self.first, len(self.exog_names))

    @property
    def columns(self) -> list[str]:
        """Names of the table's columns that the parts need, each once."""
        return list(dict.fromkeys(name for one in self.specs for name in one.columns))

    @property
    def numbers(self) -> tuple[list[tuple[Any, ...]], list[bool]]:
        """Of which numbers each column of both parts is the product; see `DesignSpec.numbers`."""
        first, other = (one.numbers for one in self.specs)
        return first[0] + other[0], first[1] + other[1]

    @property
    def increments(self) -> list[Ints]:
        """See `DesignSpec.increments`; of both parts."""
        first, other = (one.increments for one in self.specs)
        return first + [self.first + columns for columns in other]

    @property
    def blocks_of_levels(self) -> "list[Block]":
        """Blocks of columns that are levels of a factor, of both parts."""
        return [block for one in self.specs for block in one.blocks_of_levels]

    def columns_within(self, sets: Iterable[Set[Any]]) -> list[int]:
        """Return columns of blocks of levels all of whose factors are in one of some sets."""
        first, other = (one.columns_within(sets) for one in self.specs)
        return first + [self.first + j for j in other]

    @property
    def factors(self) -> "tuple[Factor, ...]":
        """Factors of both parts."""
        return tuple(factor for one in self.specs for factor in one.factors)

    def check_new(self, frame: Frame) -> None:
        """Raise an error where new rows lack what a part needs."""
        for one in self.specs:
            one.check_new(frame)

    def matrix(self, data: Any) -> Floats:
        """Return the design of both parts at new rows, NaN where one of them is missing."""
        blocks = (one.matrix(data) for one in self.specs)
        out = np.hstack([self.placed(part, block) for part, block in enumerate(blocks)])
        out[np.isnan(out).any(axis=1)] = np.nan
        return out

    table = matrix

    def placed(self, part: int, block: Array) -> Array:
        """The columns of the design that a part's are, (n, ..)."""
        return block


def without_intercept(spec: "DesignSpec", second: str) -> "DesignSpec":
    """The recipe of a second part whose intercept is fixed at 0; FormulaError for a factor with a
    column for each level, which together are an intercept.
    """
    if not spec.has_intercept and spec.categorical:
        raise FormulaError(
            f"{second[:-1]}: {spec.expanded.partition('~')[2].strip()!r} has a column for each "
            "level of a factor, which are an intercept together, and the data do not tell that of "
            f"{of_second(second)} from the thresholds: leave '0 +' out; its intercept is 0 anyway"
        )
    return spec.without_intercept()


def width(columns: slice) -> int:
    """Number of columns of a slice."""
    return columns.stop - columns.start


@dataclass(frozen=True, eq=False)
class PartsTable(Table):
    """Rows of a formula of two parts; the design is that of both, dense.

    Attributes
    ----------
    parts : tuple of Table
        Of each part.
    """

    spec: Any
    parts: tuple[Any, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns that either part needs."""
        return list(dict.fromkeys(name for one in self.parts for name in one.columns))

    def grouping(self) -> "Crossing | None":
        """Group terms and smooths of both parts: see `groups.crossed`."""
        return crossed(list(zip(self.parts, ("", self.spec.second))))

    def blocks(
        self, dtype: DTypeLike, chunk: int = CHUNK_ROWS, change: Any = None
    ) -> Iterator[tuple[slice, Array]]:
        total = len(self.spec.exog_names)
        dtype = dtype if change is None else np.float64
        step = chunk_rows(total, chunk)
        buffer = np.empty((min(step, len(self.rows)), total), dtype)
        for a in range(0, len(self.rows), step):
            span = slice(a, min(a + step, len(self.rows)))
            out = buffer[: span.stop - a]
            for part, (one, columns) in enumerate(zip(self.spec.specs, self.spec.parts)):
                for inner, block in one.blocks(self.frame, self.rows[span], step, dtype):
                    out[inner, columns] = self.spec.placed(part, block)
            out = out if change is None else change(out, span)
            if not np.isfinite(out).all():
                raise self._infinite(span, out)
            yield span, out


def joined(
    formula: Any, second: str, read: Callable[..., Table], frame: Any, constant: bool = True
) -> PartsTable:
    """The `PartsTable` of a formula, of the rows that are complete in both parts.

    Parameters
    ----------
    formula : str
    second : str
        See `of_second`.
    read : callable
        ``read(formula, **more)`` returns the Table of a formula of one part; `more` may have a
        subset in the place of the user's.
    frame : DataFrame
    constant : bool
        Whether the second part may have an intercept, which is taken out otherwise.
    """
    table = side_by_side(split(formula, second), read, frame)
    one, other = (part.spec for part in table.parts)
    if other.offset is not None:
        raise FormulaError(
            f"formula {str(formula)!r}: {other.offset.label} after the bar would belong to "
            f"{of_second(second)}; an offset is of the mean: write it before the bar, into the "
            "first formula"
        )
    if not constant:
        other = without_intercept(other, second)
    return replace(table, spec=PartsSpec(formula, (one, other), second))


def side_by_side(parts: Iterable[Any], read: Callable[..., Table], frame: Any) -> PartsTable:
    """The rows that are complete in both parts, without a recipe of both.

    Parameters
    ----------
    parts : pair
    read : callable
        ``read(part, **more)``, see `joined`.
    frame : DataFrame
    """
    tables = [read(part) for part in parts]
    first, other = tables
    if not np.array_equal(first.rows, other.rows):
        kept = np.zeros(len(frame), dtype=bool)
        kept[np.intersect1d(first.rows, other.rows)] = True
        tables = [read(part, subset=pd.Series(kept, frame.index)) for part in parts]
    lost = first.dropped + len(first.rows) - len(tables[0].rows)
    fields = [name for name in Table.__dataclass_fields__ if name not in ("notes", "spec")]
    known = {name: getattr(tables[0], name) for name in fields}
    return PartsTable(
        **{**known, "dropped": lost, "left_out": first.left_out | other.left_out},
        spec=None,
        parts=tuple(tables),
        notes=tuple({str(one): one for one in (*first.notes, *other.notes)}.values()),
    )
