"""Declared parameters: the one form of a row from which checks, help, signatures and stubs come."""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sgmc.arguments.choices import one_of
from sgmc.arguments.numbers import is_number, number, whole

REQUIRED = inspect.Parameter.empty  # the default of what has none


@dataclass(frozen=True)
class Declared:
    """A row: what an argument is called, its default, and what it means.

    Subclasses add `span`, what is allowed as text, and `annotation`, its type as text.
    """

    name: str
    default: object
    doc: str

    @property
    def span(self) -> str:
        """What is allowed, as text."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Its entry in a docstring."""
        if self.default is REQUIRED:
            told = ""
        else:
            told = ", optional" if self.default is None else f", default {self.default!r}"
        return [f"{self.name} : {self.span}{told}", *(f"    {line}" for line in self.told())]

    def told(self) -> list[str]:
        """The lines of its documentation."""
        return inspect.cleandoc(self.doc).split("\n")


@dataclass(frozen=True)
class Parameter(Declared):
    """One row of a parameter table: a number in an open interval, a whole one in a closed interval,
    or one of some choices.
    """

    low: float = -math.inf
    high: float = math.inf
    choices: tuple[object, ...] = ()
    whole: bool = False

    @property
    def span(self) -> str:
        """What is allowed, as text."""
        return " | ".join(map(repr, self.choices)) or f"{self.low:g} .. {self.high:g}"

    @property
    def annotation(self) -> str:
        """The type of a value, as text."""
        if set(self.choices) == {False, True}:
            return "bool"
        if self.choices:
            return f"Literal[{', '.join(map(repr, self.choices))}]"
        return "int" if self.whole else "float"

    def shown(self, value: object) -> str:
        """A value as text."""
        return repr(value)

    def check(self, value: object, owner: str) -> Any:
        """`value` if it is allowed; else ArgumentError with the range."""
        name = f"{owner}: {self.name}"
        if self.choices:
            return one_of(name, value, self.choices)
        if self.whole:
            return whole(name, value, self.low, self.high)
        return number(name, value, self.low, self.high)


@dataclass(frozen=True)
class Derivable(Parameter):
    """A row whose number, from `low` on, the fit derives where it is None, as it is by default."""

    @property
    def span(self) -> str:
        """What is allowed, as text."""
        return f"{super().span}, or None (derived)"

    @property
    def annotation(self) -> str:
        """The type of a value, as text."""
        return "float | None"

    def check(self, value: object, owner: str) -> float | None:
        if value is None or (is_number(value) and value == self.low):
            return None if value is None else float(value)
        return Parameter.check(self, value, owner)


@dataclass(frozen=True)
class Keyword(Declared):
    """An argument of verbs, models and fits, which check it where they use it.

    Parameters
    ----------
    name, default, doc
        See `Declared`; lines of `doc` are wrapped as they are to be printed.
    span : str
        Type and allowed range in numpydoc's form, without the default.
    annotation : str
        Type for stubs; names as `sgmc.api.stubs` defines them.
    takers : tuple of str
        Who takes it; see `sgmc.arguments.declared.keywords`.
    option : callable, optional
        Turns the command line's text into a value; None: there is no such option.
    """

    span: str = ""
    annotation: str = "Any"
    takers: tuple[str, ...] = ()
    option: Callable[[str], Any] | None = None

    @property
    def brief(self) -> str:
        """The first sentence of its documentation."""
        first = re.split(r"\.(?:  |\n)", "\n".join(self.told()))[0]
        return " ".join(first.split()).removesuffix(".")

    @property
    def typed(self) -> str:
        """What is allowed on the command line, as text: choices, or a range of numbers."""
        if self.option in (int, float):
            return self.span.partition(",")[0]
        if self.option is str:
            return self.span[: self.span.find("}") + 1]
        return self.span


def number_or_auto(text: str) -> int | str:
    """Return a whole number, or "auto"; ValueError for another text."""
    return text if text == "auto" else int(text)


def number_or_word(text: str) -> int | str:
    """A whole number of the command line, or the word that an argument also may be."""
    try:
        return int(text)
    except ValueError:
        return text
