"""Formulas whose text comes from outside: what they are, and the check before they are read."""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import patsy
from patsy.parse_formula import parse_formula

from sgmc.errors import FormulaError
from sgmc.formula.data.places import is_place
from sgmc.formula.evaluation import bounds
from sgmc.formula.evaluation.allowlist import modules
from sgmc.formula.evaluation.code import Check, Refused

if TYPE_CHECKING:
    from sgmc.formula.syntax.parser import Parsed


MOST_TEXT = 10_000  # characters
LONGEST_PIECE = 80  # characters of a piece of a formula in a message
WAY_OUT = (
    "Formulas from outside have columns, arithmetic and listed functions (docs/security.md): make "
    "a column of anything else, or give a formula of your own as plain text"
)


@dataclass(frozen=True)
class SafeFormula:
    """A formula from outside; made by `sgmc.formula`.

    It is no text, so that what takes formulas apart cannot take it for one of the user's own.

    Parameters
    ----------
    text : str
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"sgmc.formula({self.text!r}, safe=True)"


class Placeholders:
    """The placeholders of columns, and the dot."""

    def __contains__(self, name: object) -> bool:
        return is_place(str(name))


def is_formula(value: object) -> bool:
    """Whether a value is a formula, from outside or not."""
    return isinstance(value, str | SafeFormula)


def like(text: str, *formulas: Any) -> str | SafeFormula:
    """A text made of formulas: from outside, if any of them is."""
    return SafeFormula(text) if any(isinstance(one, SafeFormula) for one in formulas) else text


def scope_of(formula: str | SafeFormula, scope: dict[str, Any] | None) -> dict[str, Any]:
    """The names besides columns that a formula may use: of one from outside, listed modules."""
    return modules() if isinstance(formula, SafeFormula) else scope or {}


def refuse_long(formula: str | SafeFormula) -> None:
    """FormulaError for a formula from outside that is too long to be looked through."""
    if isinstance(formula, SafeFormula) and len(formula.text) > MOST_TEXT:
        reason = f"it has {len(formula.text):,} characters; at most {MOST_TEXT:,} are read"
        raise refusal(Refused(formula.text, reason))


def refusal(error: Refused) -> FormulaError:
    """The FormulaError of a `Refused`."""
    piece = error.piece[:LONGEST_PIECE] + "..." * (len(error.piece) > LONGEST_PIECE)
    return FormulaError(f"the safe formula has {piece!r}: {error.reason}. {WAY_OUT}")


def tree_of(code: str) -> "ast.Expression":
    """Patsy's tree of a right side.

    Raises
    ------
    patsy.PatsyError, SyntaxError, RecursionError
        If it is none.
    """
    return parse_formula("~ " + code)


def leaves(tree: Any) -> list[Any]:
    """Codes of the factors of a tree, without making its terms; a list."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if node.type == "PYTHON_EXPR":
            found.append(node.token.extra)
        waiting += node.args
    return found


def refuse_code(parsed: "Parsed", own: Collection[str] = (), bounded: bool = True) -> None:
    """Raise `Refused` for a formula with code that those from outside may not have.

    Parameters
    ----------
    parsed : Parsed
    own : container of str
        Names of functions that the user has given for it.
    bounded : bool
        See `Check`.
    """
    codes = [*(parsed.pair or (parsed.response,)), *([parsed.offset] if parsed.offset else [])]
    codes += [one.by for one in parsed.smooths if one.by]
    for side in parsed.sides:
        try:
            codes += leaves(tree_of(side))
        except (patsy.PatsyError, SyntaxError) as error:
            raise Refused(parsed.names.quoted(side), str(error.args[0])) from error
    check = Check(Placeholders(), parsed.functions, own, bounded=bounded)
    for code in codes:
        try:
            check.code(code)
        except Refused as error:
            raise Refused(parsed.names.quoted(error.piece), error.reason) from error


def refuse_parsed(parsed: "Parsed") -> None:
    """FormulaError where a formula from outside has other code than it may have, or too much."""
    if not parsed.safe:
        return
    try:
        refuse_code(parsed)
        bounds.refuse_large(parsed.bars, parsed.smooths)
    except Refused as error:
        raise refusal(error) from error
