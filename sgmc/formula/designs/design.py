"""The fitted design: built in chunks, straight into its place, dense or with factors as codes; can
be pickled.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from sgmc.arguments.choices import nearest
from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.types import Array, Floats, Frame, Ints
from sgmc.core.system import deadline
from sgmc.errors import FormulaError, warn
from sgmc.formula.data.chunks import Chunk, Gaps
from sgmc.formula.data.columns import is_missing
from sgmc.formula.data.frames import as_frame
from sgmc.formula.data.undefined import refuse_filled
from sgmc.formula.designs import across
from sgmc.formula.designs.blocks import blocks_of
from sgmc.formula.designs.coding import Coding
from sgmc.formula.designs.factors import Factor
from sgmc.formula.designs.offsets import Offset

if TYPE_CHECKING:
    from sgmc.formula.designs.blocks import Block
    from sgmc.formula.designs.coded import CodedTable
    from sgmc.formula.syntax.parser import Parsed


CODED_COLUMNS = 32  # columns of factors from which a design is not made dense


class DesignSpec:
    """How the columns of a design are made from those of the data;
    can be pickled and holds no data.

    Parameters
    ----------
    parsed : Parsed
    info : patsy.DesignInfo
        The fitted design, its factors named by code.
    levels : dict
        Of patsy's factors that are columns of categories, all their levels.

    Attributes
    ----------
    formula, expanded : str
        As written, and with the dot written out.
    endog_name : str
    exog_names : list of str
        One label a column, e.g. ``"g[T.b]"``.
    term_slices : dict
        Term -> slice of columns.
    levels : tuple or None
        Labels of failure and success; None for a numeric response.
    offset : Offset or None
        What the formula adds to the linear predictor, without a coefficient.
    paired : bool
        Whether the response is ``cbind(successes, failures)``.
    """

    offset: Offset | None = None
    paired = False  # of designs that were saved before there were any

    def __init__(self, parsed: "Parsed", info: Any, levels: Mapping[str, Any]) -> None:
        self.formula = parsed.formula
        self.endog_name = parsed.names.label(parsed.response)
        self.levels: tuple[Any, ...] | None = None
        self.offset = Offset(parsed) if parsed.offset else None
        self.paired = bool(parsed.pair)
        factors = {
            factor: Factor(fitted, parsed, levels.get(factor.name()))
            for factor, fitted in info.factor_infos.items()
        }
        self._factors = list(factors.values())
        self._blocks = list(blocks_of(info, factors))
        self._name(clean=True)
        if len(set(self.exog_names)) < len(self.exog_names) or len(self.term_slices) < len(
            info.term_codings
        ):
            self._name(clean=False)  # a column called "a:b" beside the interaction a:b
        terms = [
            ":".join(factors[f].quoted for f in term.factors)
            for term in info.term_codings
            if term.factors
        ]
        predictors = ["1" if self.has_intercept else "0", *terms]
        predictors += dict.fromkeys(f"({bar.text})" for bar in parsed.bars)
        predictors += [one.text for one in parsed.smooths]
        predictors += [self.offset.label] if self.offset else []
        self.expanded = f"{parsed.names.quoted(parsed.response)} ~ {' + '.join(predictors)}"

    def _name(self, clean: bool) -> None:
        self.exog_names = [label for block in self._blocks for label in block.labels(clean)]
        self.term_slices: dict[Any, Any] = {}
        for block in self._blocks:
            name = block.term_name(clean)
            start = (
                self.term_slices[name].start if name in self.term_slices else block.columns.start
            )
            self.term_slices[name] = slice(start, block.columns.stop)

    def without_intercept(self) -> "DesignSpec":
        """The same without its column of ones, which factors are coded against all the same."""
        if not self.has_intercept:
            return self
        out = copy(self)
        vars(out).pop("coding", None)  # which counts the columns
        kept = [block for block in self._blocks if block.factors]
        starts = np.cumsum([0, *(one.columns.stop - one.columns.start for one in kept)]).tolist()
        places = [slice(*ends) for ends in itertools.pairwise(starts)]
        out._blocks = [replace(one, columns=place) for one, place in zip(kept, places)]
        out._name(clean=True)
        if len(set(out.exog_names)) < len(out.exog_names):
            out._name(clean=False)
        return out

    @property
    def has_intercept(self) -> bool:
        """Whether the design has a column of ones."""
        return any(not block.factors for block in self._blocks)

    @property
    def categorical(self) -> bool:
        """Whether it has a factor's columns."""
        return bool(self.blocks_with_levels)

    @property
    def blocks_with_levels(self) -> "list[Block]":
        """Its blocks of factors that are coded, alone or times numbers."""
        return [block for block in self._blocks if block.categorical]

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Its factors, each a `Factor`."""
        return tuple(self._factors)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the data that the design needs."""
        used = [*self._factors, *([self.offset] if self.offset else [])]
        return list(dict.fromkeys(name for factor in used for name in factor.inputs.values()))

    @property
    def expressions(self) -> list[Factor]:
        """The factors that are no columns by themselves."""
        return [factor for factor in self._factors if not factor.is_column]

    @property
    def numbers(self) -> tuple[list[tuple[Any, ...]], list[bool]]:
        """Of which numbers each column is the product, contrasts aside: a list (d,) of tuples of
        (factor, its column); and whether a column is a single number and nothing else, a list (d,).
        """
        members: list[tuple[Any, ...]] = [()] * len(self.exog_names)
        alone = [False] * len(self.exog_names)
        for block in self._blocks:
            for choice, columns in block.choices():
                for j in columns:
                    members[j] = tuple(zip(block.numeric, choice))
                    alone[j] = len(block.factors) == len(members[j]) == 1
        return members, alone

    @property
    def increments(self) -> list[Ints]:
        """Columns of the increments of each monotonic effect."""
        return [columns for block in self._blocks for columns in block.increments()]

    @property
    def blocks_of_levels(self) -> "list[Block]":
        """Its blocks of factors that are coded, and nothing else."""
        return [block for block in self._blocks if block.categorical and not block.numeric]

    def columns_within(self, sets: Iterable[Set[Any]]) -> list[int]:
        """Columns of blocks of levels all of whose factors are in one of some sets."""
        return [
            j
            for block in self.blocks_of_levels
            if any(set(block.factors) <= one for one in sets)
            for j in range(block.columns.start, block.columns.stop)
        ]

    @property
    def readings(self) -> dict[tuple[Any, ...], Floats]:
        """What a row of the design is multiplied by to give numbers in it: weights (d,) by product
        of numbers, as in `numbers`; those that no term has for all levels are left out.
        """
        found: dict[Any, Any] = {}
        for block in self._blocks:
            weights = block.whole()
            for choice, columns in block.choices() if weights is not None else ():
                row = np.zeros(len(self.exog_names))
                row[columns] = weights
                found.setdefault(tuple(zip(block.numeric, choice)), row)
        return found

    @cached_property
    def coding(self) -> Coding | None:
        """How factors stay codes, or None where all of the design is better dense."""
        coded = sum(
            block.columns.stop - block.columns.start for block in self._blocks if block.categorical
        )
        return Coding(self._blocks, len(self.exog_names)) if coded >= CODED_COLUMNS else None

    def matrix(self, data: Any) -> Floats:
        """The design of new data.

        Parameters
        ----------
        data : pandas.DataFrame, dict of arrays, or a polars or pyarrow table

        Returns
        -------
        ndarray of float64, shape (n, d)
            Rows with anything missing are NaN throughout.

        Raises
        ------
        FormulaError
            If a column is absent, of another type, or has a level not seen before.
        """
        frame, rows = self.complete(data)
        out = np.full((len(frame), len(self.exog_names)), np.nan)
        for span, block in self.blocks(frame, rows):
            out[rows[span]] = block
        return out

    def table(self, data: Any) -> "Floats | CodedTable":
        """The same, never made dense where the fit's was not: an array or a `CodedTable`."""
        if self.coding is None:
            return self.matrix(data)
        frame, rows = self.complete(data)
        out = self.coding.empty(len(frame))
        for span, values in self.values(frame, rows):
            self.coding.write(out, rows[span], values)
        return out

    def complete(self, data: Any) -> tuple[Frame, Ints]:
        """A frame of new data, and the places of its complete rows."""
        frame = as_frame(data)
        self.check_new(frame)
        gaps = Gaps(len(frame))
        for name in self.columns:
            gaps.add(name, slice(None), is_missing(frame[name]))
        refuse_filled(self.expressions, gaps.counts)
        self.find_gaps(frame, gaps)
        for found in gaps.undefined.values():
            warn(found.new_warning())
        return frame, gaps.complete()

    def settle(self, frame: Frame, rows: Ints) -> None:
        """Make expressions of several rows those of one, from the rows of the fit; see `across`."""
        for factor in self.expressions:
            across.settle(factor, frame, rows, len(self.exog_names))

    def check_new(self, frame: Frame) -> None:
        """FormulaError where new rows lack a column that the design needs, or the design has an
        expression that needs all rows.
        """
        for name in self.columns:
            if name not in frame:
                raise FormulaError(
                    f"the data have no column {name!r}, which the design "
                    f"needs{nearest(name, frame.columns, 'its columns are')}"
                )
        across.refuse_across([*self._factors, *([self.offset] if self.offset else [])])

    def find_gaps(self, frame: Frame, gaps: Gaps) -> None:
        """Add the rows where an expression such as ``log(x)`` is missing although its columns
        are not.
        """
        expressions, rows = self.expressions, gaps.complete()
        if self.offset is not None and not self.offset.is_column:
            expressions = [*expressions, self.offset]
        step = chunk_rows(numbers_in(expressions), CHUNK_ROWS)
        for start in range(0, len(rows) if expressions else 0, step):
            chunk = rows[start : start + step]
            columns = Chunk(frame, chunk)
            for factor in expressions:
                deadline.check()
                gaps.add_values(factor, frame, chunk, factor.evaluate(columns))

    def values(
        self, frame: Frame, rows: Any, chunk: int = CHUNK_ROWS, of: Iterable[Any] | None = None
    ) -> Iterator[tuple[slice, dict[Any, Array]]]:
        """Pairs of a slice of `rows` and the values of the factors there, of all by default."""
        wanted = self._factors if of is None else of
        chunk = chunk_rows(numbers_in(wanted), chunk)
        held = {name: frame[name] for name in self.columns}
        for start in range(0, len(rows), chunk):
            span = slice(start, min(start + chunk, len(rows)))
            columns = Chunk(held, rows[span])
            yield span, {factor: factor.values(columns) for factor in wanted}

    def product(self, values: Mapping[Any, Array], rows: int) -> Floats:
        """Rows of the design from values of the factors, as an array of float64."""
        out = np.empty((rows, len(self.exog_names)))
        for block in self._blocks:
            out[:, block.columns] = block.product(values)
        return out

    def blocks(
        self, frame: Frame, rows: Any, chunk: int = CHUNK_ROWS, dtype: DTypeLike = np.float64
    ) -> Iterator[tuple[slice, Array]]:
        """Pairs of a slice of `rows` and their part of the design;
        the latter is overwritten by the next.
        """
        width = len(self.exog_names)
        chunk = chunk_rows(width, chunk)
        buffer = np.empty((min(chunk, len(rows)), width), dtype)
        for span, values in self.values(frame, rows, chunk):
            part = buffer[: span.stop - span.start]
            with np.errstate(over="ignore"):  # infinite in float32: for the caller to report
                for block in self._blocks:
                    part[:, block.columns] = block.product(values)
            yield span, part


def numbers_in(factors: Iterable[Any]) -> int:
    """How many numbers a row has of some factors together, a code counting as one."""
    return sum(factor.width or 1 for factor in factors)
