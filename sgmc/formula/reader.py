"""The formula front end: ``"y ~ ."`` and a data frame to a response, weights and a design matrix.

Patsy does the algebra of terms and finds contrasts and stateful transforms; the matrix is built
here, in chunks and straight into its place, from pieces that can be pickled.
"""

import numpy as np
import pandas as pd
import patsy

from sgmc.arguments import values
from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.tables import CHUNK_ROWS, chunk_rows
from sgmc.errors import (
    ColumnsLeftOutWarning,
    DataError,
    OutOfMemoryError,
    caller,
    warn,
)
from sgmc.formula import dot
from sgmc.formula.chunks import COLUMN, Chunk, Gaps, PatsyChunk, evaluate
from sgmc.formula.columns import is_missing, is_plain, kind, labels_of, levels_of, types_of
from sgmc.formula.design import DesignSpec
from sgmc.formula.frames import as_frame
from sgmc.formula.labels import cure_of_text, refuse_no_factor
from sgmc.formula.outcomes import OUTCOMES, counts
from sgmc.formula.subsets import aligned, subset_columns, subset_rows
from sgmc.formula.table import Table


def caller_scope():
    """The names of the nearest caller outside sgmc, for `read`:
    ``read(formula, data, scope=caller_scope())``.
    """
    frame = caller()
    return {**frame.f_globals, **frame.f_locals}


def left_out_warning(left_out):
    """The warning about columns (name -> reason) that the dot does not stand for."""
    listed = ", ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
    return ColumnsLeftOutWarning(
        f"the dot leaves out {listed}.",
        "Name a column in the formula to use it, or to take it out.",
    )


def read(
    formula,
    data,
    *,
    weights=None,
    offset=None,
    exposure=None,
    se=None,
    strata=None,
    subset=None,
    missing="drop",
    outcome="binary",
    scope=None,
):
    """Read a formula against data: the response,
    the rows to use and the specification of the design.

    Parameters
    ----------
    formula : str
        ``"response ~ predictors"`` in patsy's grammar with R's dot, ``^`` and backticks; the
        response is one expression.  Where it is coded 0/1, a sum of two columns,
        ``"successes + failures ~ x"``, is counts of each; ``I(a + b)`` is arithmetic.
    data : pandas.DataFrame, dict of arrays, or a polars or pyarrow table
        Never changed.
    weights, offset, exposure, se : str or array_like of length n, optional
        A column, or one number a row; a Series must have the index of `data`.
    strata : str or array_like of length n, optional
        A column, or one label a row; a column stays a predictor.
    subset : str, array_like of bool or callable, optional
        A bool column, an expression for `DataFrame.eval`, a mask, or a function of the data that
        returns a mask.
    missing : {"drop", "raise"}
        What to do with rows that lack anything needed.
    outcome : {"binary", "numeric", "category"}
        Whether the response is coded 0/1, success being the second level, or taken as a number.
    scope : dict, optional
        Names of the user, of which functions and modules may be used; see `caller_scope`.

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
    """
    one_of("missing", missing, ("drop", "raise"))
    one_of("outcome", outcome, OUTCOMES)
    frame = as_frame(data)
    if frame.empty:
        raise DataError(f"the data are empty: {len(frame)} rows, {frame.shape[1]} columns")
    parsed = dot.parse(formula, frame.columns, scope)
    given = dict(weights=weights, offset=offset, exposure=exposure, se=se, strata=strata)
    vectors = {
        argument: vector_of(argument, value, frame)
        for argument, value in given.items()
        if value is not None
    }
    used_elsewhere = [
        value for name, value in given.items() if isinstance(value, str) and name != "strata"
    ]
    used_elsewhere += subset_columns(subset, frame)
    reader = _Reader(parsed, frame, vectors, subset_rows(subset, frame), outcome)
    return reader.table(used_elsewhere, missing)


class _Reader:
    """One call of `read`: finds the terms, the rows and the design of a formula."""

    def __init__(self, parsed, frame, vectors, rows, outcome):
        self.parsed = parsed
        self.frame = frame
        self.vectors = vectors
        self.rows = rows
        self.response_columns = list(parsed.names.inputs(parsed.response).values())
        self.counted = parsed.summands if outcome == "binary" else ()
        self.outcome = counts if self.counted else OUTCOMES[outcome]
        self.group_columns = [name for bar in parsed.bars for name in bar.columns]
        self.effects = [self._effects(bar) for bar in parsed.bars]
        self.curves = [self._curve(one) for one in parsed.smooths]

    def table(self, used_elsewhere, on_missing):
        """The finished table."""
        terms, gaps, left_out = self._choose_columns(used_elsewhere)
        if left_out:
            warn(left_out_warning(left_out))
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
        vectors = dict.fromkeys(VALID) | {
            argument: VALID[argument](argument, vector[rows])
            for argument, vector in self.vectors.items()
        }
        return Table(
            spec,
            y,
            trials,
            **vectors,
            rows=rows,
            dropped=int(gaps.missing.sum()),
            left_out=left_out,
            frame=self.frame,
            bars=self.parsed.bars,
            effects=tuple(effects),
            smooths=tuple(self._smooths(specs[1 + len(self.effects) :])),
        )

    def _choose_columns(self, used_elsewhere):
        """Terms, rows that are complete in the columns of these terms,
        and what the dot leaves out.
        """
        taken = {*self.response_columns, *self.group_columns, *used_elsewhere}
        candidates = (
            [name for name in self.frame.columns if name not in taken]
            if self.parsed.has_dot
            else []
        )
        others, left_out = dot.columns_for_dot(self.frame, candidates, self.rows)
        terms = self._terms(others)
        gaps = self._gaps(terms)
        if others and gaps.counts and len(gaps.complete()):
            others, constant = dot.columns_for_dot(self.frame, others, gaps.complete())
            # among the complete rows only; without these columns more rows are complete
            if constant:
                left_out |= constant
                terms = self._terms(others)
                gaps = self._gaps(terms)
        named = self.parsed.names.inputs(self.parsed.predictors).values()
        return terms, gaps, {name: reason for name, reason in left_out.items() if name not in named}

    def _terms(self, others):
        """Terms of the fixed part."""
        return self._looked_up(self.parsed.terms(others))

    def _effects(self, bar):
        """Terms left of the bar of a group term."""
        terms = self._looked_up(self.parsed.terms_of(bar.effects))
        if not terms:
            raise self.parsed.error(f"({bar.text}) has no effect: write (1 | g), or (0 + x | g)")
        if set(bar.columns) & {*self.response_columns, *self.counted}:
            raise self.parsed.error(f"({bar.text}): the response is a factor of groups too")
        return terms

    def _curve(self, call):
        """Terms of the covariates of a smooth, and of what it is multiplied by."""
        by = [] if call.by is None else [f"0 + {call.by}"]
        return [self._looked_up(self.parsed.terms_of(code)) for code in (call.code, *by)]

    def _smooths(self, specs):
        """A `SmoothCall` with its designs each; FormulaError where a covariate is no number."""
        for call, terms in zip(self.parsed.smooths, self.curves):
            own, specs = specs[: len(terms)], specs[len(terms) :]
            if len(own[0].exog_names) != len(call.covariates) or own[0].categorical:
                raise self.parsed.error(
                    f"{call.text}: smooths are of numbers, one column each; a factor is a "
                    "predictor, or a group term such as (1 | g)"
                )
            yield call, *own, *[None] * (2 - len(own))

    @property
    def _beside(self):
        """Lists of terms besides those of the fixed part."""
        return [*self.effects, *(terms for one in self.curves for terms in one)]

    def _looked_up(self, terms):
        """Terms whose factors are columns by name, or expressions."""
        names = self.parsed.names

        def factor(written):
            inputs = names.inputs(written.code)
            if written.code not in inputs:
                return written
            if written.code == self.parsed.response or inputs[written.code] in self.counted:
                raise self.parsed.error(f"the response {written.code} is a predictor too")
            return patsy.LookupFactor(COLUMN + written.code, origin=written.origin)

        return [patsy.Term([factor(written) for written in term.factors]) for term in terms]

    def _gaps(self, terms):
        gaps = Gaps(len(self.frame), self.rows)
        used = _factors([*terms, *(term for one in self._beside for term in one)])
        inputs = self.parsed.names.inputs(" ".join(factor.name() for factor in used))
        for name in dict.fromkeys([*self.response_columns, *inputs.values(), *self.group_columns]):
            gaps.add(name, slice(None), is_missing(self.frame[name]))
        for argument, vector in self.vectors.items():
            gaps.add(argument, slice(None), np.isnan(vector))
        return gaps

    def _response(self, gaps):
        """The response in the rows complete so far, indexed by their positions; its own gaps are
        added.  Counts are a frame.
        """
        rows = gaps.complete()
        label = self.parsed.names.label(self.parsed.response)
        columns = Chunk(self.frame, rows)
        if self.counted:
            return pd.DataFrame({name: columns[name] for name in self.counted}).set_axis(rows)
        names = {
            place: columns[name]
            for place, name in self.parsed.names.inputs(self.parsed.response).items()
        }
        value = evaluate(self.parsed.response, self.parsed.functions, names, label)
        if np.shape(value) != (len(rows),):
            raise DataError(
                f"the response {label!r} must be one column of {len(rows)} values, its shape is "
                f"{np.shape(value)}"
            )
        response = pd.Series(value).set_axis(rows)
        gaps.add(label, rows, is_missing(response))
        gaps.check("drop")
        return response

    def _fit(self, terms, gaps):
        """The designs of the complete rows, of the fixed part, each group term and smooth."""
        return [self._design(one, gaps.complete()) for one in (terms, *self._beside)]

    def _design(self, terms, rows):
        """A design: levels, contrasts and stateful transforms."""
        factors = _factors(terms)
        inputs = self.parsed.names.inputs(" ".join(factor.name() for factor in factors))
        whole = [factor.name() for factor in factors if isinstance(factor, patsy.LookupFactor)]
        levels = {key: self._levels(inputs[key.removeprefix(COLUMN)], rows) for key in whole}
        chunk = chunk_rows(len(factors), CHUNK_ROWS)

        def chunks():
            for start in range(0, len(rows), chunk):
                yield PatsyChunk(Chunk(self.frame, rows[start : start + chunk]), inputs, levels)

        scope = patsy.EvalEnvironment([self.parsed.functions])
        try:
            with np.errstate(all="ignore"):
                info = patsy.design_matrix_builders([terms], chunks, scope)[0]
        except patsy.PatsyError as error:
            raise self.parsed.error(error.message) from error
        except DataError:
            raise
        except MemoryError as error:
            raise OutOfMemoryError(f"memory is exhausted: {largest(levels, inputs)}") from error
        except Exception as error:  # whatever a stateful transform raises
            raise self.parsed.error(f"{type(error).__name__}: {error}") from error
        return DesignSpec(self.parsed, info, levels)

    def _levels(self, name, rows):
        """Levels of a column that is a factor by itself, None for numbers."""
        column = self.frame[name]
        if is_plain(column):
            return None
        column = column.iloc[rows]
        column_kind = kind(column)
        if column_kind == "date":
            raise self.parsed.error(
                f"column {name!r} holds dates: use a number of it, e.g. `{name}`.dt.year"
            )
        if column_kind in ("complex", "other"):
            held = types_of(column) if column.dtype == object else column.dtype
            raise self.parsed.error(
                f"column {name!r} is no predictor: it holds {held}, neither real numbers nor text; "
                "convert it"
            )
        if column_kind == "number":
            return None
        levels = levels_of(column)
        refuse_no_factor(column, levels)
        return levels


def largest(levels, inputs):
    """The factor with most levels, and what to do: a clause."""
    counts = {inputs[key.removeprefix(COLUMN)]: len(known or ()) for key, known in levels.items()}
    name = max(counts, key=counts.get, default=None)
    if not name or not counts[name]:
        return "of the formula's terms; use fewer"
    return f"column {name!r} has {counts[name]} levels; join rare ones, or leave it out"


def _factors(terms):
    return list(dict.fromkeys(factor for term in terms for factor in term.factors))


def vector_of(argument, value, frame):
    """Weights, offset, exposure, se or numbered strata as float64, NaN where missing."""
    if isinstance(value, str):
        if value not in frame:
            raise DataError(
                f"{argument}={value!r} is not a column of the "
                f"data{nearest(value, frame.columns, 'columns are')}"
            )
        value = frame[value]
    series = aligned(argument, value, frame)
    if argument == "strata":
        return labels_of(argument, series)
    if kind(series) not in ("number", "bool"):
        raise DataError(f"{argument} must be numeric, not {series.dtype}{cure_of_text(series)}")
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


VALID = {
    "weights": values.weights,
    "offset": values.finite,
    "exposure": values.exposures,
    "se": values.standard_errors,
    "strata": values.finite,
}
