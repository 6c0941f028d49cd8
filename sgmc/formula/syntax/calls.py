"""Calls that are terms of their own, such as ``s(x)`` and ``offset(x)``: taken off the rest."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgmc.formula.syntax.bars import closing, written

if TYPE_CHECKING:
    from sgmc.errors import FormulaError


def taken_off(
    tokens: list[str],
    begins: Callable[[list[str], int], bool],
    error: "Callable[[str], FormulaError]",
) -> tuple[list[str], list[Any]]:
    """Take the calls that can only be added off the right side of a formula.

    Parameters
    ----------
    tokens : list of str
    begins : function of (tokens, place)
        Whether such a call begins at a place.
    error : function of str
        Makes the FormulaError of a message.

    Returns
    -------
    rest : list of str
        Tokens without them; ``["1"]`` where nothing else is left.
    calls : list of (str, list of str)
        Name and tokens between the parentheses of each.
    """
    rest: list[str] = []
    calls: list[Any] = []
    at, depth = 0, 0
    while at < len(tokens):
        if begins(tokens, at):
            end = closing(tokens, at + 1)
            before, after = tokens[at - 1] if at else "+", [*tokens, "+"][end + 1]
            if depth or before != "+" or after not in "+-":
                text = written(tokens[at : end + 1])
                raise error(f"{text} can only be added: {instead(text, tokens, at, end)}")
            calls.append((tokens[at], tokens[at + 2 : end]))
            if rest:
                rest.pop()  # the plus before it
            at = end + 1 + (not rest and after == "+")
            continue
        depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
        rest.append(tokens[at])
        at += 1
    return rest or ["1"], calls


def instead(text: str, tokens: list[str], at: int, end: int) -> str:
    """What to write in the place of a call that is not added: of a smooth times a factor, a smooth
    for each of its levels.
    """
    sign, other, beyond = [*tokens, "", "", ""][end + 1 : end + 4]
    if tokens[at - 1 : at] in ([":"], ["*"]) and at > 1:
        sign, other, beyond = tokens[at - 1], tokens[at - 2], ""
    if tokens[at] == "s" and sign in (":", "*") and other.isidentifier() and beyond != "(":
        return f"for a curve of each level write '{other} + {text[:-1]}, by={other})'"
    return f"write '... + {text}'"
