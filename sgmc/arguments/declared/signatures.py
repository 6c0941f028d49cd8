"""Signatures, docstrings and errors of functions that pass keywords on, from rows of a table."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, MethodType
from typing import Any

from sgmc.arguments.choices import nearest
from sgmc.arguments.declared.keywords import ARRAYS, FIT, FORMULA, OF_RUN, SELDOM, names
from sgmc.arguments.declared.parameter import Declared
from sgmc.arguments.intervals import LEVEL
from sgmc.elsewhere import ARGUMENTS, INTERVALS, OF_METHODS, SAME_OF_METHODS


def filled(function: Callable[..., Any], rows: Iterable[Declared]) -> inspect.Signature:
    """Return the signature of a function, its ``**`` replaced by keywords.

    Parameters
    ----------
    function : callable
    rows : iterable of Declared

    Returns
    -------
    inspect.Signature
        That of the function if it has no ``**``.
    """
    own = list(inspect.signature(function).parameters.values())
    named = [p for p in own if p.kind is not p.VAR_KEYWORD]
    if len(named) < len(own):
        given = {p.name for p in named}
        named += [
            inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=row.default)
            for row in rows
            if row.name not in given
        ]
    return inspect.Signature(named)


def documented(text: str, rows: Iterable[Declared]) -> str:
    """Return a docstring whose line ``{keywords}`` is replaced by the entries of rows; where it has
    a line ``{seldom}``, too, those of the arguments that few fits need are there.
    """
    rows, seldom = list(rows), []
    if "{seldom}" in text:
        seldom = [row for row in rows if row.name in SELDOM]
        # of the model first, then of the run
        rows = sorted(
            (row for row in rows if row.name not in SELDOM), key=lambda row: row.name in OF_RUN
        )
    text = inspect.cleandoc(text)
    for mark, listed in (("{keywords}", rows), ("{seldom}", seldom)):
        text = text.replace(mark, "\n".join(line for row in listed for line in row.lines()))
    return text


def named(
    function: Any, called: str, rows: Iterable[Declared], text: str | None = None
) -> Callable[..., Any]:
    """Return a copy of a function with a name, a signature and a docstring of its own.

    Parameters
    ----------
    function : function
        Its ``**`` takes the keywords.
    called : str
        The name in tracebacks and errors, such as ``"Logit.fit"``.
    rows : list of Declared
    text : str, optional
        The docstring, with a line ``{keywords}``.  Default: that of the function.
    """
    name = called.rpartition(".")[2]
    code = function.__code__.replace(co_name=name, co_qualname=called)
    made: Any = FunctionType(
        code, function.__globals__, name, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    made.__qualname__ = called
    made.__doc__ = documented(function.__doc__ or "" if text is None else text, rows)
    made.__signature__ = filled(function, rows)
    return made


def with_keywords(*rows: Declared) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that gives a function the signature and documentation of rows."""
    return lambda function: named(function, function.__name__, rows)


class PerClass:
    """A method that has a name, signature and docstring of its own in each class.

    Classes have ``_keywords(*takers)``, a class method that returns their rows.
    """

    def __init__(self, function: Any, takers: Sequence[str], of_class: bool = False) -> None:
        self.function, self.takers, self.of_class = function, takers, of_class

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        if isinstance(instance, type):  # as inspect.signature(cls) asks from Python 3.13 on
            owner = instance
        cls: Any = type(instance) if owner is None else owner
        called = f"{cls.__name__}.{self.function.__name__}"
        made = named(self.function, called, cls._keywords(*self.takers))
        if self.of_class:
            return MethodType(made, cls)
        return made if instance is None else MethodType(made, instance)


def per_class(*takers: str, of_class: bool = False) -> Callable[[Callable[..., Any]], PerClass]:
    """Return the decorator that makes a method `PerClass`, a class method if `of_class`."""
    return lambda function: PerClass(function, takers, of_class)


def refuse_unknown(called: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first argument that a function does not have.

    Parameters
    ----------
    called : str
        What the user called, such as ``"logit()"``.
    given, known : iterable of str
        Names.
    """
    for name in given:
        if name not in known:
            raise TypeError(
                f"{called} got an unexpected keyword argument {name!r}{hint(name, list(known))}"
            )


def hint(name: str, known: Iterable[str]) -> str:
    """Return the end of the message about an unknown argument: what has it, or what is near."""
    if name in names(FORMULA, ARRAYS):
        return "; it is an argument of the model"
    if name in names(*FIT):
        return "; it is an argument of fit()"
    if name in ARGUMENTS:
        return f"; {ARGUMENTS[name]}"
    return nearest(name, known, misspelt=True)


class ByOtherNames:
    """Base of classes whose public methods take arguments by the names of other packages, such as
    ``predict(newdata=df)`` (`sgmc.elsewhere.SAME_OF_METHODS`); for others the error names what to
    use (`sgmc.elsewhere.OF_METHODS`).
    """

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, by_other_names(method))


def by_other_names(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that takes arguments by other names too, see `ByOtherNames`."""
    called = method.__name__

    @functools.cache
    def taken() -> tuple[list[str], bool]:
        """Its arguments' names, and whether it passes others on."""
        parameters = inspect.signature(method).parameters.values()
        passes_on = any(p.kind is p.VAR_KEYWORD for p in parameters)
        return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD], passes_on

    @functools.wraps(method)
    def made(*given: Any, **named: Any) -> Any:
        return method(*given, **(of_method(called, named, *taken()) if named else named))

    return made


def of_method(
    called: str, given: dict[str, Any], known: list[str], passes_on: bool
) -> dict[str, Any]:
    """Return arguments of a method by our names.

    Parameters
    ----------
    called : str
        The method's name.
    given : dict
    known : list of str
        Names that it takes, which are never replaced.
    passes_on : bool
        Whether it passes arguments on to what refuses unknown ones.

    Raises
    ------
    TypeError
        For an unknown argument, and for one that is given by both names.
    """
    out: dict[str, Any] = {}
    for name, value in given.items():
        same = () if name in known else SAME_OF_METHODS.get(name, ())
        ours = next((one for one in same if one in known), name)
        if ours in out or ours != name and ours in given:
            raise TypeError(f"{called}() got {name!r}, which is {ours!r} here, more than once")
        there = ours in known or ours in INTERVALS and LEVEL in known
        if not there and not passes_on:
            advice = OF_METHODS.get(f"{called}.{name}") or OF_METHODS.get(name)
            raise TypeError(
                f"{called}() got an unexpected keyword argument {name!r}"
                + (f"; {advice}" if advice else nearest(name, known, misspelt=True))
            )
        out[ours] = value
    return out
