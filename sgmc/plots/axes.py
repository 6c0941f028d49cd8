"""Axes to draw on: those given, or new ones."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array
from sgmc.errors import ArgumentError, MissingExtra

COLUMNS = 3
BLUE, VERMILLION, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
# Okabe & Ito (2008), less yellow: faint on white
PALETTE = (BLUE, VERMILLION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", BLACK)


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
    return grid.ravel()[:count]
