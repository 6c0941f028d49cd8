"""The identifiers that stand for columns in the code of formulas."""

import re

DOT = "_sgmc_dot_"
PLACEHOLDER = re.compile(r"\b_sgmc_(\d+)_\b")


def is_place(name: str) -> bool:
    """Whether a name stands for a column, or for R's dot."""
    return name == DOT or PLACEHOLDER.fullmatch(name) is not None
