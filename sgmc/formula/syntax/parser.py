"""Formulas as text: R's dot, backticks and words over patsy's grammar.

Every column that a formula names becomes a placeholder identifier before patsy sees it, so that any
column name works (``my var``, ``class``, ``C``) and a column is never confused with a function of
the same name.  Labels put the names back.
"""

import builtins
import io
import keyword
import re
import tokenize
from ast import literal_eval
from dataclasses import dataclass
from inspect import ismodule
from typing import Any

import patsy

from sgmc.arguments.choices import nearest
from sgmc.errors import FormulaError
from sgmc.formula.data.places import DOT, PLACEHOLDER
from sgmc.formula.evaluation import bounds, safe
from sgmc.formula.evaluation.functions import FUNCTIONS, ours
from sgmc.formula.syntax import bars, smooths, unreadable, words

_STRING = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_QUOTES = re.compile(rf"\bQ\s*\(\s*(?P<call>{_STRING})\s*\)|{_STRING}|`(?P<tick>[^`]+)`")
_SPACING = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_REFUSED_TYPES = {tokenize.ERRORTOKEN, tokenize.COMMENT}
_OF_R = {"TRUE": "True", "FALSE": "False", "T": "True", "F": "False"}
_REFUSED = {"$", "?", "!", "`"}  # operators to the tokenizer of Python 3.12


class Names:
    """The columns of the data and the placeholders that stand for them in code.

    Attributes
    ----------
    of_table : bool
        Whether they are a table's, so that the formula is read, not only looked through.
    """

    of_table = True

    def __init__(self, columns: Any) -> None:
        self.columns = tuple(columns)
        self._placeholders = {name: f"_sgmc_{i}_" for i, name in enumerate(self.columns)}

    def __contains__(self, name: str) -> bool:
        return name in self._placeholders

    def placeholder(self, name: str) -> str:
        """The identifier that stands for a column."""
        return self._placeholders[name]

    def inputs(self, code: str) -> dict[str, str]:
        """Placeholders in `code` -> column names, in the order of their first use."""
        return {match[0]: self.columns[int(match[1])] for match in PLACEHOLDER.finditer(code)}

    def quoted(self, code: str) -> str:
        """`code` with the names put back, awkward ones in backticks,
        so that it can be read again.
        """
        return PLACEHOLDER.sub(lambda match: _quote(self.columns[int(match[1])]), code)

    def label(self, code: str) -> str:
        """`code` with the names put back; a column on its own is shown without backticks."""
        match = PLACEHOLDER.fullmatch(code)
        return self.columns[int(match[1])] if match else self.quoted(code)


def _quote(name: str) -> str:
    if name.isidentifier() and not keyword.iskeyword(name) and name != "Intercept":
        return name
    return f"Q({name!r})" if "`" in name else f"`{name}`"


@dataclass(frozen=True)
class Parsed:
    """A formula with its names resolved: two pieces of code over placeholders,
    and the functions they use.

    Parameters
    ----------
    formula : str or SafeFormula
        As the user gave it.
    response, predictors : str
        Code left and right of the tilde; the dot is still one name in `predictors`.
    names : Names
    functions : dict
        Functions and modules named in the formula.
    bars : tuple of Bar
        Group terms, which `predictors` lacks.
    smooths : tuple of SmoothCall
        Smooth terms; `predictors` has what is not penalised of them.
    pair : tuple of str
        Code of successes and failures of a response that is ``cbind(successes, failures)``.
    offset : str
        Code of the sum of the ``offset()`` terms, which `predictors` lacks; empty without.
    """

    formula: "str | safe.SafeFormula"
    response: str
    predictors: str
    names: Names
    functions: dict[Any, Any]
    bars: tuple[Any, ...] = ()
    smooths: tuple[Any, ...] = ()
    pair: tuple[Any, ...] = ()
    offset: str = ""

    @property
    def safe(self) -> bool:
        """Whether it comes from outside: then it calls listed functions alone, see `safe`."""
        return isinstance(self.formula, safe.SafeFormula)

    @property
    def sides(self) -> list[str]:
        """Code of sums of terms: the fixed part, effects of group terms, covariates of smooths."""
        return [
            self.predictors,
            *(bar.effects for bar in self.bars),
            *(one.code for one in self.smooths),
        ]

    @property
    def has_dot(self) -> bool:
        """Whether the right side has R's dot."""
        return DOT in self.predictors

    @property
    def powers(self) -> list[str]:
        """Code of the columns and expressions of which the right side has a power: as interactions
        of a term with itself these are the term, in R and patsy, too.
        """
        found = bounds.powers(safe.tree_of(self.predictors)) if "**" in self.predictors else []
        return [code for code in found if code != DOT]  # a sum of columns

    @property
    def summands(self) -> tuple[str, ...]:
        """Code of the two parts of a response such as ``successes + failures``, which are columns,
        or ``cbind(successes, failures)``; empty for any other.
        """
        if self.pair:
            return self.pair
        inputs, parts = self.names.inputs(self.response), self.response.split(" + ")
        return tuple(parts) if len(parts) == 2 and all(part in inputs for part in parts) else ()

    def terms(self, dot: list[str]) -> list[Any]:
        """Patsy's terms of the right side, the dot standing for the columns `dot`.

        Raises
        ------
        FormulaError
            If patsy cannot read the formula, or it has no term at all.
        """
        if self.has_dot and not dot:
            raise self.error("the dot stands for no column: none is left for it")
        dotted = _sum([self.names.placeholder(name) for name in dot])
        terms = self.terms_of(self.predictors.replace(DOT, dotted))
        if not terms:
            raise self.error("the right side has no term: write '~ 1' for an intercept alone")
        return terms

    def terms_of(self, code: str) -> list[Any]:
        """Patsy's terms of some code over placeholders, an intercept among them by default."""
        try:
            tree = safe.tree_of(code)
            if self.safe:
                bounds.refuse_many(tree, self.names)
            terms = patsy.ModelDesc.from_formula(tree).rhs_termlist
        except (patsy.PatsyError, SyntaxError) as error:
            raise self.error(unreadable.of_patsy(str(error.args[0]))) from error
        except RecursionError as error:
            raise self.error("too many terms written out; use the dot") from error
        for code in {factor.code for term in terms for factor in term.factors}:
            self.refuse_no_term(code)
        return terms

    def refuse_no_term(self, code: str) -> None:
        """FormulaError for code that is neither a column nor an expression of columns."""
        if (reason := unreadable.no_term(code, self.names, self.functions)) is not None:
            raise self.error(reason + unreadable.in_backticks(self.formula, self.names))

    def error(self, message: str) -> FormulaError:
        """A FormulaError in one line: the message, its placeholders replaced by names,
        and the formula.
        """
        return _error(self.formula, self.names.quoted(" ".join(message.split())))


def _sum(codes: list[str]) -> str:
    """The codes added in a balanced tree: patsy recurses once a level,
    and Python stops at a thousand.
    """
    if len(codes) < 2:
        return "".join(codes)
    half = len(codes) // 2
    return f"({_sum(codes[:half])} + {_sum(codes[half:])})"


def _error(formula: "str | safe.SafeFormula", message: str) -> FormulaError:
    formula = str(formula)
    formula = formula if len(formula) <= 200 else formula[:200] + "..."
    return FormulaError(f"{message} (in the formula {formula!r})")


def parse(formula: "str | safe.SafeFormula", columns: Any, scope: Any = None) -> Parsed:
    """Resolve every name of a formula.

    Parameters
    ----------
    formula : str or SafeFormula
        ``"response ~ predictors"`` in patsy's grammar, with R's ``.``, ``^`` and backticks.
    columns : sequence of str
        The columns of the data.
    scope : dict, optional
        The user's own names, of which functions and modules can be used; a formula from outside
        has none of them.

    Returns
    -------
    Parsed

    Raises
    ------
    FormulaError
        If there is no response, a name is neither a column nor a function, or the text is not a
        formula.
    """
    if not safe.is_formula(formula):
        raise FormulaError(f"the formula must be text, not {type(formula).__name__}")
    safe.refuse_long(formula)
    try:
        parsed = _parsed(formula, columns, safe.scope_of(formula, scope))
    except (RecursionError, MemoryError) as error:
        raise _error(formula, "the formula is too deep to be read") from error
    safe.refuse_parsed(parsed)
    return parsed


def _parsed(formula: "str | safe.SafeFormula", columns: Any, scope: dict[str, Any]) -> Parsed:
    """Return the `Parsed` formula, every name of it resolved."""
    names = columns if isinstance(columns, Names) else Names(columns)
    resolver = _Resolver(formula, names, scope)
    left, right = _split_at_tilde(resolver.tokens())
    if not left:
        raise _error(formula, "the formula has no response: write 'response ~ predictors'")
    if not right:
        raise _error(formula, "the right side is empty: write '~ 1' for an intercept alone")
    error = resolver.error
    both = words.paired(left, error) or ()
    right, added = words.offsets(right, error)
    others, calls = smooths.split(right, error)
    fixed, grouped = bars.split(others, error)
    pair = tuple(resolver.plain(part) for part in both)
    response = f"{words.PAIR}({', '.join(pair)})" if pair else resolver.plain(left)
    predictors = resolver.resolve(fixed)
    offset = _added([resolver.plain(part) for part in added])
    found = tuple(bar for tokens in grouped for bar in bars.read(tokens, resolver, error))
    curves = tuple(smooths.read(*one, resolver, error) for one in calls)
    smooths.refuse_twice(curves, found, error)
    inside = [*(bar.effects for bar in found), *(one.code for one in curves)]
    if any(DOT in code for code in (response, offset, *inside)):
        raise _error(
            formula, "the dot cannot be used in the response, an offset, a group term or a smooth"
        )
    predictors = " + ".join([predictors, *(line for one in curves for line in one.lines)])
    terms = found, curves, pair, offset
    parsed = Parsed(formula, response, predictors, resolver.names, resolver.functions, *terms)
    parsed.refuse_no_term(response)
    return parsed


def columns_named(expression: str, columns: Any) -> list[str]:
    """The columns that an expression for `DataFrame.eval` names, bare or in backticks."""
    bare = re.sub(r"`[^`]*`", " ", expression)
    words = set(re.findall(r"[^\W\d]\w*", bare)) | set(re.findall(r"`([^`]+)`", expression))
    return [name for name in columns if name in words]


def _split_at_tilde(tokens: list[str]) -> tuple[list[str], list[str]]:
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token in "([{") - (token in ")]}")
        if token == "~" and depth == 0:
            return tokens[:i], tokens[i + 1 :]
    return [], tokens


def _added(codes: list[str]) -> str:
    """Code of a sum of offsets, of numbers: truth values would add up to truth values."""
    return "".join(codes) if len(codes) < 2 else " + ".join(["0.0", *(f"({c})" for c in codes)])


def _ends_operand(token: str) -> bool:
    return bool(re.search(r"[\w)\]}'\"]$", token)) and not keyword.iskeyword(token)


class _Resolver:
    """Turns the tokens of one formula into code for patsy, noting the functions used."""

    def __init__(self, formula: "str | safe.SafeFormula", names: Any, scope: Any) -> None:
        self.formula, self.names, self.scope = formula, names, scope
        self.functions: dict[Any, Any] = {}

    @property
    def safe(self) -> bool:
        """See `Parsed`."""
        return isinstance(self.formula, safe.SafeFormula)

    def error(self, message: str) -> FormulaError:
        """A FormulaError of a message."""
        return _error(self.formula, self.names.quoted(message))

    def tokens(self) -> list[str]:
        """The formula's tokens, with quoted names already replaced by placeholders."""
        if own := PLACEHOLDER.search(str(self.formula)) or DOT in str(self.formula):
            found = DOT if own is True else own[0]
            raise _error(self.formula, f"{found!r} is a name of the package's own: rename it")
        text = _QUOTES.sub(self._unquote, str(self.formula)).replace("\n", " ").strip()
        unreadable.refuse_words_of_r(text, self.error)
        try:
            found = [
                token
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type not in _SPACING
            ]
        except (tokenize.TokenError, SyntaxError) as error:
            why = unreadable.bracket(text)
            tick = unreadable.in_backticks(self.formula, self.names)
            raise self.error(f"cannot read the formula: {why}{error.args[0]}{tick}") from error
        for token in found:
            odd = unreadable.odd_sign(token)
            if odd or token.type in _REFUSED_TYPES or token.string in _REFUSED:
                reason = unreadable.sign(odd or token.string, text[token.end[1] :])
                raise self.error(reason + unreadable.in_backticks(self.formula, self.names))
        return [token.string for token in found]

    def _unquote(self, match: re.Match[str]) -> str:
        if match["call"]:
            name = literal_eval(match["call"])
        elif match["tick"]:
            name = match["tick"]
        else:
            return match[0]
        # in backticks it is a column, even where it would be True or None without them
        if self.names.of_table and name not in self.names:
            raise _error(
                self.formula,
                f"there is no column {name!r}{nearest(name, self.names.columns, 'columns are')}",
            )
        return self.names.placeholder(name)

    def resolve(self, tokens: list[str]) -> str:
        """Code with columns as placeholders, the dot as one name and ``^`` as ``**``."""
        code: list[str] = []
        nesting: list[bool] = []
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

    def plain(self, tokens: list[str]) -> str:
        """The same of one expression, in patsy's normal spacing."""
        return patsy.EvalFactor(self.resolve(tokens)).code

    def _dot(self, in_call: bool) -> str:
        if in_call:
            raise _error(self.formula, "the dot cannot stand inside a call or brackets")
        return DOT

    def _name(self, name: str, after: str, in_call: bool) -> str:
        """A column's placeholder, or the name of a function or module as it stands."""
        value = self._function(name)
        wants_function = after == "(" or (after == "." and ismodule(value))
        if PLACEHOLDER.fullmatch(name):
            return name
        if name in self.names and not wants_function:
            return self.names.placeholder(name)
        if keyword.iskeyword(name):
            return name
        if name == "Q" and after == "(":
            raise _error(
                self.formula, "Q() has the name of a column in quotes, Q('7'): names are text"
            )
        if in_call and name in _OF_R and name not in self.scope:
            return _OF_R[name]
        # f(x), module.f, or an argument as in C(g, Sum)
        usable = after in ("(", ".") or (in_call and not ismodule(value))
        if value is None or not usable:
            raise _error(self.formula, self._unknown(name, after))
        self.functions[name] = value
        return name

    def _function(self, name: str) -> Any:
        for space in (self.scope, FUNCTIONS, vars(builtins)):
            value = space.get(name)
            if getattr(value, "__module__", "") == "math" and name in FUNCTIONS:
                continue  # math.log is of one number, not of a column
            if callable(value) or ismodule(value):
                return ours(value)
        return None

    def _unknown(self, name: str, after: str) -> str:
        if name in self.scope and not ismodule(self.scope[name]):
            return (
                f"{name!r} is a variable, not a column: formulas take values from the data only, "
                "so add it as a column"
            )
        hint = unreadable.in_backticks(self.formula, self.names)
        if after == "(":
            hint = (
                unreadable.near(name)
                or hint
                or nearest(name, [*FUNCTIONS, *self.scope], misspelt=True)
            )
            return f"there is no function {name!r}{hint}"
        hint = (
            hint
            or unreadable.of_others(name)
            or nearest(name, map(_quote, self.names.columns), "columns are")
        )
        return f"{name!r} is neither a column nor a call of a function{hint}"
