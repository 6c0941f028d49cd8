"""Vignettes as notebooks."""

import os
import sys
from pathlib import Path

import jupytext

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vignettes"))
import check

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(text):
    """A notebook of a py:percent script, to be run by this Python; with the smaller sizes of
    tutorials where SGMC_VIGNETTE_FAST is 1.
    """
    fast = os.environ.get("SGMC_VIGNETTE_FAST") == "1"
    made = jupytext.reads(check.quick(text) if fast else text, fmt="py:percent")
    made.metadata["kernelspec"] = KERNEL
    made.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return made
