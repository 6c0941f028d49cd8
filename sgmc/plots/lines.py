"""Curves with intervals by group, points with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.plots.axes import PALETTE, axes_for, few_ticks, legend_above, ratio_ticks, rug, wrapped

LINE_HEIGHT, CLOSE_HEIGHT = 0.3, 0.2  # inches of a line of `intervals`: of few, of many
FEW_LINES = 15
AXES_WIDTH, LETTER_WIDTH = 4.4, 0.085  # inches of `intervals`, beside names of so many letters
LABEL_WIDTH = 60  # letters of a line
Y_WIDTH = 40  # letters of a line beside an axis
CROWDED_LETTERS = 40  # of all labels under an axis, beyond which they are slanted
DODGE = 0.12  # of the distance of two places, between groups


def curves(
    groups: Sequence[tuple[Any, ...]],
    x_name: str,
    y_name: str,
    by: str = "",
    ax: Any = None,
    rows: Any = None,
) -> Any:
    """Means and intervals along x: lines with bands, or points where x has labels.

    Parameters
    ----------
    groups : list of (label, x, mean, low, high)
        Of each group; x are numbers or texts.
    x_name, y_name : str
    by : str
        What groups are, for the legend; empty where there is one.
    ax : Axes or None
    rows : array or None
        Values of x in the data, to mark; None for labels.
    """
    (one,) = axes_for(1, ax, (5.0, 3.6))
    labels = list(dict.fromkeys(str(x) for group in groups for x in group[1]))
    numeric = all(np.issubdtype(np.asarray(group[1]).dtype, np.number) for group in groups)
    for k, (label, x, mean, low, high) in enumerate(groups):
        colour = PALETTE[k % len(PALETTE)]
        if numeric:
            one.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            one.plot(x, mean, color=colour, label=str(label))
            continue
        place = np.array([labels.index(str(value)) for value in x], dtype=float)
        place += DODGE * (k - (len(groups) - 1) / 2)
        one.vlines(place, low, high, color=colour, linewidth=1.5)
        one.plot(place, mean, "o", color=colour, markersize=5, label=str(label))
    few_ticks(one, "y", 6)
    if numeric:
        few_ticks(one, most=7)
        if rows is not None:
            rug(one, rows)
    else:
        slanted = sum(map(len, labels)) > CROWDED_LETTERS
        how = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        one.set_xticks(range(len(labels)), labels, **how)
        one.set_xlim(-0.5, len(labels) - 0.5)
    if by:
        legend_above(one, title=by)
    one.set_xlabel(x_name)
    one.set_ylabel(wrapped(y_name, Y_WIDTH))
    return one


def intervals(
    names: list[str],
    mean: Floats,
    low: Floats,
    high: Floats,
    x_name: str,
    ax: Any = None,
    neutral: float = 0.0,
    inner: tuple[Floats, Floats] | None = None,
    ratio: bool = False,
) -> Any:
    """A point and an interval for each name, from the top down, with a line at no effect.

    Parameters
    ----------
    names, mean, low, high
    x_name : str
    ax : Axes or None
    neutral : float
        Where the line at no effect is.
    inner : (array, array) or None
        Ends of shorter intervals, drawn as thick bars.
    ratio : bool
        Whether the axis is logarithmic.
    """
    count, texts = len(names), [wrapped(name) for name in names]
    lines = 1 + max((text.count("\n") for text in texts), default=0)
    height = LINE_HEIGHT if count <= FEW_LINES else CLOSE_HEIGHT
    wide = max((len(line) for text in texts for line in text.split("\n")), default=0)
    size = (AXES_WIDTH + LETTER_WIDTH * wide, 1.0 + height * lines * max(count, 3))
    (one,) = axes_for(1, ax, size)
    place = np.arange(count)[::-1]
    one.axvline(neutral, color="0.7", linewidth=0.8, zorder=0)
    one.hlines(place, low, high, color=PALETTE[0], linewidth=1.2)
    if inner is not None:
        one.hlines(place, *inner, color=PALETTE[0], linewidth=3.5)
    one.plot(
        mean, place, "o", color=PALETTE[0], markersize=5, markerfacecolor="white",
        markeredgewidth=1.4,
    )  # fmt: skip
    one.set_yticks(place, texts, fontsize=None if count <= FEW_LINES else "small")
    one.set_ylim(-0.7, count - 0.3)
    if ratio:
        ratio_ticks(one)
    else:
        few_ticks(one, most=6)
    one.set_xlabel("\n".join(wrapped(line, LABEL_WIDTH) for line in x_name.split("\n")))
    return one
