"""What is computed of the outcome's mean: the mean itself, comparisons of two, slopes."""

from typing import NamedTuple

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.errors import ArgumentError

TYPES = ("response", "link")
COMPARISONS = ("difference", "ratio", "lnratio", "lnor")
SLOPES = ("dydx", "eyex", "eydx", "dyex")
SIGNS = {
    "difference": "{high} - {low}",
    "ratio": "{high} / {low}",
    "lnratio": "ln({high} / {low})",
    "lnor": "ln(odds({high}) / odds({low}))",
}
SPREAD_ENDS = {
    "x + sd/2": ("x - sd/2", "x + sd/2"),
    "x + sd": ("x - sd", "x + sd"),
    "iqr": ("Q1", "Q3"),
    "minmax": ("Min", "Max"),
}


class Quantity(NamedTuple):
    """Something to compute at each row, or of averages over rows.

    Attributes
    ----------
    labels : dict
        Columns of the table that name it.
    cell : dict
        Values that variables are set to in all rows.
    frames : callable
        ``frames(frame)`` returns tables to predict, and numbers that `parts` needs.
    parts : callable
        ``parts(values, numbers)`` returns a list of arrays (kind, row, draw), to be averaged over
        rows.
    final : callable
        ``final(*parts)`` returns the quantity, of rows or of averages.
    linear : callable or None
        ``linear(numbers)`` returns, for each of the parts, what the values of each table are
        multiplied by, numbers or arrays (n,), None for nothing; None where parts are no such sums.
    moves : Change or None
        The change of one variable that the tables differ by.
    elastic : bool
        Whether a derivative is multiplied by the variable.
    """

    labels: dict
    cell: dict
    frames: object
    parts: object
    final: object
    linear: object = None
    moves: object = None
    elastic: bool = False


def the_mean(frames, cell):
    """E[y | x] or the linear predictor."""
    return Quantity(
        {},
        cell,
        lambda frame: ([frames(frame)], None),
        lambda v, _: v,
        lambda a: a,
        lambda _: [[1.0]],
    )


def comparison_of(change, comparison):
    """`Quantity` of a `Change`: of averages a ratio is that of the two averages."""
    if comparison == "difference":
        parts, final = (lambda v, _: [v[1] - v[0]]), (lambda a: a)
        factors = [[-1.0, 1.0]]
    else:
        parts, final = (lambda v, _: v), FINALS[comparison]
        factors = [[1.0, None], [None, 1.0]]
    labels = {"term": change.term, "contrast": contrast_of(change, comparison)}
    return Quantity(
        labels,
        {},
        lambda frame: split(change.frames(frame)),
        parts,
        final,
        lambda _: factors,
        change,
    )


def slope_of(change, slope):
    """`Quantity` of a `Change`: a derivative, or an elasticity."""
    if not change.slope:
        return comparison_of(change, "difference")

    def parts(values, numbers):
        low, high = values
        width, x = (one[None, :, None] for one in numbers)
        value = (high - low) / width
        if slope.endswith("ex"):
            value = value * x
        return [value / ((high + low) / 2) if slope.startswith("ey") else value]

    def linear(numbers):
        width, x = numbers
        factor = x / width if slope.endswith("ex") else 1 / width
        return [[-factor, factor]]

    def frames(frame):
        pair, width = split(change.frames(frame))
        return pair, (width, frame[change.term].to_numpy(dtype=float, na_value=np.nan))

    labels = {"term": change.term, "contrast": SLOPE_LABELS[slope]}
    return Quantity(
        labels,
        {},
        frames,
        parts,
        lambda a: a,
        None if slope.startswith("ey") else linear,  # a ratio of each row
        change,
        slope.endswith("ex"),
    )


SLOPE_LABELS = {"dydx": "dY/dX", "eyex": "eY/eX", "eydx": "eY/dX", "dyex": "dY/eX"}


def split(triple):
    """Two tables, and the distances."""
    return list(triple[:2]), triple[2]


def log_odds_ratio(low, high):
    """ln(odds(high) / odds(low))."""
    return np.log(high) - np.log1p(-high) - np.log(low) + np.log1p(-low)


FINALS = {
    "ratio": lambda low, high: high / low,
    "lnratio": lambda low, high: np.log(high / low),
    "lnor": log_odds_ratio,
}


def contrast_of(change, comparison):
    """A comparison in words: "b - a", "+1"."""
    if change.shift and change.label not in SPREAD_ENDS:
        return change.label
    low, high = SPREAD_ENDS.get(change.label, (shown_value(change.low), shown_value(change.high)))
    if change.label in ("x + sd/2", "x + sd") and comparison in ("difference", "ratio"):
        low, high = f"({low})", f"({high})"
    return SIGNS[comparison].format(low=low, high=high)


def shown_value(value):
    """A number or a label as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def checked_type(results, kind, comparison="difference"):
    """Whether the scale is that of the link; ArgumentError where a comparison has no meaning."""
    link, family = one_of("type", kind, TYPES) == "link", results.model.family
    one_of("comparison", comparison, COMPARISONS)
    if link and comparison != "difference":
        raise ArgumentError(
            f"comparison={comparison!r} is of outcomes: leave type='response', or take differences"
        )
    if link and (family.parts or (family.outcome == "ordered" and family.several)):
        raise ArgumentError(
            f"type='link': {family.name} has several linear predictors for one outcome; leave "
            "type='response'"
        )
    if comparison == "lnor" and not (family.outcome == "binary" or family.several):
        raise ArgumentError(
            f"comparison='lnor' is of probabilities, and {family.name} has none; use 'lnratio'"
        )
    return link


def kinds_of(results, link):
    """Labels of the kinds that a value has, or None for models of one."""
    if not results.model.family.several:
        return None
    kinds = results.model.kinds
    return kinds[1:] if link else kinds
