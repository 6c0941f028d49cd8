"""The formula front end: ``"y ~ ."`` and a data frame to a response, weights and a design matrix.

Patsy does the algebra of terms and finds contrasts and stateful transforms; the matrix is built here, in chunks and straight
into its place, from pieces that can be pickled.
"""
import itertools
import sys
import types
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np
import pandas as pd
import patsy

from sgmc import _dot
from sgmc._dot import codes_of, is_missing, kind, levels_of, nearest, plain
from sgmc.errors import ArgumentError, ColumnsLeftOutWarning, DataError, FormulaError

INTERCEPT = "Intercept"
_COLUMN = "column "  # marks, for patsy, a factor that is a column by itself
_CHUNK = 65536
_CHUNK_NUMBERS = 2**21  # 16 MB: a chunk of a wide design has fewer rows


def caller_scope():
    """The names of the nearest caller outside sgmc, for `read`: ``read(formula, data, scope=caller_scope())``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "sgmc":
        frame = frame.f_back
    return {**frame.f_globals, **frame.f_locals}


def read(
    formula,
    data,
    *,
    weights=None,
    offset=None,
    exposure=None,
    subset=None,
    missing="drop",
    outcome="binary",
    scope=None,
):
    """Read a formula against data: the response, the rows to use and the specification of the design.

    Parameters
    ----------
    formula : str
        ``"response ~ predictors"`` in patsy's grammar with R's dot, ``^`` and backticks; the response is one expression.
    data : pandas.DataFrame, dict of arrays, or a polars or pyarrow table
        Never changed.
    weights, offset, exposure : str or array_like of length n, optional
        A column, or one number a row; a Series must have the index of `data`.
    subset : str, array_like of bool or callable, optional
        A bool column, an expression for `DataFrame.eval`, a mask, or a function of the data that returns a mask.
    missing : {"drop", "raise"}
        What to do with rows that lack anything needed.
    outcome : {"binary", "numeric"}
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
        If the data are empty, of a wrong type or length, infinite, or (with ``missing="raise"``) incomplete.
    ArgumentError
        If `missing` or `outcome` is unknown.
    """
    if missing not in ("drop", "raise"):
        raise ArgumentError(f"missing={missing!r} must be 'drop' or 'raise'")
    if outcome not in ("binary", "numeric"):
        raise ArgumentError(f"outcome={outcome!r} must be 'binary' or 'numeric'")
    frame = _as_frame(data)
    if frame.empty:
        raise DataError(f"the data are empty: {len(frame)} rows, {frame.shape[1]} columns")
    parsed = _dot.parse(formula, frame.columns, scope)
    given = {"weights": weights, "offset": offset, "exposure": exposure}
    vectors = {argument: _vector(argument, value, frame) for argument, value in given.items() if value is not None}
    used_elsewhere = [value for value in given.values() if isinstance(value, str)] + _subset_columns(subset, frame)
    reader = _Reader(parsed, frame, vectors, _subset_rows(subset, frame))
    return reader.table(used_elsewhere, outcome, missing)


@dataclass(frozen=True, eq=False)
class Table:
    """A formula read against data; the design itself is written by `fill`.

    Parameters
    ----------
    spec : DesignSpec
    y : ndarray of float64, shape (n,)
    weights, offset, exposure : ndarray of float64, shape (n,), or None
    rows : ndarray of int64, shape (n,)
        Positions in the data of the rows kept.
    dropped : int
        Rows lost to missing values, not to the subset.
    left_out : dict
        Columns that the dot left out -> reason.
    frame : pandas.DataFrame
        The data.
    """

    spec: "DesignSpec"
    y: np.ndarray
    weights: np.ndarray | None
    offset: np.ndarray | None
    exposure: np.ndarray | None
    rows: np.ndarray
    dropped: int
    left_out: dict
    frame: pd.DataFrame

    @property
    def index(self):
        """Index labels of the rows kept."""
        return self.frame.index if len(self.rows) == len(self.frame) else self.frame.index[self.rows]

    def fill(self, out, position=None, chunk=_CHUNK):
        """Write the design, row i into ``out[position[i]]``.

        Parameters
        ----------
        out : ndarray of float64 or float32, shape (n, d)
        position : array of int, shape (n,), optional
            A permutation of the rows; as they come when None.
        chunk : int
            Rows evaluated at a time, at most.

        Raises
        ------
        ArgumentError
            If `out` has another shape.
        DataError
            If a predictor is infinite, also in the precision of `out`.
        """
        shape = (len(self.rows), len(self.spec.exog_names))
        if out.shape != shape:
            raise ArgumentError(f"the design has shape {shape}, out has {out.shape}")
        for span, block in self.spec.blocks(self.frame, self.rows, chunk, out.dtype):
            if not np.isfinite(block).all():
                raise self._infinite(span, block)
            out[span if position is None else position[span]] = block

    def _infinite(self, span, block):
        row, column = np.argwhere(~np.isfinite(block))[0]
        where = self.frame.index[self.rows[span][row]]
        name = self.spec.exog_names[column]
        return DataError(f"predictor {name!r} is not finite at row {where!r}; drop or change such rows")


class DesignSpec:
    """How the columns of a design are made from those of the data; can be pickled and holds no data.

    Parameters
    ----------
    parsed : Parsed
    info : patsy.DesignInfo
        The fitted design, its factors named by code.

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
    """

    def __init__(self, parsed, info):
        self.formula = parsed.formula
        self.endog_name = parsed.names.label(parsed.response)
        self.levels = None
        factors = {factor: Factor(fitted, parsed) for factor, fitted in info.factor_infos.items()}
        self._factors = list(factors.values())
        self._blocks = list(_blocks(info, factors))
        self._name(clean=True)
        if len(set(self.exog_names)) < len(self.exog_names) or len(self.term_slices) < len(info.term_codings):
            self._name(clean=False)  # a column called "a:b" beside the interaction a:b
        terms = [":".join(factors[f].quoted for f in term.factors) for term in info.term_codings if term.factors]
        predictors = ["1" if self.has_intercept else "0", *terms]
        self.expanded = f"{parsed.names.quoted(parsed.response)} ~ {' + '.join(predictors)}"

    def _name(self, clean):
        self.exog_names = [label for block in self._blocks for label in block.labels(clean)]
        self.term_slices = {}
        for block in self._blocks:
            name = block.term_name(clean)
            start = self.term_slices[name].start if name in self.term_slices else block.columns.start
            self.term_slices[name] = slice(start, block.columns.stop)

    @property
    def has_intercept(self):
        """Whether the design has a column of ones."""
        return any(not block.factors for block in self._blocks)

    @property
    def columns(self):
        """Names of the columns of the data that the design needs."""
        return list(dict.fromkeys(name for factor in self._factors for name in factor.inputs.values()))

    def matrix(self, data):
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
        frame = _as_frame(data)
        for name in self.columns:
            if name not in frame:
                raise FormulaError(f"the data have no column {name!r}, which the design needs{nearest(name, frame.columns)}")
        out = np.full((len(frame), len(self.exog_names)), np.nan)
        gaps = Gaps(len(frame))
        for name in self.columns:
            gaps.add(name, slice(None), is_missing(frame[name]))
        self.find_gaps(frame, gaps)
        rows = gaps.complete()
        for span, block in self.blocks(frame, rows):
            out[rows[span]] = block
        return out

    def find_gaps(self, frame, gaps):
        """Add the rows where an expression such as ``np.log(x)`` is missing although its columns are not."""
        expressions = [factor for factor in self._factors if not factor.is_column]
        rows = gaps.complete()
        for start in range(0, len(rows) if expressions else 0, _CHUNK):
            chunk = rows[start : start + _CHUNK]
            columns = Chunk(frame, chunk)
            for factor in expressions:
                gaps.add(factor.label, chunk, factor.missing(columns))

    def blocks(self, frame, rows, chunk=_CHUNK, dtype=np.float64):
        """Pairs of a slice of `rows` and their part of the design; the latter is overwritten by the next."""
        width = len(self.exog_names)
        chunk = max(1, min(chunk, _CHUNK_NUMBERS // width))
        buffer = np.empty((min(chunk, len(rows)), width), dtype)
        for start in range(0, len(rows), chunk):
            span = slice(start, min(start + chunk, len(rows)))
            part = buffer[: span.stop - span.start]
            columns = Chunk(frame, rows[span])
            values = {factor: factor.values(columns) for factor in self._factors}
            with np.errstate(over="ignore"):  # infinite in float32: for the caller to report
                for block in self._blocks:
                    part[:, block.columns] = block.product(values)
            yield span, part


class Factor:
    """One fitted factor: a column of the data or an expression of columns.

    Parameters
    ----------
    fitted : patsy.FactorInfo
    parsed : Parsed
    """

    def __init__(self, fitted, parsed):
        self.is_column = isinstance(fitted.factor, patsy.LookupFactor)
        written = fitted.factor.name().removeprefix(_COLUMN)
        self.label = parsed.names.label(written)
        self.quoted = parsed.names.quoted(written)
        self.inputs = parsed.names.inputs(written)
        self.levels = fitted.categories
        self.width = fitted.num_columns
        self.code = fitted.state.get("eval_code", written)
        words = compile(self.code, "<formula>", "eval").co_names
        self.functions = {name: value for name, value in parsed.functions.items() if name in words}
        self.transforms = fitted.state.get("transforms", {})

    def evaluate(self, columns):
        """The value of the factor, before any coding."""
        names = {place: columns[name] for place, name in self.inputs.items()}
        if self.is_column:
            return names[self.code]
        return _evaluate(self.code, {**self.functions, **self.transforms}, names, self.label)

    def values(self, columns):
        """Numbers of shape (m, width), or for categories their codes of shape (m,)."""
        value = self.evaluate(columns)
        if self.levels is not None:
            return codes_of(pd.Series(value), self.levels, self.label)
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "biuf" or numbers.size != columns.n_rows * self.width:
            expected = "a number" if self.width == 1 else f"{self.width} numbers"
            found = f"shape {numbers.shape} of {numbers.dtype}"
            raise FormulaError(f"{self.label!r} must be {expected} in each row, it has {found}")
        return numbers.reshape(columns.n_rows, self.width)

    def missing(self, columns):
        """Boolean array of shape (m,): where the value is missing."""
        gaps = np.asarray(pd.isna(self.evaluate(columns)))
        return gaps.any(axis=1) if gaps.ndim > 1 else gaps

    def __getstate__(self):
        # modules and patsy's transforms refuse to be pickled: their name, their attributes stand for them
        functions = {
            name: _Module(value.__name__) if isinstance(value, types.ModuleType) else value
            for name, value in self.functions.items()
        }
        transforms = {name: (type(value), vars(value)) for name, value in self.transforms.items()}
        return {**vars(self), "functions": functions, "transforms": transforms}

    def __setstate__(self, state):
        vars(self).update(state)
        self.functions = {
            name: import_module(value.name) if isinstance(value, _Module) else value for name, value in self.functions.items()
        }
        self.transforms = {name: _restored(*pieces) for name, pieces in state["transforms"].items()}


@dataclass(frozen=True)
class _Module:
    name: str


def _restored(cls, attributes):
    instance = cls.__new__(cls)
    vars(instance).update(attributes)
    return instance


class Contrast(NamedTuple):
    """Coding of a categorical factor: a row of `matrix` for each level, a suffix of the label for each column."""

    matrix: np.ndarray
    suffixes: list


@dataclass(frozen=True)
class Block:
    """Columns of the design: the products of some factors, each as it is or by its contrast.

    Parameters
    ----------
    factors : tuple of Factor
    contrasts : tuple of Contrast or None
    columns : slice
        Its place in the design.
    term : tuple of Factor
        The term it belongs to.
    """

    factors: tuple
    contrasts: tuple
    columns: slice
    term: tuple

    def product(self, values):
        """Columns of the block, of shape (m, width); 1 for the intercept. The leftmost factor varies fastest, as in R."""
        result = None
        for factor, contrast in zip(self.factors, self.contrasts):
            part = values[factor] if contrast is None else contrast.matrix[values[factor]]
            result = part if result is None else (part[:, :, None] * result[:, None, :]).reshape(len(part), -1)
        return 1.0 if result is None else result

    def labels(self, clean):
        """One label a column; names in backticks unless `clean`."""
        pieces = []
        for factor, contrast in zip(self.factors, self.contrasts):
            label = factor.label if clean else factor.quoted
            if contrast is not None:
                pieces.append([label + suffix for suffix in contrast.suffixes])
            elif factor.width > 1:
                pieces.append([f"{label}[{i}]" for i in range(factor.width)])
            else:
                pieces.append([label])
        return [":".join(reversed(names)) or INTERCEPT for names in itertools.product(*reversed(pieces))]

    def term_name(self, clean):
        """Name of the term, ``"a:b"``."""
        return ":".join(factor.label if clean else factor.quoted for factor in self.term) or INTERCEPT


def _blocks(info, factors):
    stop = 0
    for term, subterms in info.term_codings.items():
        for subterm in subterms:
            if subterm.num_columns == 0:
                raise DataError(f"{factors[subterm.factors[0]].label!r} has a single level among the rows used; leave it out")
            start, stop = stop, stop + subterm.num_columns
            members = tuple(factors[factor] for factor in subterm.factors)
            codings = [subterm.contrast_matrices.get(factor) for factor in subterm.factors]
            contrasts = tuple(coding and _contrast(coding, member.levels) for coding, member in zip(codings, members))
            yield Block(members, contrasts, slice(start, stop), tuple(factors[factor] for factor in term.factors))


def _contrast(coding, levels):
    suffixes = list(coding.column_suffixes)
    for level in levels:  # patsy shows the repr: of an interval, str is what one knows from R's cut()
        suffixes = [suffix.replace(repr(level), str(level)) for suffix in suffixes]
    return Contrast(coding.matrix, suffixes)


class Chunk(dict):
    """Some rows of the columns of a frame, each made when first asked for."""

    def __init__(self, frame, rows):
        super().__init__()
        self.frame = frame
        self.n_rows = len(rows)
        whole = self.n_rows and rows[-1] - rows[0] == self.n_rows - 1  # rows ascend: a slice makes no copy
        self.rows = slice(rows[0], rows[-1] + 1) if whole else rows

    def __missing__(self, name):
        self[name] = plain(self.frame[name], self.rows)
        return self[name]


class Gaps:
    """Rows with something missing, and where."""

    def __init__(self, n_rows, use=slice(None)):
        self.used = np.zeros(n_rows, dtype=bool)
        self.used[use] = True
        self.missing = np.zeros(n_rows, dtype=bool)
        self.counts = {}

    def add(self, label, rows, gaps):
        """Note which of `rows` lack `label`."""
        gaps = gaps & self.used[rows]
        if gaps.any():
            self.missing[rows] |= gaps
            self.counts[label] = self.counts.get(label, 0) + int(gaps.sum())

    def complete(self):
        """Positions of the rows in use that lack nothing."""
        return np.flatnonzero(self.used & ~self.missing)

    def check(self, on_missing):
        """DataError where rows are missing against the user's wish, or no row is left."""
        if not self.counts:
            return
        where = ", ".join(f"{label!r} ({count})" for label, count in self.counts.items())
        if on_missing == "raise":
            raise DataError(f"{self.missing.sum()} rows have missing values, in {where}; missing='drop' leaves them out")
        if len(self.complete()) == 0:
            raise DataError(f"no row is complete: values are missing in {where}")


def _evaluate(code, functions, names, label):
    try:
        with np.errstate(all="ignore"):  # the log of a negative number is missing; of zero, infinite and reported
            return eval(code, dict(functions), names)
    except FormulaError:
        raise
    except Exception as error:
        raise FormulaError(f"cannot evaluate {label!r}: {type(error).__name__}: {error}") from error


class _PatsyChunk(dict):
    """What patsy's factors look up in a chunk: placeholders, and factors that are columns, with their levels known."""

    def __init__(self, chunk, inputs, levels):
        super().__init__()
        self.chunk, self.inputs, self.levels = chunk, inputs, levels

    def __missing__(self, key):
        name = self.inputs[key.removeprefix(_COLUMN)]
        values, levels = self.chunk[name], self.levels.get(key)
        return values if levels is None else pd.Categorical.from_codes(codes_of(values, levels, name), categories=levels)


class _Reader:
    """One call of `read`: finds the terms, the rows and the design of a formula."""

    def __init__(self, parsed, frame, vectors, rows):
        self.parsed = parsed
        self.frame = frame
        self.vectors = vectors
        self.rows = rows
        self.response_columns = list(parsed.names.inputs(parsed.response).values())

    def table(self, used_elsewhere, outcome, on_missing):
        """The finished table."""
        terms, gaps, left_out = self._choose_columns(used_elsewhere)
        if left_out:
            listed = ", ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
            advice = "Name a column in the formula to use it, or to take it out of the dot."
            warnings.warn(ColumnsLeftOutWarning(f"the dot leaves out {listed}.", advice), stacklevel=3)
        gaps.check("drop")
        response = self._response(gaps)
        spec = self._fit(terms, gaps)
        before = len(gaps.complete())
        spec.find_gaps(self.frame, gaps)
        gaps.check(on_missing)
        rows = gaps.complete()
        if len(rows) < before:  # levels and transforms follow from the rows that are left
            spec = self._fit(terms, gaps)
        y, spec.levels = _OUTCOMES[outcome](response[~gaps.missing[response.index]], spec.endog_name)
        vectors = {argument: None for argument in _VALID} | {
            argument: _checked(argument, vector[rows]) for argument, vector in self.vectors.items()
        }
        return Table(spec, y, **vectors, rows=rows, dropped=int(gaps.missing.sum()), left_out=left_out, frame=self.frame)

    def _choose_columns(self, used_elsewhere):
        """Terms, rows that are complete in the columns of these terms, and what the dot leaves out."""
        taken = {*self.response_columns, *used_elsewhere}
        candidates = [name for name in self.frame.columns if name not in taken] if self.parsed.has_dot else []
        dot, left_out = _dot.columns_for_dot(self.frame, candidates, self.rows)
        terms = self._terms(dot)
        gaps = self._gaps(terms)
        if dot and gaps.counts and len(gaps.complete()):
            dot, constant = _dot.columns_for_dot(self.frame, dot, gaps.complete())
            if constant:  # among the complete rows only; without these columns more rows are complete
                left_out |= constant
                terms = self._terms(dot)
                gaps = self._gaps(terms)
        named = self.parsed.names.inputs(self.parsed.predictors).values()
        return terms, gaps, {name: reason for name, reason in left_out.items() if name not in named}

    def _terms(self, dot):
        """Terms whose factors are columns by name, or expressions."""
        names = self.parsed.names

        def factor(written):
            inputs = names.inputs(written.code)
            if written.code not in inputs:
                return written
            if written.code == self.parsed.response:
                raise self.parsed.error(f"the response {written.code} is a predictor too")
            return patsy.LookupFactor(_COLUMN + written.code, origin=written.origin)

        return [patsy.Term([factor(written) for written in term.factors]) for term in self.parsed.terms(dot)]

    def _gaps(self, terms):
        gaps = Gaps(len(self.frame), self.rows)
        inputs = self.parsed.names.inputs(" ".join(factor.name() for factor in _factors(terms)))
        for name in dict.fromkeys([*self.response_columns, *inputs.values()]):
            gaps.add(name, slice(None), is_missing(self.frame[name]))
        for argument, vector in self.vectors.items():
            gaps.add(argument, slice(None), np.isnan(vector))
        return gaps

    def _response(self, gaps):
        """The response in the rows complete so far, indexed by their positions; its own gaps are added."""
        rows = gaps.complete()
        label = self.parsed.names.label(self.parsed.response)
        columns = Chunk(self.frame, rows)
        names = {place: columns[name] for place, name in self.parsed.names.inputs(self.parsed.response).items()}
        value = _evaluate(self.parsed.response, self.parsed.functions, names, label)
        if np.shape(value) != (len(rows),):
            raise DataError(f"the response {label!r} must be one column of {len(rows)} values, its shape is {np.shape(value)}")
        response = pd.Series(value).set_axis(rows)
        gaps.add(label, rows, is_missing(response))
        gaps.check("drop")
        return response

    def _fit(self, terms, gaps):
        """The design of the complete rows: levels, contrasts and stateful transforms."""
        rows = gaps.complete()
        factors = _factors(terms)
        inputs = self.parsed.names.inputs(" ".join(factor.name() for factor in factors))
        whole = [factor.name() for factor in factors if isinstance(factor, patsy.LookupFactor)]
        levels = {key: self._levels(inputs[key.removeprefix(_COLUMN)], rows) for key in whole}
        chunk = max(1, min(_CHUNK, _CHUNK_NUMBERS // max(1, len(factors))))

        def chunks():
            for start in range(0, len(rows), chunk):
                yield _PatsyChunk(Chunk(self.frame, rows[start : start + chunk]), inputs, levels)

        scope = patsy.EvalEnvironment([self.parsed.functions])
        try:
            with np.errstate(all="ignore"):
                info = patsy.design_matrix_builders([terms], chunks, scope)[0]
        except patsy.PatsyError as error:
            raise self.parsed.error(error.message) from error
        except Exception as error:  # whatever a stateful transform raises
            raise self.parsed.error(f"{type(error).__name__}: {error}") from error
        return DesignSpec(self.parsed, info)

    def _levels(self, name, rows):
        """Levels of a column that is a factor by itself, None for numbers."""
        column = self.frame[name].iloc[rows]
        column_kind = kind(column)
        if column_kind == "date":
            raise self.parsed.error(f"column {name!r} holds dates: use a number of it, e.g. `{name}`.dt.year")
        if column_kind in ("complex", "other"):
            raise self.parsed.error(f"column {name!r} is no predictor: it holds neither real numbers nor text; convert it")
        return None if column_kind == "number" else levels_of(column)


def _factors(terms):
    return list(dict.fromkeys(factor for term in terms for factor in term.factors))


def _numeric_outcome(values, label):
    if kind(values) not in ("number", "bool"):
        raise DataError(f"the response {label!r} must be numeric, it holds {_shown(values)}")
    y = values.to_numpy(dtype=np.float64)
    if not np.isfinite(y).all():
        raise DataError(f"the response {label!r} is infinite in {np.isinf(y).sum()} rows")
    return y, None


def _binary_outcome(values, label):
    found = kind(values)
    if found == "number":
        y, levels = _numeric_outcome(values, label)
        if not np.isin(y, (0, 1)).all():
            advice = f"compare, as in '{label} > 0 ~ ...'"
            raise DataError(f"the response {label!r} must be 0 or 1, it holds {_shown(values)}: {advice}")
    elif found in ("bool", "text", "category"):
        levels = levels_of(values)
        if len(levels) > 2:
            raise DataError(f"the response {label!r} has {len(levels)} levels, {_shown(values)}: compare with one of them")
        y = codes_of(values, levels, label).astype(np.float64)
    else:
        raise DataError(f"the response {label!r} must be 0/1, true/false or text with two levels, it holds {_shown(values)}")
    if y.min() == y.max():
        raise DataError(f"the response {label!r} is {_shown(values)} in every row used: both classes are needed")
    return y, levels


_OUTCOMES = {"binary": _binary_outcome, "numeric": _numeric_outcome}


def _shown(values):
    distinct = values.drop_duplicates().head(4).tolist()
    return ", ".join(map(repr, distinct[:3])) + (", ..." if len(distinct) > 3 else "")


def _as_frame(data):
    """The data as a DataFrame, without a copy where there is a choice, its names checked."""
    if isinstance(data, Mapping):
        try:
            data = pd.DataFrame(dict(data), copy=False)
        except ValueError as error:
            raise DataError(f"data: {error}") from error
    elif not isinstance(data, pd.DataFrame):
        data = _from_other_frame(data)
    for name in data.columns:
        if not isinstance(name, str):
            raise DataError(f"column names must be text, not {name!r}: try data.columns = data.columns.astype(str)")
    if not data.columns.is_unique:
        raise DataError(f"there is more than one column {data.columns[data.columns.duplicated()][0]!r}")
    return data


def _from_other_frame(data):
    try:
        import narwhals

        return narwhals.from_native(data, eager_only=True).to_pandas()
    except (ImportError, TypeError) as error:
        raise DataError(f"data must be a DataFrame or a dict of arrays, not {type(data).__name__}") from error


def _aligned(argument, value, frame):
    """An array argument as a Series of as many rows as the data."""
    series = value if isinstance(value, pd.Series) else pd.Series(np.asarray(value)) if np.ndim(value) == 1 else None
    if series is None:
        raise DataError(f"{argument} must be a column name or one value a row, its shape is {np.shape(value)}")
    if len(series) != len(frame):
        raise DataError(f"{argument} has length {len(series)}, the data have {len(frame)} rows")
    if isinstance(value, pd.Series) and not value.index.equals(frame.index):
        raise DataError(f"{argument} has another index than the data: pass {argument}.to_numpy(), or use .reset_index on both")
    return series


def _vector(argument, value, frame):
    """Weights, offset or exposure as float64, NaN where missing."""
    if isinstance(value, str):
        if value not in frame:
            raise DataError(f"{argument}={value!r} is not a column of the data{nearest(value, frame.columns)}")
        value = frame[value]
    series = _aligned(argument, value, frame)
    if kind(series) not in ("number", "bool"):
        raise DataError(f"{argument} must be numeric, not {series.dtype}")
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


_VALID = {
    "weights": (lambda v: (v >= 0).all() and v.sum() > 0, "zero or more, with a positive sum"),
    "offset": (lambda v: True, "finite"),
    "exposure": (lambda v: (v > 0).all(), "positive"),
}


def _checked(argument, vector):
    valid, meaning = _VALID[argument]
    if not (np.isfinite(vector).all() and valid(vector)):
        raise DataError(f"{argument} must be finite numbers, {meaning}: they range from {vector.min():g} to {vector.max():g}")
    return vector


def _subset_columns(subset, frame):
    if not isinstance(subset, str):
        return []
    return [subset] if subset in frame else _dot.columns_named(subset, frame.columns)


def _subset_rows(subset, frame):
    """Rows of the subset, for `iloc`; a missing value in the mask leaves the row out, as in R."""
    if subset is None:
        return slice(None)
    mask = subset
    if callable(subset):
        mask = subset(frame)
    elif isinstance(subset, str):
        mask = frame[subset] if subset in frame else _eval_subset(subset, frame)
    mask = _aligned("subset", mask, frame)
    if kind(mask) != "bool":
        raise DataError(f"subset must be true or false in each row, not {mask.dtype}")
    rows = np.flatnonzero(mask.to_numpy(dtype=bool, na_value=False))
    if len(rows) == 0:
        raise DataError("the subset has no row")
    return rows


def _eval_subset(subset, frame):
    try:
        return frame.eval(subset, engine="python")
    except Exception as error:
        raise DataError(f"cannot evaluate subset={subset!r}: {type(error).__name__}: {error}") from error
