"""One of a few choices; the nearest of the known names for one that is unknown."""

import difflib
import numbers
from collections.abc import Iterable

import numpy as np

from sgmc import spelling
from sgmc.arguments.messages import must_be
from sgmc.arguments.types import Same

SHOWN_CHOICES = 20  # names that a message lists; more would hide the sentence


def nearest(
    name: object, known: Iterable[object], listed: str = "", *, misspelt: bool = False
) -> str:
    """Return the end of a message about an unknown name: the nearest of the known ones.

    Parameters
    ----------
    name : object
    known : iterable of str
    listed : str, optional
        Introduces a list of the known names, ``"they are"``, where none is near.
    misspelt : bool, optional
        Whether only a name is near of which this one is a misspelling (`sgmc.spelling.misspelt`):
        among names of functions and arguments those that look alike mean other things.

    Returns
    -------
    str
        ``"; did you mean 'x1'?"``, ``"; they are: x1, x2"``, or ``""`` without `listed`.
    """
    names = [str(one) for one in known]
    near = [one for one in names if one.casefold() == str(name).casefold()]
    if misspelt and not near:
        return spelling.nearest(str(name), tuple(names))
    near = near or difflib.get_close_matches(str(name), names)
    near.sort(key=lambda one: sorted(one) != sorted(str(name)))  # swapped letters first
    if near:
        return f"; did you mean {near[0]!r}?"
    more = ", ..." if len(names) > SHOWN_CHOICES else ""
    return f"; {listed}: {', '.join(names[:SHOWN_CHOICES])}{more}" if listed and names else ""


def one_of(name: str, value: object, choices: Iterable[Same], otherwise: str = "") -> Same:
    """Return the choice that a value is.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : object
    choices : iterable
        Texts, numbers, bools and None.
    otherwise : str, optional
        What else is allowed and dealt with by the caller, for the message: ``", or a matrix"``.

    Returns
    -------
    object
        The member of `choices` equal to `value`.

    Raises
    ------
    ArgumentError
        If the value is none of them; names the nearest.
    """
    choices = tuple(choices)
    if value is None or isinstance(value, (str, numbers.Number, np.generic)):
        for choice in choices:
            if value is choice or choice is not None and value == choice:
                return choice
    shown = ", ".join(map(repr, choices))
    wanted = f"one of {shown}" if len(choices) > 1 else shown
    texts = [choice for choice in choices if isinstance(choice, str)]
    hint = nearest(value, texts) if isinstance(value, str) else ""
    raise must_be(name, value, wanted + otherwise, hint.removeprefix("; "))


def flag(name: str, value: object) -> bool:
    """Return True or False as it is.

    Raises
    ------
    ArgumentError
        For anything else.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise must_be(name, value, "True or False")
