"""Formulas as text: R's dot and backticks over patsy's grammar, and the columns the dot stands for.

Every column that a formula names becomes a placeholder identifier before patsy sees it, so that any column name works
(``my var``, ``class``, ``C``) and a column is never confused with a function of the same name.  Labels put the names back.
"""
import builtins
import difflib
import io
import keyword
import re
import tokenize
from ast import literal_eval
from dataclasses import dataclass
from datetime import date, time
from inspect import ismodule

import numpy as np
import pandas as pd
import patsy
import patsy.builtins

from sgmc.errors import FormulaError

MAX_LEVELS = 50  # text with more levels stays out of the dot

_DOT = "_sgmc_dot_"
_PLACEHOLDER = re.compile(r"\b_sgmc_(\d+)_\b")
_STRING = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_QUOTES = re.compile(rf"\bQ\s*\(\s*(?P<call>{_STRING})\s*\)|{_STRING}|`(?P<tick>[^`]+)`")
_SPACING = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_REFUSED_TYPES = {tokenize.ERRORTOKEN, tokenize.COMMENT}
_REFUSED = {"$", "?", "!", "`"}  # operators to the tokenizer of Python 3.12
_OBJECT_KINDS = {"string": "text", "boolean": "bool", "complex": "complex"} | dict.fromkeys(
    ["integer", "floating", "mixed-integer-float", "decimal"], "number"
) | dict.fromkeys(["date", "datetime", "datetime64", "timedelta", "timedelta64", "time", "period"], "date")
_NOT_FOR_THE_DOT = {"date": "dates", "complex": "complex numbers", "other": "neither numbers nor text"}


def nearest(name, known):
    """``"; did you mean 'x1'?"`` for the nearest of the known names, empty when none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


class Names:
    """The columns of the data and the placeholders that stand for them in code."""

    def __init__(self, columns):
        self.columns = tuple(columns)
        self._placeholders = {name: f"_sgmc_{i}_" for i, name in enumerate(self.columns)}

    def __contains__(self, name):
        return name in self._placeholders

    def placeholder(self, name):
        """The identifier that stands for a column."""
        return self._placeholders[name]

    def inputs(self, code):
        """Placeholders in `code` -> column names, in the order of their first use."""
        return {match[0]: self.columns[int(match[1])] for match in _PLACEHOLDER.finditer(code)}

    def quoted(self, code):
        """`code` with the names put back, awkward ones in backticks, so that it can be read again."""
        return _PLACEHOLDER.sub(lambda match: _quote(self.columns[int(match[1])]), code)

    def label(self, code):
        """`code` with the names put back; a column on its own is shown without backticks."""
        match = _PLACEHOLDER.fullmatch(code)
        return self.columns[int(match[1])] if match else self.quoted(code)


def _quote(name):
    if name.isidentifier() and not keyword.iskeyword(name) and name != "Intercept":
        return name
    return f"Q({name!r})" if "`" in name else f"`{name}`"


@dataclass(frozen=True)
class Parsed:
    """A formula with its names resolved: two pieces of code over placeholders, and the functions they use.

    Parameters
    ----------
    formula : str
        As the user wrote it.
    response, predictors : str
        Code left and right of the tilde; the dot is still one name in `predictors`.
    names : Names
    functions : dict
        Functions and modules named in the formula.
    """

    formula: str
    response: str
    predictors: str
    names: Names
    functions: dict

    @property
    def has_dot(self):
        """Whether the right side has R's dot."""
        return _DOT in self.predictors

    def terms(self, dot):
        """Patsy's terms of the right side, the dot standing for the columns `dot`.

        Raises
        ------
        FormulaError
            If patsy cannot read the formula, or it has no term at all.
        """
        if self.has_dot and not dot:
            raise self.error("the dot stands for no column: none is left for it")
        code = self.predictors.replace(_DOT, _sum([self.names.placeholder(name) for name in dot]))
        try:
            terms = patsy.ModelDesc.from_formula("~ " + code).rhs_termlist
        except (patsy.PatsyError, SyntaxError) as error:
            raise self.error(str(error.args[0])) from error
        except RecursionError as error:
            raise self.error("too many terms written out; use the dot") from error
        if not terms:
            raise self.error("the right side has no term, not even an intercept")
        return terms

    def error(self, message):
        """A FormulaError in one line: the message, its placeholders replaced by names, and the formula."""
        return _error(self.formula, self.names.quoted(" ".join(message.split())))


def _sum(codes):
    """The codes added in a balanced tree: patsy recurses once a level, and Python stops at a thousand."""
    if len(codes) < 2:
        return "".join(codes)
    half = len(codes) // 2
    return f"({_sum(codes[:half])} + {_sum(codes[half:])})"


def _error(formula, message):
    formula = formula if len(formula) <= 200 else formula[:200] + "..."
    return FormulaError(f"{message} (in the formula {formula!r})")


def parse(formula, columns, scope=None):
    """Resolve every name of a formula.

    Parameters
    ----------
    formula : str
        ``"response ~ predictors"`` in patsy's grammar, with R's ``.``, ``^`` and backticks.
    columns : sequence of str
        The columns of the data.
    scope : dict, optional
        The user's own names, of which functions and modules can be used.

    Returns
    -------
    Parsed

    Raises
    ------
    FormulaError
        If there is no response, a name is neither a column nor a function, or the text is not a formula.
    """
    if not isinstance(formula, str):
        raise FormulaError(f"the formula must be text, not {type(formula).__name__}")
    resolver = _Resolver(formula, Names(columns), scope or {})
    left, right = _split_at_tilde(resolver.tokens())
    if not left:
        raise _error(formula, "the formula has no response: write 'response ~ predictors'")
    if not right:
        raise _error(formula, "the right side is empty: write '~ 1' for an intercept alone")
    response, predictors = resolver.resolve(left), resolver.resolve(right)
    if _DOT in response:
        raise _error(formula, "the dot cannot be used in the response")
    response = patsy.EvalFactor(response).code  # normal spacing
    return Parsed(formula, response, predictors, resolver.names, resolver.functions)


def columns_named(expression, columns):
    """The columns that an expression for `DataFrame.eval` names, bare or in backticks."""
    words = set(re.findall(r"[^\W\d]\w*", expression)) | set(re.findall(r"`([^`]+)`", expression))
    return [name for name in columns if name in words]


def _split_at_tilde(tokens):
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token in "([{") - (token in ")]}")
        if token == "~" and depth == 0:
            return tokens[:i], tokens[i + 1 :]
    return [], tokens


def _ends_operand(token):
    return bool(re.search(r"[\w)\]}'\"]$", token)) and not keyword.iskeyword(token)


class _Resolver:
    """Turns the tokens of one formula into code for patsy, noting the functions used."""

    def __init__(self, formula, names, scope):
        self.formula = formula
        self.names = names
        self.scope = scope
        self.functions = {}

    def tokens(self):
        """The formula's tokens, with quoted names already replaced by placeholders."""
        text = _QUOTES.sub(self._unquote, self.formula).replace("\n", " ").strip()
        try:
            found = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in _SPACING]
        except (tokenize.TokenError, SyntaxError) as error:
            raise _error(self.formula, f"cannot read the formula: {error.args[0]}") from error
        for token in found:
            if token.type in _REFUSED_TYPES or token.string in _REFUSED:
                raise _error(self.formula, f"cannot read {token.string!r}; put awkward column names in backticks")
        return [token.string for token in found]

    def _unquote(self, match):
        if match["call"]:
            name = literal_eval(match["call"])
        elif match["tick"]:
            name = match["tick"]
        else:
            return match[0]
        if name not in self.names:
            raise _error(self.formula, f"there is no column {name!r}{nearest(name, self.names.columns)}")
        return self.names.placeholder(name)

    def resolve(self, tokens):
        """Code with columns as placeholders, the dot as one name and ``^`` as ``**``."""
        code, nesting = [], []
        padded = ["", *tokens, ""]
        for before, token, after in zip(padded, tokens, padded[2:]):
            in_call = bool(nesting) and nesting[-1]
            if token in "([{":
                nesting.append(in_call or token != "(" or _ends_operand(before))
            elif token in ")]}" and nesting:
                nesting.pop()
            elif token == "." and not _ends_operand(before):
                token = self._dot(in_call)
            elif token == "^":
                token = "**"
            elif token.isidentifier() and before != "." and not (in_call and after == "="):
                token = self._name(token, after, in_call)
            code.append(token)
        return " ".join(code)

    def _dot(self, in_call):
        if in_call:
            raise _error(self.formula, "the dot cannot stand inside a call or brackets")
        return _DOT

    def _name(self, name, after, in_call):
        """A column's placeholder, or the name of a function or module as it stands."""
        value = self._function(name)
        wants_function = after == "(" or (after == "." and ismodule(value))
        if _PLACEHOLDER.fullmatch(name):
            return name
        if name in self.names and not wants_function:
            return self.names.placeholder(name)
        if keyword.iskeyword(name):
            return name
        usable = after in ("(", ".") or (in_call and not ismodule(value))  # f(x), module.f, or an argument as in C(g, Sum)
        if value is None or not usable:
            raise _error(self.formula, self._unknown(name, after))
        self.functions[name] = value
        return name

    def _function(self, name):
        for space in (self.scope, FUNCTIONS, vars(builtins)):
            if callable(space.get(name)) or ismodule(space.get(name)):
                return space[name]
        return None

    def _unknown(self, name, after):
        if name in self.scope and not ismodule(self.scope[name]):
            return f"{name!r} is a variable, not a column: formulas take values from the data only, so add it as a column"
        if after == "(":
            hint = f": use the argument {name}=" if name == "offset" else nearest(name, [*FUNCTIONS, *self.scope])
            return f"there is no function {name!r}{hint}"
        return f"{name!r} is neither a column nor a call of a function{nearest(name, self.names.columns)}"


def columns_for_dot(frame, candidates, rows):
    """Which of the candidate columns the dot stands for.

    Parameters
    ----------
    frame : pandas.DataFrame
    candidates : sequence of str
    rows : slice or array of int
        The rows that are used.

    Returns
    -------
    kept : list of str
    left_out : dict
        Column -> reason: dates, constants, more than 50 levels, all missing, of no use as a predictor.
    """
    reasons = {name: _reason_to_leave_out(frame[name].iloc[rows]) for name in candidates}
    kept = [name for name, reason in reasons.items() if reason is None]
    return kept, {name: reason for name, reason in reasons.items() if reason is not None}


def _reason_to_leave_out(column):
    column_kind = kind(column)
    if column.isna().all():
        return "all missing"
    if column_kind in _NOT_FOR_THE_DOT:
        return _NOT_FOR_THE_DOT[column_kind]
    if column_kind in ("text", "category"):
        count = len(levels_of(column))
        return f"{count} levels" if count > MAX_LEVELS else "constant" if count < 2 else None
    return "constant" if is_constant(column) else None


def kind(column):
    """What a column holds: ``"number"``, ``"bool"``, ``"text"``, ``"category"``, ``"date"``, ``"complex"`` or ``"other"``."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if pd.api.types.is_bool_dtype(dtype):
        return "bool"
    if pd.api.types.is_complex_dtype(dtype):
        return "complex"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.PeriodDtype) or dtype.kind in "mM" or issubclass(dtype.type, (date, time)):
        return "date"
    if dtype == object:
        return _OBJECT_KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "other")
    return "text" if issubclass(dtype.type, (str, pd.CategoricalDtype.type)) else "other"


def is_missing(column):
    """Boolean array: where the column is missing; a NaN inside a nullable float column counts."""
    if column.dtype.kind == "f":
        return np.isnan(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return column.isna().to_numpy(dtype=bool)


def plain(column, rows):
    """Rows of a column, none missing, in a dtype free of surprises: float64, int64, bool, or text and categories as they are.

    Small integers would overflow in ``x ** 2``, unsigned ones wrap in ``x - 1``; nullable ones are unknown to patsy.
    """
    values = column.to_numpy()[rows] if isinstance(column.dtype, np.dtype) else column.iloc[rows]
    values = pd.Series(values, copy=False).reset_index(drop=True)
    dtype = _plain_dtype(values)
    if dtype is not None and values.dtype != dtype:
        values = pd.Series(values.to_numpy(dtype=dtype))
    return values.rename(column.name)


def _plain_dtype(values):
    code = values.dtype.kind
    if code == "O":
        return {"number": np.float64, "bool": np.bool_}.get(kind(values))
    if code == "u" and values.dtype.itemsize == 8:
        code = "f"
    return {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}.get(code)


def levels_of(values):
    """The distinct values, missing ones aside: used categories in their order, anything else sorted."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        used = np.unique(values.cat.codes)
        return tuple(values.cat.categories[used[used >= 0]].tolist())
    if kind(values) == "bool":
        return (False, True)
    found = values.dropna().unique().tolist()
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))


def codes_of(values, levels, label):
    """Position of each value among the levels, -1 where missing.

    Raises
    ------
    FormulaError
        If a value is none of the levels; names the column `label`, the value and the levels.
    """
    index = pd.Index(levels, dtype=object)
    if isinstance(values.dtype, pd.CategoricalDtype):
        table = index.get_indexer(values.cat.categories.astype(object))
        positions = values.cat.codes.to_numpy()
        codes = np.where(positions < 0, -1, np.append(table, -1)[positions])
    else:
        codes = index.get_indexer(values.astype(object))
    unseen = (codes < 0) & values.notna().to_numpy()
    if unseen.any():
        shown = ", ".join(map(repr, levels[:10])) + (", ..." if len(levels) > 10 else "")
        raise FormulaError(f"column {label!r} has the level {values[unseen].iloc[0]!r}; known are {shown}")
    return codes


def is_constant(column):
    """Whether the values of a column, missing ones aside, are all the same."""
    head = plain(column, np.flatnonzero(~is_missing(column.iloc[:1000]))).to_numpy()
    if len(head) and (head != head[0]).any():
        return False
    values = plain(column, np.flatnonzero(~is_missing(column))).to_numpy()
    return bool((values == values[0]).all())


class Standardize:
    """Subtract the mean, divide by the standard deviation; patsy's `standardize` without its loop over rows in Python."""

    def __init__(self):
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def memorize_chunk(self, x, center=True, rescale=True, ddof=0):
        """Add rows to the moments; infinite ones wait to be reported with the design."""
        x = np.asarray(x, dtype=np.float64)
        x = x[np.isfinite(x).reshape(len(x), -1).all(axis=1)]
        if len(x):
            delta = x.mean(axis=0) - self.mean
            total = self.count + len(x)
            self.squares = self.squares + ((x - x.mean(axis=0)) ** 2).sum(axis=0) + delta**2 * self.count * len(x) / total
            self.mean = self.mean + delta * len(x) / total
            self.count = total

    def memorize_finish(self):
        """Nothing is left to do after the last chunk."""

    def transform(self, x, center=True, rescale=True, ddof=0):
        """Apply the memorized moments."""
        x = np.asarray(x, dtype=np.float64)
        centred = x - self.mean if center else x
        return centred / np.sqrt(self.squares / (self.count - ddof)) if rescale else centred


class Center(Standardize):
    """Subtract the mean."""

    def memorize_chunk(self, x):
        """Add rows to the mean."""
        super().memorize_chunk(x)

    def transform(self, x):
        """Apply the memorized mean."""
        return super().transform(x, rescale=False)


class Categories:
    """Patsy's `C`: values as categories, with levels found once and without a loop over rows in Python."""

    def __init__(self):
        self.levels = None
        self._seen = []

    def memorize_chunk(self, data, contrast=None, levels=None):
        """Collect the levels, unless they are given."""
        self.levels = None if levels is None else tuple(levels)
        self._seen.append(pd.Series(data).drop_duplicates())

    def memorize_finish(self):
        """Order the levels of all chunks."""
        if self.levels is None:
            self.levels = levels_of(pd.concat(self._seen, ignore_index=True))
        del self._seen

    def transform(self, data, contrast=None, levels=None):
        """The values as a pandas Categorical that carries the contrast where patsy looks for it."""
        values = pd.Series(data)
        coded = pd.Categorical.from_codes(codes_of(values, self.levels, values.name), categories=self.levels)
        coded.contrast = contrast
        return coded


# ours take the place of patsy's functions of the same name
FUNCTIONS = {name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__} | {
    "np": np,
    "C": patsy.stateful_transform(Categories),
    "center": patsy.stateful_transform(Center),
    "scale": patsy.stateful_transform(Standardize),
    "standardize": patsy.stateful_transform(Standardize),
}
