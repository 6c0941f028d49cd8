"""Group terms of a formula, ``(1 + x | g)``: taken off, so that patsy sees the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgmc.errors import FormulaError
    from sgmc.formula.syntax.parser import _Resolver


BAR, NESTED, JOINT = "|", "/", ":"


@dataclass(frozen=True)
class Bar:
    """A group term, its names resolved.

    Attributes
    ----------
    text : str
        As written.
    effects : str
        Code left of the bar, over placeholders.
    columns : tuple of str
        Whose combinations are the levels: ``("g", "h")`` of ``(1 | g:h)``.
    correlated : bool
        False where the bar is double.
    """

    text: str
    effects: str
    columns: tuple[Any, ...]
    correlated: bool


def split(tokens: list[str], error: "Callable[[str], FormulaError]") -> tuple[list[str], list[Any]]:
    """Take the group terms off the right side of a formula.

    Parameters
    ----------
    tokens : list of str
    error : function of str
        Makes the FormulaError of a message.

    Returns
    -------
    rest : list of str
        Tokens without them; ``["1"]`` where nothing else is left.
    bars : list of list of str
        Tokens between the parentheses of each.
    """
    rest: list[str] = []
    bars: list[list[str]] = []
    at = 0
    while at < len(tokens):
        opens = tokens[at] == "(" and not is_call(tokens, at)
        end = closing(tokens, at) if opens else at
        inside = tokens[at + 1 : end]
        if bar_places(inside):
            before, after = tokens[at - 1] if at else "+", [*tokens, "+"][end + 1]
            if before != "+" or after not in "+-" or any(depth for _, depth in bar_places(inside)):
                raise error(
                    f"({written(inside)}) can only be added: write '... + (1 | g)', a term in "
                    "parentheses of its own"
                )
            bars.append(inside)
            if rest:
                rest.pop()  # the plus before it
            at = end + 1 + (not rest and after == "+")
        else:
            rest += tokens[at : end + 1]
            at = end + 1
    if bar_places(rest):
        raise error("a group term stands in parentheses: write '... + (1 | g)'")
    return rest or ["1"], bars


def bar_places(tokens: list[str]) -> list[tuple[int, int]]:
    """Pairs of the place of each bar that is in no call, where it is Python's, and the depth of
    parentheses that it is in.
    """
    found, at, depth = [], 0, 0
    while at < len(tokens):
        if tokens[at] in ("(", "[") and is_call(tokens, at):
            at = closing(tokens, at)
        else:
            depth += (tokens[at] == "(") - (tokens[at] == ")")
            if tokens[at] == BAR:
                found.append((at, depth))
        at += 1
    return found


def is_call(tokens: list[str], at: int) -> bool:
    """Whether the parenthesis at a place follows the name of a function."""
    return at > 0 and (tokens[at - 1].isidentifier() or tokens[at - 1] in ")]")


def closing(tokens: list[str], at: int) -> int:
    """The place of the parenthesis that closes the one at a place; the last one without it."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in "([{") - (tokens[place] in ")]}")
        if depth == 0:
            return place
    return len(tokens) - 1


def written(tokens: list[str]) -> str:
    """Tokens as a user would write them."""
    text = " ".join(tokens).replace("| |", "||")
    pairs = (" ( ", "("), (" )", ")"), (" : ", ":"), (" / ", "/"), (" . ", "."), (" , ", ", ")
    for spaced, close in pairs:
        text = text.replace(spaced, close)
    return text


def read(
    tokens: list[str], resolver: "_Resolver", error: "Callable[[str], FormulaError]"
) -> list[Bar]:
    """The `Bar` of each factor that a group term names: ``(1 | g/h)`` is (1 | g) and (1 | g:h).

    Parameters
    ----------
    tokens : list of str
        Between the parentheses.
    resolver : object
        With `resolve(tokens)`, code over placeholders, and `names`.
    error : function of str
    """
    text = resolver.names.quoted(written(tokens))
    places = [at for at, _ in bar_places(tokens)]
    first, last = places[0], places[-1]
    if len(places) > 2 or last - first != len(places) - 1:
        raise error(f"({text}) has more than one bar")
    left, right = tokens[:first], tokens[last + 1 :]
    if not left or not right:
        raise error(
            f"({text}) lacks {'a factor' if left else 'effects'}: write (1 | g), or (1 + x | g)"
        )
    effects = resolver.resolve(left)
    return [
        Bar(text, effects, columns, len(places) == 1)
        for columns in factors(right, resolver, lambda message: error(f"({text}): {message}"))
    ]


def factors(
    tokens: list[str], resolver: "_Resolver", error: "Callable[[str], FormulaError]"
) -> list[tuple[str, ...]]:
    """Columns of each factor of what follows a bar."""
    columns, between = tokens[::2], set(tokens[1::2])
    if len(tokens) % 2 == 0 or not between <= {NESTED, JOINT} or len(between) > 1:
        known = "; known correlations are (1 | gr(g, cov=A))" if "cov" in tokens else ""
        raise error(
            f"what follows the bar names columns: g, g:h or g/h; other groups are added{known}"
        )
    names = [column(one, resolver, error) for one in columns]
    if len(set(names)) < len(names):
        raise error(f"{names[0]!r} is there twice: drop one")
    if between == {NESTED}:
        return [tuple(names[: k + 1]) for k in range(len(names))]
    return [tuple(names)]


def column(token: str, resolver: "_Resolver", error: "Callable[[str], FormulaError]") -> str:
    """The column that a token names."""
    inputs = resolver.names.inputs(resolver.resolve([token]) if token.isidentifier() else "")
    if len(inputs) != 1:
        raise error(f"{token!r} is not a column; groups are columns, make one of it first")
    return next(iter(inputs.values()))
