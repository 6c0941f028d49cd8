"""Axes to draw on: those given, or new ones."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Array
from sgmc.errors import ArgumentError, MissingExtra

COLUMNS = 3
BLUE, VERMILLION, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
# Okabe & Ito (2008), less yellow: faint on white
PALETTE = (BLUE, VERMILLION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", BLACK)
POWERS = (-3, 5)  # of ten, between which numbers of an axis are written in full
# of a logarithmic axis: numbers beside powers of ten, the finest that are few enough
RATIO_STEPS = ((1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
MOST_RATIOS, NARROW_RATIO = 7, 4  # of numbers; of its ends, within which they have equal steps
NAME_WIDTH, TITLE_WIDTH = 36, 34  # letters of a line: of names beside an axis, above a panel
MOST_MARKS = 500  # of a rug
ABOVE_LETTERS = 64  # of a line of a legend above the axes
LEGEND_LINE = 1.2  # points
MOST_BESIDE = 6  # names of chains in a line of a legend


def axes_for(
    count: int, ax: Any, size: tuple[float, float] = (4.0, 2.6), columns: int = COLUMNS
) -> Array:
    """`count` axes, one dimension; where `ax` is None new ones, in a figure of at most so many
    columns, with PALETTE's colours.

    Parameters
    ----------
    count : int
    ax : Axes, list of Axes or None
    size : (float, float)
        Inches of each new one.
    columns : int
    """
    if ax is not None:
        given = np.ravel(np.asarray(ax, dtype=object))
        if len(given) != count or not all(hasattr(one, "plot") for one in given):
            raise ArgumentError(
                f"ax must be {count} Matplotlib axes, one a panel, not {len(given)} "
                f"{type(given[0]).__name__}"
                if len(given)
                else f"ax must be {count} Matplotlib axes, it is empty"
            )
        return given
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtra(
            "plots need Matplotlib, which is not installed: pip install 'sgmc[plots]'"
        ) from error
    wide = min(count, columns)
    high = -(-count // wide)
    _, grid = pyplot.subplots(
        high, wide, figsize=(size[0] * wide, size[1] * high), squeeze=False, layout="constrained"
    )
    for unused in grid.ravel()[count:]:
        unused.remove()
    for new in grid.ravel()[:count]:
        new.set_prop_cycle(color=PALETTE)
        new.spines[["top", "right"]].set_visible(False)
    return grid.ravel()[:count]


def wrapped(name: str, width: int = NAME_WIDTH) -> str:
    """A long name on several lines, none of it cut; broken after blanks, colons and underscores,
    and before brackets.
    """
    lines, line = [], ""
    for part in re.split(r"(?<=[ _:])|(?=[\[(])", name):
        if line and len(line) + len(part) > width:
            lines.append(line)
            line = ""
        line += part
    return "\n".join([*lines, line])


def titled(one: Any, name: str, width: int = TITLE_WIDTH) -> None:
    """Write the name of a parameter above its panel."""
    one.set_title(wrapped(name, width), fontsize="medium")


def few_ticks(one: Any, which: str = "x", most: int = 4, whole: bool = False) -> None:
    """Leave room between the numbers of an axis: few of them, large and small ones times a power of
    ten that stands at its end.  With `whole` there are no fractions.
    """
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis = getattr(one, f"{which}axis")
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole))
    formatter = ScalarFormatter(useMathText=True)
    formatter.set_powerlimits(POWERS)
    axis.set_major_formatter(formatter)


def ratio_ticks(one: Any) -> None:
    """Make the x axis logarithmic, with plain numbers such as 0.5, 1 and 2; call it when all is
    drawn.
    """
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

    one.set_xscale("log")
    low, high = one.get_xlim()
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    one.xaxis.set_major_locator(LogLocator(numticks=MOST_RATIOS))
    for steps in RATIO_STEPS:
        ticks = np.multiply.outer(powers, steps).ravel()
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        if len(ticks) <= MOST_RATIOS:
            one.xaxis.set_major_locator(FixedLocator(ticks))
    if high < NARROW_RATIO * low:
        one.xaxis.set_major_locator(MaxNLocator(MOST_RATIOS - 1, steps=[1, 2, 5, 10]))
    one.xaxis.set_minor_locator(NullLocator())
    one.xaxis.set_major_formatter("{x:g}")


def rug(one: Any, x: Array) -> None:
    """Mark where rows are along x, by short lines at the bottom; of many rows some."""
    from matplotlib.collections import EventCollection

    values = np.sort(np.asarray(x, dtype=float))
    values = values[np.isfinite(values)]
    if len(values) > MOST_MARKS:
        values = values[np.linspace(0, len(values) - 1, MOST_MARKS).astype(int)]
    marks = EventCollection(
        values, linelength=0.03, lineoffset=0.015, color="0.3", linewidth=0.5, alpha=0.5,
        transform=one.get_xaxis_transform(), label="rows",
    )  # fmt: skip
    one.add_collection(marks, autolim=False)


def legend_above(one: Any, title: str = "") -> None:
    """Put the legend above the axes, where it covers nothing."""
    _, labels = one.get_legend_handles_labels()
    legend = one.legend(
        title=title or None,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=max(1, min(len(labels), ABOVE_LETTERS // (4 + max(map(len, labels), default=0)))),
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        frameon=False,
    )
    for line in legend.get_lines():  # faint ones are many in the panel, and one here
        line.set(alpha=1, linewidth=max(line.get_linewidth(), LEGEND_LINE))


def legend_of_chains(axes: Any, lines: Any, ax: Any, more: Sequence[Any] = ()) -> None:
    """Name the chains, once for all panels, and `more` artists that have labels: under a new
    figure, or in the first of given axes.
    """
    from matplotlib.lines import Line2D

    labels = [f"chain {k + 1}" for k in range(len(lines))]
    handles = [Line2D([], [], color=line.get_color()) for line in lines]
    named = {"handles": [*handles, *more], "labels": [*labels, *(one.get_label() for one in more)]}
    if ax is not None:
        axes[0].legend(**named, fontsize="small")
        return
    columns = min(len(lines) + len(more), MOST_BESIDE)
    axes[0].figure.legend(
        **named, loc="outside lower center", ncols=columns, fontsize="small", frameon=False
    )
