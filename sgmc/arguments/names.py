"""Names: of parameters, of columns, of what is labelled."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.arguments.messages import must_be
from sgmc.errors import ArgumentError, DataError

SHOWN_LABELS = 8  # labels that a message about their order lists


def parameter(argument: str, name: object, known: Collection[str]) -> str:
    """Return the name of a parameter.

    Parameters
    ----------
    argument : str
        Where the user wrote it, such as ``"cols"``.
    name : object
    known : collection of str

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        If there is no such parameter; names the nearest, or lists them.
    """
    if not isinstance(name, str) or name not in known:
        hint = nearest(name, known, "they are")
        raise ArgumentError(f"{argument}: {name!r} is not a parameter{hint}")
    return name


def parameters(argument: str, given: Any, known: Collection[str]) -> list[str]:
    """Return the names of one or several parameters as a list.

    Raises
    ------
    ArgumentError
        If it is no list, or a name is not that of a parameter.
    """
    given = [given] if isinstance(given, str) else given
    if not np.iterable(given):
        raise must_be(argument, given, "a list of parameters")
    return [parameter(argument, name, known) for name in given]


def texts(name: str, value: Any, wanted: str, count: int | None = None) -> list[str]:
    """Return texts as a list.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : object
    wanted : str
        What it must be, for the message.
    count : int, optional
        How many there must be; then one text is no list of texts.

    Returns
    -------
    list of str

    Raises
    ------
    ArgumentError
        If the value is something else, or has another length.
    """
    if isinstance(value, str):
        value, given = [value] if count is None else [], value
    else:
        given = value
    listed = list(value) if np.iterable(value) else None
    if listed is None or count not in (None, len(listed)):
        raise must_be(name, given, wanted)
    if not all(isinstance(one, str) for one in listed):
        raise must_be(name, given, wanted)
    return listed


def of_second(prefix: str) -> str:
    """Return what a second linear predictor is of, in words: that before the names of its
    coefficients is ``"zero:"``, or a parameter's name.
    """
    return {"zero:": "the zeros", "dispersion:": "the dispersion"}.get(prefix, prefix[:-1])


def repeated(names: Sequence[str]) -> str:
    """Return the names that occur more than once, sorted, as text; empty where none does."""
    return ", ".join(repr(name) for name in sorted({n for n in names if names.count(n) > 1}))


def column_names(names: object, table: Any, d: int, called: str = "exog") -> list[str]:
    """Return a name for each column of a table: those given, those of a frame, or x1, x2, ...

    Parameters
    ----------
    names : list of str or None
        As the user gave them in ``names=``.
    table : array_like
        Asked for its own names where none are given.
    d : int
        Columns.
    called : str
        The table in messages.

    Returns
    -------
    list of str

    Raises
    ------
    ArgumentError
        If names that were given are not texts, repeat, or are too few or too many.
    DataError
        If names of a frame repeat.
    """
    if names is not None:
        listed = texts("names", names, f"{d} strings, one for each column of {called}", d)
        if twice := repeated(listed):
            raise ArgumentError(f"names repeat: {twice}; give each column of {called} its own")
        return listed
    if not hasattr(table, "columns"):
        return [f"x{j + 1}" for j in range(d)]
    listed = [str(c) for c in table.columns]
    if twice := repeated(listed):
        raise DataError(f"{called} has more than one column {twice}; rename or drop them")
    return listed


def same_order(
    name: str,
    values: object,
    names: Sequence[str],
    *,
    foreign: bool = False,
    error: type[Exception] = ArgumentError,
) -> None:
    """Refuse labels in another order: what is labelled would be read by position.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : object
        A Series or frame; what has no labels of text passes.
    names : list of str
        The labels in their order.
    foreign : bool, default False
        Whether labels pass of which none is one of `names`.
    error : type, default ArgumentError

    Raises
    ------
    ArgumentError
        Or `error`, if the labels are others, or in another order.
    """
    labels = getattr(values, "columns", getattr(values, "index", None))
    labels = [] if labels is None or callable(labels) else list(labels)
    if foreign:
        labels = [str(label) for label in labels]
        passes = not set(labels) & set(names)
    else:
        passes = not any(isinstance(label, str) for label in labels)
    if passes or labels == names:
        return
    found, wanted = ", ".join(map(str, labels[:SHOWN_LABELS])), ", ".join(names[:SHOWN_LABELS])
    raise error(
        f"{name} is labelled {found}; it must be {wanted}, in this order, or pass {name}.to_numpy()"
    )
