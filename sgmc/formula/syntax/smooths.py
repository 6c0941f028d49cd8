"""Penalised terms of a formula, such as ``s(x)``: taken off, so that patsy sees the rest."""

from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import ismodule
from itertools import permutations
from typing import TYPE_CHECKING, Any

from sgmc.arguments.choices import nearest
from sgmc.formula.syntax.bars import BAR, closing, written
from sgmc.formula.syntax.bars import column as column_of
from sgmc.formula.syntax.calls import taken_off
from sgmc.registry import room
from sgmc.splines.penalised import PenalisedTerm, TermOfLevels

if TYPE_CHECKING:
    from sgmc.errors import FormulaError
    from sgmc.formula.syntax.parser import _Resolver


@dataclass(frozen=True)
class SmoothCall:
    """A smooth term as written, its names resolved.

    Attributes
    ----------
    text : str
        As written.
    label : str
        ``"s(x)"``: the term without its options.
    covariates : tuple of str
        Code over placeholders.
    by : str or None
        Code of what the curve is multiplied by.
    kind : PenalisedTerm
    column : str or None
        The covariate's name where it has labels.
    """

    text: str
    label: str
    covariates: tuple[Any, ...]
    by: str | None
    kind: PenalisedTerm
    column: str | None = None

    @property
    def code(self) -> str:
        """Code of the covariates as terms."""
        return " + ".join(["0", *self.covariates])

    @property
    def lines(self) -> list[str]:
        """Code of the terms of what is not penalised, besides the intercept, a list."""
        found = list(self.covariates) if self.kind.flat > 1 else []
        if len(found) > 1:
            found.append(" : ".join(found))
        return found if self.by is None else [self.by, *(f"{self.by} : {one}" for one in found)]


def split(
    tokens: list[str], error: "Callable[[str], FormulaError]"
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Take the smooth terms off the right side of a formula.

    Parameters
    ----------
    tokens : list of str
    error : function of str
        Makes the FormulaError of a message.

    Returns
    -------
    rest : list of str
        Tokens without them; ``["1"]`` where nothing else is left.
    calls : list of (str, list of str)
        Name and arguments of each.
    """
    return taken_off(unbarred(tokens, error), is_smooth, error)


def unbarred(tokens: list[str], error: "Callable[[str], FormulaError]") -> list[str]:
    """Terms of levels that are written as group terms, ``(1 | gr(g, cov=A))``, as they are."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == BAR and is_smooth([*tokens, ""], at + 1) and of_levels(tokens[at + 1]):
            end = closing(tokens, at + 2)
            term = written(tokens[at + 1 : end + 1]).replace(" = ", "=")
            if out[-2:] != ["(", "1"] or tokens[end + 1 : end + 2] != [")"]:
                raise error(
                    f"{term} has a single effect per level: write (1 | {term}) alone, and slopes "
                    f"of x as {term[:-1]}, by=x)"
                )
            out[-2:] = tokens[at + 1 : end + 1]
            at = end + 1
        else:
            out.append(tokens[at])
        at += 1
    return out


def of_levels(name: str) -> bool:
    """Whether a term has a column of labels."""
    return issubclass(room("terms")[name], TermOfLevels)


def is_smooth(tokens: list[str], at: int) -> bool:
    """Whether a penalised term begins at a place; patsy's `te` of its own bases is none."""
    if tokens[at + 1 : at + 2] != ["("] or at and tokens[at - 1] == ".":
        return False  # without a look at all terms, which takes as long as a small fit at first
    kind = room("terms").get(tokens[at])
    return kind is not None and not (
        tokens[at + 3 : at + 4] == ["("] and tokens[at + 2] in kind.others
    )


def meant(kind: Any, given: list[list[str]]) -> str:
    """What too many arguments of a smooth may mean: the end of a message, or nothing."""
    numbers = [one[0] for one in given[1:] if len(one) == 1 and one[0].isdigit()]
    if numbers and "k" in kind.options():
        return f": write k={numbers[0]} for its size"
    surface = room("terms")["te"]
    if kind.covariates == 1 and not numbers and len(given) == 2:
        return f": a surface of two is {surface.written}"
    return ""


def read(
    name: str, tokens: list[str], resolver: "_Resolver", error: "Callable[[str], FormulaError]"
) -> SmoothCall:
    """The `SmoothCall` of a term.

    Parameters
    ----------
    name : str
    tokens : list of str
        Of its arguments.
    resolver : object
        With `resolve(tokens)`, code over placeholders, and `names`.
    error : function of str
    """
    given, options = [], {}
    for part in arguments(tokens):
        if part[1:2] == ["="]:
            options[part[0]] = part[2:]
        elif part:
            given.append(part)
    quoted = resolver.names.quoted
    kind = room("terms")[name]
    levels = of_levels(name)
    if levels and len(given) == 2 and kind.of_scope not in options:
        options[kind.of_scope] = given.pop()
    label = f"{name}({', '.join(quoted(written(one)) for one in given)})"
    text = quoted(
        f"{name}({written(tokens)})".replace(" ,", ",").replace(" =", "=").replace("= ", "=")
    )
    if any(BAR in one for one in given):  # glmmTMB's ar1(t + 0 | g)
        raise error(f"{text}: a term for each level of a factor is {kind.written[:-1]}, by=g)")
    for key in options:
        if key not in kind.options():
            raise error(f"{text}: there is no option {key!r}{nearest(key, kind.options())}")
    counts = kind.covariates if isinstance(kind.covariates, tuple) else (kind.covariates,)
    if len(given) not in counts:
        many = " or ".join({1: "one covariate", 2: "two covariates"}[one] for one in counts)
        raise error(
            f"{text}: a smooth of {many}, {kind.written}; {len(given)} are given"
            f"{meant(kind, given)}"
        )
    if levels and kind.of_scope not in options:
        raise error(f"{text}: {kind.of_scope} is not given: write {kind.written}")
    by = options.pop("by", None)
    if by is not None and len(by) != 1 and not is_coded(by):
        raise error(f"{text}: by must be one column, a factor or a number")
    own = options.pop(kind.of_scope) if levels else None
    values = {key: value(one, key, text, error) for key, one in options.items()}
    if own is not None:
        values[kind.of_scope] = held(own, text, resolver, error)
    try:
        # None is the default of every option
        made = kind(**{key: one for key, one in values.items() if one is not None})
    except ValueError as wrong:
        raise error(f"{text}: {wrong}") from None
    by = None if by is None else resolver.resolve(by)
    column = None
    if levels:
        column = column_of(written(given[0]), resolver, lambda why: error(f"{text}: {why}"))
    covariates = tuple(resolver.resolve(one) for one in given)
    return SmoothCall(text, label, covariates, by, made, column)


def held(
    tokens: list[str], text: str, resolver: "_Resolver", error: "Callable[[str], FormulaError]"
) -> Any:
    """The object of the user's that a term names; None of a formula that is only looked through."""
    name = written(tokens)
    if resolver.safe:
        raise error(f"{text}: {name!r} is an object of Python, which safe formulas do not have")
    if not resolver.names.of_table:
        return None
    value = resolver.scope.get(name)
    if value is None or ismodule(value):
        own = [one for one, held in resolver.scope.items() if not ismodule(held)]
        near = nearest(name, [one for one in own if not one.startswith("_")])
        raise error(f"{text}: there is no variable {name!r} where the formula is read{near}")
    return value


def refuse_twice(
    calls: Sequence[Any], bars: Sequence[Any], error: "Callable[[str], FormulaError]"
) -> None:
    """FormulaError for a curve, or effects of levels, in two terms: the data tell only their sum.

    Parameters
    ----------
    calls : sequence of SmoothCall
    bars : sequence of Bar
    error : function of str
    """
    labelled = [one for one in calls if one.column is not None]
    for call, other in permutations(labelled, 2):
        same = (call.column, call.by) == (other.column, other.by)
        if same and type(other.kind) in type(call.kind).__mro__[1:]:
            raise error(f"{call.label} has {other.label} in it: leave one of them out")
    for call in labelled:
        for bar in bars:
            whole = bar.columns == (call.column,) and not {"0", "-"} & {*bar.effects.split()}
            if call.kind.independent and whole and call.by is None:
                raise error(f"{call.label} has (1 | {call.column}) in it: leave ({bar.text}) out")
    curves = [(call.covariates, call.by, type(call.kind)) for call in calls]
    for call in calls:
        if curves.count((call.covariates, call.by, type(call.kind))) > 1:
            raise error(f"{call.label} is there twice, and only the sum can be known: drop one")
        inside = [(one,) for one in call.covariates if len(call.covariates) > 1]
        for other, curve in zip(calls, curves):
            if curve[0] in inside and curve[1] == call.by:
                raise error(f"{call.label} has {other.label} in it: leave one of them out")


def arguments(tokens: list[str]) -> list[list[str]]:
    """The tokens between commas."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def value(tokens: list[str], key: str, text: str, error: "Callable[[str], FormulaError]") -> Any:
    """The value of an option."""
    try:
        return literal_eval(" ".join(tokens))
    except (ValueError, SyntaxError):
        raise error(f"{text}: {key} must be a plain value, such as k=20 or bs='cr'") from None


def is_coded(by: list[str]) -> bool:
    """Whether `by` are the levels of a column: ``C(b)``."""
    return len(by) == 4 and by[:2] == ["C", "("] and by[3] == ")"
