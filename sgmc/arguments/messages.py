"""The sentence that every refused argument gets: its name and value, what it must be,
what to do.
"""

from collections.abc import Sequence

import numpy as np

from sgmc.errors import ArgumentError

LONGEST_VALUE = 200  # characters of a value in a message


def must_be(name: str, value: object, wanted: str, advice: str = "") -> ArgumentError:
    """Return the error for an argument of a wrong value.

    Parameters
    ----------
    name : str
        The argument as the user writes it, such as ``"grid['step_size']"``.
    value : object
        What was passed.
    wanted : str
        What it must be, such as ``"a positive number"``.
    advice : str, optional
        What to do.

    Returns
    -------
    ArgumentError
        To be raised by the caller.
    """
    told = f"{name}={value_text(value)} must be {wanted}"
    return ArgumentError(told + (f"; {advice}" if advice else ""))


def value_text(value: object) -> str:
    """Return a value as users wrote it; of arrays and tables that take many lines, type and shape.

    Parameters
    ----------
    value : object
    """
    text, shape = repr(value), getattr(value, "shape", None)
    if len(text) <= LONGEST_VALUE and "\n" not in text:
        return text
    return f"<{type(value).__name__} of shape {shape}>" if shape else f"{text[:LONGEST_VALUE]}..."


def label_text(label: object) -> str:
    """Return a label as users write it: ``'a'``, ``3``, ``('a', 3)``, ``2024-01-31``.

    Parameters
    ----------
    label : object
        As tables, arrays and indices hold it; what numpy or pandas wrap is unwrapped.
    """
    if isinstance(label, tuple):
        return f"({', '.join(map(label_text, label))}{',' * (len(label) == 1)})"
    if isinstance(label, np.generic) and not isinstance(label, (np.datetime64, np.timedelta64)):
        label = label.item()
    # times and intervals, whose repr names a class
    return repr(label) if isinstance(label, (str, bytes, int, float)) else str(label)


def labels_text(labels: Sequence[object], most: int = 6) -> str:
    """Return the first labels of some, and dots where there are more.

    Parameters
    ----------
    labels : sequence
    most : int
    """
    return ", ".join(map(label_text, labels[:most])) + (", ..." if len(labels) > most else "")
