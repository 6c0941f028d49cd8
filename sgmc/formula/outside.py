"""Texts of formulas and subsets from outside, looked through before they are evaluated."""

import re
from collections.abc import Collection

from sgmc.arguments.choices import flag
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.formula import parts
from sgmc.formula.evaluation.allowlist import modules
from sgmc.formula.evaluation.code import Check, Refused
from sgmc.formula.evaluation.safe import WAY_OUT, SafeFormula, refuse_code
from sgmc.formula.syntax import parser

PLAIN_VALUES = ("True", "False", "None", "TRUE", "FALSE")


class AnyNames(parser.Names):
    """Names of columns that are not known: every name may be one that is not called."""

    of_table = False

    def __init__(self) -> None:
        super().__init__(())

    def __contains__(self, name: str) -> bool:
        return name not in PLAIN_VALUES

    def placeholder(self, name: str) -> str:
        if name not in self._placeholders:
            self._placeholders[name] = f"_sgmc_{len(self.columns)}_"
            self.columns = (*self.columns, name)
        return self._placeholders[name]


def formula(text: str, *, safe: bool = False) -> str | SafeFormula:
    """Return a formula whose text comes from outside: a web form, a file, a chat.

    A formula is code. With ``safe=True`` it may have columns, arithmetic, comparisons and calls of
    functions in a fixed list, and what it would compute is bounded; anything else is refused before
    anything is evaluated. Names are columns of the table or functions of that list, never what the
    caller has in scope.

    Parameters
    ----------
    text : str
        ``"y ~ poly(x, 2) + C(g)"``, in the language of all formulas.
    safe : bool, default False
        Whether the text comes from outside. Without it the text is returned as it is: a plain text
        may call what is in scope where a verb is called.

    Returns
    -------
    SafeFormula or str
        What verbs, `from_formula` of models, `sgmc.prepare` and `update` of results take as their
        formula. Results and prepared files remember that it is safe, and look through the text of
        ``subset=``, too.

    Raises
    ------
    FormulaError
        Naming the piece that is refused, the reason, and the way out.

    Examples
    --------
    >>> sgmc.logit(sgmc.formula("y ~ poly(x, 2) + C(g)", safe=True), df).summary()
    """
    if not isinstance(text, str):
        raise ArgumentError(f"text must be a formula as str, not {type(text).__name__}")
    if not flag("safe", safe):
        return text
    made = SafeFormula(text)
    left, tilde, right = text.partition("~")
    whole = left.strip() not in ("", ".")  # else a change of a formula, for `update` of results
    for one in texts_of(made if whole or not tilde else SafeFormula(f"y ~{right}")):
        parsed = parser.parse(one, AnyNames())
        for code in parsed.sides:
            parsed.terms_of(code)
    return made


def texts_of(formula: str | SafeFormula) -> tuple[str | SafeFormula, ...]:
    """The formulas of the parts of a formula."""
    return parts.split(formula, "zero:") if parts.has_bar(formula) else (formula,)


def refuse_text(formula: str, own: Collection[str] = ()) -> None:
    """Raise `Refused` for a formula that has other code than those from outside may have.

    Parameters
    ----------
    formula : str or SafeFormula
    own : iterable of str
        Names of functions of the user's that it may call.
    """
    for text in texts_of(str(formula)):
        try:
            parsed = parser.parse(
                text, AnyNames(), {**modules(), **dict.fromkeys(own, refuse_text)}
            )
        except FormulaError as error:
            raise Refused(str(text), str(error)) from error
        refuse_code(parsed, own, bounded=isinstance(formula, SafeFormula))


def refuse_subset(subset: str) -> None:
    """Raise `Refused` for an expression of `DataFrame.eval` that is no comparison of columns."""
    text = re.sub(r"`[^`]*`", "column", subset)
    if "@" in text:
        raise Refused("@", "it takes variables of Python")
    Check(AllColumns(), {}).code(text.replace("\n", " "))


def check_subset_of(formula: str | SafeFormula, subset: object) -> None:
    """DataError where the text of ``subset=`` beside a formula from outside has other code than a
    comparison of columns.
    """
    if not isinstance(formula, SafeFormula) or not isinstance(subset, str):
        return
    try:
        refuse_subset(subset)
    except Refused as error:
        raise DataError(
            f"subset={subset!r} beside a safe formula has {error.piece!r}: {error.reason}. "
            f"{WAY_OUT}"
        ) from error


class AllColumns:
    """All names are columns."""

    def __contains__(self, name: object) -> bool:
        return True
