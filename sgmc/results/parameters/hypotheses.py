"""Statements about parameters that join inequalities: all of them, any of them, ranges."""

import re

import numpy as np
import pandas as pd

from sgmc.diagnostics.chains import convergence, moments
from sgmc.errors import ArgumentError
from sgmc.results.parameters.contrasts import posterior_frame
from sgmc.results.parameters.expression import Statement

SIGNS_OF = r"(<=|>=|<|>)"
SHAPE = (
    "must have one of < > <= >= between two expressions, as 'x1 > 0', two of them for a range, as "
    "'-0.1 < x1 < 0.1', or several such statements joined by & and |; an exact equality has "
    "probability zero"
)


def hypothesis(results, text):
    """Return the posterior probability of a statement; see `Estimates.hypothesis`."""
    if not isinstance(text, str):
        raise ArgumentError(f"hypothesis {text!r} must be text, such as 'x1 > 0'")
    read = Reading(results, text)
    holds = read.holds(read.statement.code)[..., None]
    row = {}
    if len(read.differences) == 1:
        draws = read.differences[0][..., None]
        row = posterior_frame(draws, results.weights, [text], 0.05).iloc[0].drop("P(>0)").to_dict()
    share = moments.mean(holds.astype(float), results.weights)[0]
    return pd.Series({**row, "prob": share, "mcse": error_of(read, holds)}, name=text)


def error_of(read, holds):
    """Monte Carlo error of a probability; where all draws agree, one over the effective draws of
    the inequalities, which is what the probability may be from 0 or 1.
    """
    weights = read.results.weights
    if holds.any() and not holds.all():
        return convergence.mcse(holds.astype(float), weights=weights)[0]
    draws = np.stack(read.differences, axis=-1)
    return float(1 / np.nanmin(convergence.ess(draws, weights=weights), initial=np.inf))


class Reading:
    """A statement on its way to the draws at which it holds.

    Attributes
    ----------
    statement : Statement
    differences : list of array (chain, draw)
        Left minus right of each inequality met so far.
    """

    def __init__(self, results, text):
        self.results, self.text, self.differences = results, text, []
        self.statement = Statement(text, results.names, "hypothesis")
        found = re.search(r"\b(and|or)\b", self.statement.code)
        if found:
            sign = {"and": "&", "or": "|"}[found[1]]
            raise ArgumentError(
                f"hypothesis {text!r}: statements are joined by & and |: write {sign!r} for "
                f"{found[1]!r}"
            )

    def holds(self, code):
        """Whether a part holds, (chain, draw) of bool; & binds before |."""
        code = unwrapped(code)
        for sign, join in (("|", np.logical_or), ("&", np.logical_and)):
            parts = split_outside(code, sign)
            if len(parts) > 1:
                return join.reduce([self.holds(one) for one in parts])
        return self.inequalities(code)

    def inequalities(self, code):
        """Whether an inequality, or a range, holds."""
        sides = re.split(SIGNS_OF, code)
        if len(sides) not in (3, 5):
            raise ArgumentError(f"hypothesis {self.text!r} {SHAPE}")
        if len(sides) == 5 and sides[1][0] != sides[3][0]:
            raise ArgumentError(
                f"hypothesis {self.text!r}: a range has two signs of one direction, as "
                "'-0.1 < x1 < 0.1'"
            )
        if not all(side.strip() for side in sides):
            raise ArgumentError(f"hypothesis: cannot read {self.text!r}, one side is empty")
        ends = [self.statement.combination(side) for side in sides[::2]]
        found = []
        for (a, u), (b, v), sign in zip(ends, ends[1:], sides[1::2]):
            difference = self.results.draws @ (u - v) + (a - b)
            self.differences.append(difference)
            found.append(difference < 0 if sign[0] == "<" else difference > 0)
        return np.logical_and.reduce(found)


def depths(code):
    """How many parentheses each character is within."""
    steps = np.array([(c == "(") - (c == ")") for c in code], dtype=int)
    return np.cumsum(steps) - (steps > 0)


def split_outside(code, sign):
    """Parts between signs that are in no parentheses."""
    within, parts, start = depths(code), [], 0
    for place, one in enumerate(code):
        if one == sign and within[place] == 0:
            parts.append(code[start:place])
            start = place + 1
    return [*parts, code[start:]]


def unwrapped(code):
    """A part without parentheses around all of it."""
    code = code.strip()
    while code.startswith("(") and code.endswith(")") and (depths(code)[1:-1] > 0).all():
        code = code[1:-1].strip()
    return code
