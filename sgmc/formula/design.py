"""The fitted design: factors and blocks that are built in chunks, straight into their place,
and can be pickled.
"""

import itertools
import types
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np
import pandas as pd
import patsy

from sgmc.formula.columns import codes_of, is_missing, nearest, plain
from sgmc.formula.frames import as_frame
from sgmc.errors import DataError, FormulaError

INTERCEPT = "Intercept"
COLUMN = "column "  # marks, for patsy, a factor that is a column by itself
CHUNK = 65536
CHUNK_NUMBERS = 2**21  # 16 MB: a chunk of a wide design has fewer rows


class DesignSpec:
    """How the columns of a design are made from those of the data;
    can be pickled and holds no data.

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
        self.expanded = f"{parsed.names.quoted(parsed.response)} ~ {' + '.join(predictors)}"

    def _name(self, clean):
        self.exog_names = [label for block in self._blocks for label in block.labels(clean)]
        self.term_slices = {}
        for block in self._blocks:
            name = block.term_name(clean)
            start = (
                self.term_slices[name].start if name in self.term_slices else block.columns.start
            )
            self.term_slices[name] = slice(start, block.columns.stop)

    @property
    def has_intercept(self):
        """Whether the design has a column of ones."""
        return any(not block.factors for block in self._blocks)

    @property
    def columns(self):
        """Names of the columns of the data that the design needs."""
        return list(
            dict.fromkeys(name for factor in self._factors for name in factor.inputs.values())
        )

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
        frame = as_frame(data)
        for name in self.columns:
            if name not in frame:
                raise FormulaError(
                    f"the data have no column {name!r}, which the design "
                    f"needs{nearest(name, frame.columns)}"
                )
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
        """Add the rows where an expression such as ``np.log(x)`` is missing although its columns
        are not.
        """
        expressions = [factor for factor in self._factors if not factor.is_column]
        rows = gaps.complete()
        for start in range(0, len(rows) if expressions else 0, CHUNK):
            chunk = rows[start : start + CHUNK]
            columns = Chunk(frame, chunk)
            for factor in expressions:
                gaps.add(factor.label, chunk, factor.missing(columns))

    def blocks(self, frame, rows, chunk=CHUNK, dtype=np.float64):
        """Pairs of a slice of `rows` and their part of the design;
        the latter is overwritten by the next.
        """
        width = len(self.exog_names)
        chunk = max(1, min(chunk, CHUNK_NUMBERS // width))
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
        written = fitted.factor.name().removeprefix(COLUMN)
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
        return evaluate(self.code, {**self.functions, **self.transforms}, names, self.label)

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
        # modules and patsy's transforms refuse to be pickled: their name, their attributes stand
        # for them
        functions = {
            name: _Module(value.__name__) if isinstance(value, types.ModuleType) else value
            for name, value in self.functions.items()
        }
        transforms = {name: (type(value), vars(value)) for name, value in self.transforms.items()}
        return {**vars(self), "functions": functions, "transforms": transforms}

    def __setstate__(self, state):
        vars(self).update(state)
        self.functions = {
            name: import_module(value.name) if isinstance(value, _Module) else value
            for name, value in self.functions.items()
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
    """Coding of a categorical factor: a row of `matrix` for each level, a suffix of the label for
    each column.
    """

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
        """Columns of the block, of shape (m, width); 1 for the intercept. The leftmost factor
        varies fastest, as in R.
        """
        result = None
        for factor, contrast in zip(self.factors, self.contrasts):
            part = values[factor] if contrast is None else contrast.matrix[values[factor]]
            result = (
                part
                if result is None
                else (part[:, :, None] * result[:, None, :]).reshape(len(part), -1)
            )
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
        return [
            ":".join(reversed(names)) or INTERCEPT for names in itertools.product(*reversed(pieces))
        ]

    def term_name(self, clean):
        """Name of the term, ``"a:b"``."""
        return (
            ":".join(factor.label if clean else factor.quoted for factor in self.term) or INTERCEPT
        )


def _blocks(info, factors):
    stop = 0
    for term, subterms in info.term_codings.items():
        for subterm in subterms:
            if subterm.num_columns == 0:
                raise DataError(
                    f"{factors[subterm.factors[0]].label!r} has a single level among the rows "
                    "used; leave it out"
                )
            start, stop = stop, stop + subterm.num_columns
            members = tuple(factors[factor] for factor in subterm.factors)
            codings = [subterm.contrast_matrices.get(factor) for factor in subterm.factors]
            contrasts = tuple(
                coding and _contrast(coding, member.levels)
                for coding, member in zip(codings, members)
            )
            yield Block(
                members,
                contrasts,
                slice(start, stop),
                tuple(factors[factor] for factor in term.factors),
            )


def _contrast(coding, levels):
    suffixes = list(coding.column_suffixes)
    # patsy shows the repr: of an interval, str is what one knows from R's cut()
    for level in levels:
        suffixes = [suffix.replace(repr(level), str(level)) for suffix in suffixes]
    return Contrast(coding.matrix, suffixes)


class Chunk(dict):
    """Some rows of the columns of a frame, each made when first asked for."""

    def __init__(self, frame, rows):
        super().__init__()
        self.frame = frame
        self.n_rows = len(rows)
        # rows ascend: a slice makes no copy
        whole = self.n_rows and rows[-1] - rows[0] == self.n_rows - 1
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
            rows = "1 row has" if self.missing.sum() == 1 else f"{self.missing.sum()} rows have"
            raise DataError(f"{rows} missing values, in {where}; missing='drop' leaves them out")
        if len(self.complete()) == 0:
            raise DataError(f"no row is complete: values are missing in {where}")


def evaluate(code, functions, names, label):
    """The value of an expression of the formula; FormulaError, naming it by its label,
    where it has none.
    """
    # ``x -= 1`` would change it for others
    names = {place: values.copy(deep=False) for place, values in names.items()}
    try:
        # the log of a negative number is missing; of zero, infinite and reported
        with np.errstate(all="ignore"):
            return eval(code, dict(functions), names)
    except FormulaError:
        raise
    except Exception as error:
        raise FormulaError(f"cannot evaluate {label!r}: {type(error).__name__}: {error}") from error


class PatsyChunk(dict):
    """What patsy's factors look up in a chunk: placeholders, and factors that are columns,
    with their levels known.
    """

    def __init__(self, chunk, inputs, levels):
        super().__init__()
        self.chunk, self.inputs, self.levels = chunk, inputs, levels

    def __missing__(self, key):
        name = self.inputs[key.removeprefix(COLUMN)]
        values, levels = self.chunk[name], self.levels.get(key)
        if levels is None:
            return values.copy(deep=False)
        return pd.Categorical.from_codes(codes_of(values, levels, name), categories=levels)
