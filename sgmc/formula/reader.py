"""The formula front end: ``"y ~ ."`` and a data frame to a response, weights and a design matrix.

Patsy does the algebra of terms and finds contrasts and stateful transforms; the matrix is built
here, in chunks and straight into its place, from pieces that can be pickled.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.data import values
from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.types import Floats, Frame, Ints
from sgmc.core.system import deadline
from sgmc.errors import DataError, FormulaError, SGMCError, caller, warn
from sgmc.formula.data.chunks import Chunk, Gaps
from sgmc.formula.data.columns import (
    clusters_of,
    is_missing,
    is_plain,
    kind,
    labels_of,
    levels_of,
    types_of,
)
from sgmc.formula.data.dot_columns import columns_for_dot
from sgmc.formula.data.frames import as_frame, no_column
from sgmc.formula.data.labels import cure_of_text
from sgmc.formula.designs.offsets import Offset
from sgmc.formula.evaluation.bounds import refuse_beyond_memory
from sgmc.formula.outcomes import OUTCOMES
from sgmc.formula.subsets import aligned, spaced, subset_columns, subset_rows
from sgmc.formula.syntax import parser
from sgmc.formula.table import Table
from sgmc.formula.terms import ParsedTerms

if TYPE_CHECKING:
    from sgmc.formula.designs.design import DesignSpec
    from sgmc.formula.evaluation.safe import SafeFormula
    from sgmc.formula.syntax.parser import Parsed

Error = TypeVar("Error", bound=SGMCError)


def caller_scope() -> dict[str, Any]:
    """The names of the nearest caller outside sgmc, for `read`:
    ``read(formula, data, scope=caller_scope())``.
    """
    frame = caller()
    return {**frame.f_globals, **frame.f_locals}


def read(
    formula: "str | SafeFormula",
    data: Any,
    *,
    weights: Any = None,
    offset: Any = None,
    exposure: Any = None,
    se: Any = None,
    strata: Any = None,
    groups: Any = None,
    subset: Any = None,
    missing: str = "drop",
    outcome: str = "binary",
    scope: dict[str, Any] | None = None,
    most: int | None = None,
    standing_for: int | None = None,
) -> Table:
    """Read a formula against data: the response,
    the rows to use and the specification of the design.

    Parameters
    ----------
    formula : str
        ``"response ~ predictors"`` in patsy's grammar with R's dot, ``^`` and backticks; the
        response is one expression.  Where it is coded 0/1, a sum of two columns,
        ``"successes + failures ~ x"``, is counts of each, as is ``cbind(a, b)`` of any two
        expressions; ``I(a + b)`` is arithmetic.
    data : pandas.DataFrame, dict of arrays, or a polars or pyarrow table
        Never changed.
    weights, offset, exposure, se : str or array_like of length n, optional
        A column, or one number a row; a Series must have the index of `data`.
    strata : str or array_like of length n, optional
        A column, or one label a row; a column stays a predictor.
    groups : str or array_like of length n, optional
        A column, or one label a row, of clusters.
    subset : str, array_like of bool or callable, optional
        A bool column, an expression for `DataFrame.eval`, a mask, or a function of the data that
        returns a mask.
    missing : {"drop", "raise"}
        What to do with rows that lack anything needed.
    outcome : {"binary", "numeric", "category", "ordered", "survival"}
        Whether the response is coded 0/1, success being the second level, taken as a number, or
        times that may be censored.
    scope : dict, optional
        Names of the user, of which functions and modules may be used; see `caller_scope`.
    most : int, optional
        Use so many of the rows, evenly spaced, where there are more.
    standing_for : int, optional
        How many rows these have been chosen from, to show what all of them hold.

    Returns
    -------
    Table

    Raises
    ------
    FormulaError
        If the formula cannot be read or names what is not there.
    DataError
        If the data are empty, of a wrong type or length, infinite, or (with ``missing="raise"``)
        incomplete.
    ArgumentError
        If `missing` or `outcome` is unknown.
    OutOfTime
        Where a time limit ends before the rows are known.
    """
    one_of("missing", missing, ("drop", "raise"))
    one_of("outcome", outcome, OUTCOMES)
    frame = as_frame(data)
    if frame.empty:
        raise DataError(f"the data are empty: {len(frame)} rows, {frame.shape[1]} columns")
    try:
        parsed = parser.parse(formula, frame.columns, scope)
    except FormulaError as error:
        raise with_index(error, str(formula), frame) from None
    given = dict(weights=weights, offset=offset, exposure=exposure, se=se, strata=strata)
    given["groups"] = groups
    vectors = {
        argument: numbers_of(argument, value, frame)
        for argument, value in given.items()
        if value is not None
    }
    used_elsewhere = [
        value for name, value in given.items() if isinstance(value, str) and name != "strata"
    ]
    own = Offset(parsed) if parsed.offset else None
    if own is not None:
        own.settle(frame)
        used_elsewhere += own.columns
    used_elsewhere += subset_columns(subset, frame)
    rows = spaced(subset_rows(subset, frame), len(frame), most)
    reader = Reader(parsed, frame, vectors, rows, outcome, own)
    reader.standing_for = standing_for
    return reader.table(used_elsewhere, missing)


class Reader(ParsedTerms):
    """One call of `read`: finds the terms, the rows and the design of a formula; `own` is the
    `Offset` in it, or None.
    """

    standing_for: int | None = None

    def __init__(
        self,
        parsed: "Parsed",
        frame: Frame,
        vectors: dict[str, Any],
        rows: Any,
        outcome: str,
        own: Offset | None,
    ) -> None:
        super().__init__(parsed, outcome)
        self.frame, self.vectors, self.rows, self.own = frame, vectors, rows, own
        # what of the offset the formula does not bring to other rows
        self.given_offset = None if own is None else vectors.get("offset")

    def table(self, used_elsewhere: Iterable[str], on_missing: str) -> Table:
        """The finished table."""
        terms, gaps, left_out = self._choose_columns(used_elsewhere)
        gaps.check("drop")
        response = self._response(gaps)
        specs = self._fit(terms, gaps)
        before = len(gaps.complete())
        for one in specs:
            one.find_gaps(self.frame, gaps)
        gaps.check(on_missing)
        rows = gaps.complete()
        if len(rows) < before:  # levels and transforms follow from the rows that are left
            specs = self._fit(terms, gaps)
        spec, effects = specs[0], specs[1 : 1 + len(self.effects)]
        if len(rows) < len(response):
            response = response[~gaps.missing[response.index]]
        y, trials, spec.levels = self.outcome(response, spec.endog_name)
        del response
        if self.own is not None:
            given = self.vectors.get("offset", 0.0)
            self.vectors["offset"] = self.own.of(self.frame) + given
        notes = self.notes(left_out, gaps.undefined)
        for note in notes:
            warn(note)
        vectors: dict[str, Any] = dict.fromkeys(VALID) | {
            argument: VALID[argument](argument, vector[rows])
            for argument, vector in self.vectors.items()
        }
        return Table(
            spec,
            y,
            trials,
            **vectors,
            rows=range(len(rows)) if len(rows) == len(self.frame) else rows,
            dropped=int(gaps.missing.sum()),
            left_out=left_out,
            notes=tuple(notes),
            frame=self.frame,
            bars=self.parsed.bars,
            effects=tuple(effects),
            smooths=tuple(self.smooths(specs[1 + len(self.effects) :])),
            given_offset=None if self.given_offset is None else self.given_offset[rows],
        )

    def _choose_columns(
        self, used_elsewhere: Iterable[str]
    ) -> tuple[list[Any], Gaps, dict[str, str]]:
        """Terms, rows that are complete in the columns of these terms,
        and what the dot leaves out.
        """
        taken = {*self.response_columns, *self.group_columns, *used_elsewhere}
        candidates = (
            [name for name in self.frame.columns if name not in taken]
            if self.parsed.has_dot
            else []
        )
        others, left_out = columns_for_dot(self.frame, candidates, self.rows)
        terms = self.fixed(others)
        gaps = self._gaps(terms)
        if others and gaps.counts and len(gaps.complete()):
            others, constant = columns_for_dot(self.frame, others, gaps.complete())
            # among the complete rows only; without these columns more rows are complete
            if constant:
                left_out |= constant
                terms = self.fixed(others)
                gaps = self._gaps(terms)
        named = self.parsed.names.inputs(self.parsed.predictors).values()
        return terms, gaps, {name: reason for name, reason in left_out.items() if name not in named}

    def _gaps(self, terms: list[Any]) -> Gaps:
        gaps = Gaps(len(self.frame), self.rows, counted=self.standing_for is None)
        inputs = self.inputs(terms).values()
        beside = self.own.columns if self.own else []
        for name in dict.fromkeys([*self.complete, *inputs, *self.group_columns, *beside]):
            deadline.check()
            gaps.add(name, slice(None), is_missing(self.frame[name]))
        self.refuse_filled(terms, gaps.counts)
        for argument, vector in self.vectors.items():
            gaps.add(argument, slice(None), np.isnan(vector))
        return gaps

    def _response(self, gaps: Gaps) -> Any:
        """The response in the rows complete so far, indexed by their positions; its own gaps are
        added.  Counts are a frame.
        """
        rows = gaps.complete()
        response = self.response(Chunk(self.frame, rows)).set_axis(rows)
        if self.counted:
            return response
        gaps.add_values(self.left, self.frame, rows, response)
        gaps.check("drop")
        return response

    def _fit(self, terms: list[Any], gaps: Gaps) -> "list[DesignSpec]":
        """The designs of the complete rows, of the fixed part, each group term and smooth."""
        rows, found = gaps.complete(), []
        for one in (terms, *self.beside):
            refuse_beyond_memory(one, len(rows), self.parsed.names)
            spec = self.design(one, partial(self._levels, rows=rows), partial(self._chunks, rows))
            spec.settle(self.frame, rows)
            spec.offset = self.own
            found.append(spec)
        return found

    def _chunks(self, rows: Ints, columns: int) -> Iterator[Chunk]:
        """The rows in chunks, for factors of so many columns."""
        size = chunk_rows(columns, CHUNK_ROWS)
        for start in range(0, len(rows), size):
            deadline.check()
            yield Chunk(self.frame, rows[start : start + size])

    def _levels(self, name: str, rows: Ints) -> tuple[Any, ...] | None:
        """Levels of a column that is a factor by itself, None for numbers."""
        column = self.frame[name]
        if is_plain(column):
            return None
        deadline.check()
        column = column.iloc[rows]
        held = types_of(column) if column.dtype == object else column.dtype
        return self.factor_levels(
            name,
            kind(column),
            held,
            lambda: (self.standing_for or len(column), levels_of(column)),
        )


def with_index(error: Error, text: str, frame: Frame) -> Error:
    """An error about a name that is no column; where the index has it, with how it becomes one."""
    levels = [one for one in frame.index.names if isinstance(one, str) and one not in frame.columns]
    for name in levels:
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            hint = f"{name!r} is in the index: give df.reset_index(), which has it as a column"
            return type(error)(f"{error}; {hint}")
    return error


def numbers_of(argument: str, value: Any, frame: Frame) -> Floats:
    """Weights, offset, exposure, se or numbered labels as float64, NaN where missing."""
    if isinstance(value, str):
        if value not in frame:
            if argument == "se" and value.upper().startswith("HC"):  # of sandwiches
                raise DataError(
                    f"se={value!r}: se= are known standard errors of the outcomes; use "
                    "cov_type='HC3', or 'robust' (HC0)"
                )
            raise with_index(no_column(argument, value, frame.columns), value, frame)
        value = frame[value]
    series = aligned(argument, value, frame)
    if argument == "strata":
        return labels_of(argument, series)
    if argument == "groups":
        return clusters_of(series)
    if kind(series) not in ("number", "bool"):
        raise DataError(f"{argument} must be numeric, not {series.dtype}{cure_of_text(series)}")
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


VALID = {
    "weights": values.weights,
    "offset": values.finite,
    "exposure": values.exposures,
    "se": values.standard_errors,
    "strata": values.finite,
    "groups": values.finite,
}
