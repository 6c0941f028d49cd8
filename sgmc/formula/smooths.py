"""Smooth terms of a formula, ``s(x)`` and ``te(x, z)``: taken off, so that patsy sees the rest."""

from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgmc.arguments.choices import nearest
from sgmc.formula.bars import written
from sgmc.formula.calls import taken_off

if TYPE_CHECKING:
    from sgmc.errors import FormulaError
    from sgmc.formula.dot import _Resolver


CURVE, SURFACE = "s", "te"
COVARIATES = {CURVE: 1, SURFACE: 2}
SIZES = {CURVE: 10, SURFACE: 5}  # elements of the basis of a covariate, by default
OPTIONS = ("k", "by", "bs", "knots")
FIXED = ("cr", "cc", "bs", "cs")  # patsy's bases, whose `te` has no penalty


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
    sizes : tuple of int
        Elements of the basis of each covariate.
    bs : str
    knots : tuple of float or None
    """

    text: str
    label: str
    covariates: tuple[Any, ...]
    by: str | None
    sizes: tuple[Any, ...]
    bs: str
    knots: tuple[Any, ...] | None

    @property
    def code(self) -> str:
        """Code of the covariates as terms."""
        return " + ".join(["0", *self.covariates])

    @property
    def lines(self) -> list[str]:
        """Code of the terms of what is not penalised, besides the intercept, a list."""
        found = list(self.covariates) if self.bs != "cc" else []
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
    return taken_off(tokens, is_smooth, error)


def is_smooth(tokens: list[str], at: int) -> bool:
    """Whether a smooth term begins at a place; patsy's `te` of its own bases is none."""
    if tokens[at] not in COVARIATES or tokens[at + 1 : at + 2] != ["("]:
        return False
    if at and tokens[at - 1] == ".":
        return False
    return not (tokens[at] == SURFACE and tokens[at + 2] in FIXED and tokens[at + 3] == "(")


def read(
    name: str, tokens: list[str], resolver: "_Resolver", error: "Callable[[str], FormulaError]"
) -> SmoothCall:
    """The `SmoothCall` of a term.

    Parameters
    ----------
    name : {"s", "te"}
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
    label = f"{name}({', '.join(quoted(written(one)) for one in given)})"
    text = quoted(
        f"{name}({written(tokens)})".replace(" ,", ",").replace(" =", "=").replace("= ", "=")
    )
    for key in options:
        if key not in OPTIONS:
            raise error(f"{text}: there is no option {key!r}{nearest(key, OPTIONS)}")
    wanted = COVARIATES[name]
    if len(given) != wanted:
        many = "one covariate, s(x)" if wanted == 1 else "two covariates, te(x, z)"
        raise error(f"{text}: a smooth of {many}; {len(given)} are given")
    k, bs, knots = (value(options.get(key), key, text, error) for key in ("k", "bs", "knots"))
    sizes = (k,) * wanted if isinstance(k, int) else k
    if sizes is None:
        sizes = (SIZES[name],) * wanted
    if not (isinstance(sizes, tuple | list) and len(sizes) == wanted and all(map(whole, sizes))):
        raise error(f"{text}: k must be a whole number{' or two' if wanted > 1 else ''}")
    if knots is not None and (wanted > 1 or not isinstance(knots, tuple | list)):
        raise error(f"{text}: knots are those of one covariate: s(x, knots=[0, 1])")
    if not all(isinstance(one, int | float) for one in knots or ()):
        raise error(f"{text}: knots must be numbers, such as knots=[0, 1]")
    if len(options.get("by", [""])) != 1:
        raise error(f"{text}: by must be one column, a factor or a number")
    by = resolver.resolve(options["by"]) if "by" in options else None
    covariates = tuple(resolver.resolve(one) for one in given)
    knots = None if knots is None else tuple(map(float, knots))
    return SmoothCall(text, label, covariates, by, tuple(sizes), bs or "cr", knots)


def refuse_twice(calls: Sequence[Any], error: "Callable[[str], FormulaError]") -> None:
    """FormulaError for a curve that stands in two terms: the data tell only their sum."""
    curves = [(call.covariates, call.by) for call in calls]
    for call in calls:
        if curves.count((call.covariates, call.by)) > 1:
            raise error(f"{call.label} is there twice, and only the sum can be known: drop one")
        inside = [((one,), call.by) for one in call.covariates if len(call.covariates) > 1]
        for other, curve in zip(calls, curves):
            if curve in inside:
                raise error(f"{call.label} has {other.label} in it: leave one of them out")


def whole(number: object) -> bool:
    """Whether it is a whole number."""
    return isinstance(number, int) and not isinstance(number, bool)


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


def value(
    tokens: list[str] | None, key: str, text: str, error: "Callable[[str], FormulaError]"
) -> Any:
    """What an option says, None where it is not given."""
    if tokens is None:
        return None
    try:
        return literal_eval(" ".join(tokens))
    except (ValueError, SyntaxError):
        raise error(f"{text}: {key} must be a plain value, such as k=20 or bs='cr'") from None
