"""Vignettes as notebooks."""

import jupytext

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(text):
    """A notebook of a py:percent script, to be run by this Python."""
    made = jupytext.reads(text, fmt="py:percent")
    made.metadata["kernelspec"] = KERNEL
    made.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return made
