"""Effects of the levels of a factor."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats, Ints
from sgmc.plots.axes import BLUE, axes_for, few_ticks, wrapped

MOST_LEVELS, ENDS = 60, 10  # shown; at either end where there are more
LEVEL_HEIGHT = 0.16  # inches
EFFECT_WIDTH = 46  # letters of a line


def caterpillar(
    effects: Any, labels: Any, titles: Any, x_names: list[str], ax: Any = None
) -> Array:
    """Means and intervals of levels sorted by their means, a panel an effect.

    Parameters
    ----------
    effects : array (level, effect, 3)
        Mean, low and high end.
    labels : list of str
        Of the levels.
    titles : list of str
        Of the effects.
    x_names : list of str
        What each effect is.
    ax : Axes, list of Axes or None
    """
    shown = min(len(labels), MOST_LEVELS)
    panels = axes_for(len(titles), ax, (4.0, 1.0 + LEVEL_HEIGHT * max(shown, 6)))
    each = zip(panels, effects.transpose(1, 2, 0), titles, x_names)
    for one, (mean, low, high), title, x_name in each:
        order = ranked(mean)
        place = np.arange(len(order))
        one.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        one.hlines(place, low[order], high[order], color="0.6", linewidth=1.5)
        one.plot(mean[order], place, "o", color=BLUE, markersize=3)
        one.set_yticks(place, [wrapped(labels[k]) for k in order], fontsize=7)
        one.set_ylim(-0.8, len(order) - 0.2)
        some = (
            "" if len(order) == len(labels) else f"\n{len(order)} of {len(labels)} levels by rank"
        )
        one.set_title(title + some)
        few_ticks(one, most=6)
        one.set_xlabel(wrapped(x_name, EFFECT_WIDTH))
    return panels


def ranked(mean: Floats) -> Ints:
    """Numbers of the levels that are shown, by their means: all, or those at both ends and others
    at even ranks between them.
    """
    order = np.argsort(mean, kind="stable")
    if len(order) <= MOST_LEVELS:
        return order
    between = np.linspace(ENDS, len(order) - ENDS - 1, MOST_LEVELS - 2 * ENDS).astype(int)
    return order[np.concatenate([np.arange(ENDS), between, np.arange(-ENDS, 0)])]
