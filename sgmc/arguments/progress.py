"""What ``progress=`` may be, and what bars are made of."""

import sys
from importlib.util import find_spec

from sgmc.arguments.messages import must_be


def function_of(progress):
    """The function of (done, total) that was given, or None for a bar, or none, of our own."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise must_be("progress", progress, "True, False, None or a function of (done, total)")
    return None


def watching():
    """Whether somebody looks, if nothing is said: in notebooks and at terminals."""
    return in_notebook() or sys.stderr is not None and sys.stderr.isatty()


def in_notebook():
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def bar_class():
    """The bar of tqdm that fits: of widgets in notebooks that have them, else of text."""
    if in_notebook() and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    return tqdm
