"""What ``progress=`` may be, and what bars are made of."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sgmc.arguments.messages import must_be

SECONDS_OF_TEXT = 2.0  # between two drawings in a notebook without widgets


def function_of(progress: object) -> Callable[[int, int], object] | None:
    """The function of (done, total) that was given, or None for a bar, or none, of our own."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise must_be("progress", progress, "True, False, None or a function of (done, total)")
    return None


def watching() -> bool:
    """Whether somebody looks, if nothing is said: in notebooks and at terminals."""
    return in_notebook() or sys.stderr is not None and sys.stderr.isatty()


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def has_widgets() -> bool:
    """Whether this is a notebook that can draw bars as widgets."""
    return in_notebook() and find_spec("ipywidgets") is not None


def seconds_apart() -> float:
    """Seconds between two drawings of a bar: of text in notebooks, each is a message that stays."""
    return SECONDS_OF_TEXT if in_notebook() and not has_widgets() else 0.0


def bar_class() -> Any:
    """The bar of tqdm that fits: of widgets in notebooks that have them, else of text."""
    if has_widgets():
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    return tqdm
