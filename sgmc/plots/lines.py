"""Curves with intervals by group, points with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.plots.axes import PALETTE, axes_for

LINE_HEIGHT = 0.3  # inches of a line of `intervals`
DODGE = 0.12  # of the distance of two places, between groups


def curves(
    groups: Sequence[tuple[Any, ...]], x_name: str, y_name: str, by: str = "", ax: Any = None
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
    if not numeric:
        one.set_xticks(range(len(labels)), labels)
        one.set_xlim(-0.5, len(labels) - 0.5)
    if by:
        one.legend(title=by, fontsize="small", title_fontsize="small")
    one.set_xlabel(x_name)
    one.set_ylabel(y_name)
    return one


def intervals(
    names: list[str],
    mean: Floats,
    low: Floats,
    high: Floats,
    x_name: str,
    ax: Any = None,
    neutral: float = 0.0,
) -> Any:
    """A point and an interval for each name, from the top down, with a line at no effect."""
    count = len(names)
    (one,) = axes_for(1, ax, (5.6, 1.0 + LINE_HEIGHT * max(count, 3)))
    place = np.arange(count)[::-1]
    one.axvline(neutral, color="0.8", linewidth=0.8, zorder=0)
    one.hlines(place, low, high, color="0.5", linewidth=1.8)
    one.plot(mean, place, "o", color=PALETTE[0], markersize=5)
    one.set_yticks(place, names)
    one.set_ylim(-0.7, count - 0.3)
    one.set_xlabel(x_name)
    return one
