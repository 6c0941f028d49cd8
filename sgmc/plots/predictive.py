"""Outcomes beside those that the posterior predicts: densities, and rootograms of counts."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.plots.axes import BLACK, BLUE, axes_for, few_ticks, legend_above
from sgmc.plots.densities import density

SHOWN_ROOM = 0.5  # of the range of the outcomes, beyond which simulated ones are not drawn
MOST_BARS = 40  # of a rootogram: larger ranges are put into bins
PREDICTED_ENDS = (0.025, 0.25, 0.5, 0.75, 0.975)


def densities(y: Floats, simulated: Floats, x_name: str, ax: Any = None) -> Any:
    """The density of outcomes (row,) over those of simulated data sets (draw, row)."""
    (one,) = axes_for(1, ax, (5.0, 3.4))
    room = SHOWN_ROOM * float(np.ptp(y))
    low, high = float(y.min()) - room, float(y.max()) + room
    label = f"simulated, {len(simulated)} data sets"
    for data in simulated:
        near = data[(data >= low) & (data <= high)]
        curve = density(near) if len(near) > 1 else None
        if curve is None:
            continue
        x, height = curve
        one.plot(
            x, height * len(near) / len(data), color=BLUE, linewidth=0.5, alpha=0.35, label=label
        )
        label = "_"  # once in the legend
    observed = density(y)
    if observed is not None:
        one.plot(*observed, color=BLACK, linewidth=1.8, label="observed")
    one.set_ylim(0)
    one.set(xlabel=x_name, ylabel="density")
    few_ticks(one, most=7)
    one.set_yticks([])
    legend_above(one)
    return one


def rootogram(y: Floats, simulated: Floats, x_name: str, ax: Any = None) -> Any:
    """How many rows have each count (row,), as dots, over how many are predicted by simulated data
    sets (draw, row): median, 50 % and 95 % intervals.  Heights are square roots, so that rare
    counts are seen (Kleiber & Zeileis 2016, doi:10.1080/00031305.2016.1173590).
    """
    width, edges = bins(y, simulated)
    observed = np.histogram(y, edges)[0]
    predicted = np.array([np.histogram(data, edges)[0] for data in simulated])
    ends = np.quantile(predicted, PREDICTED_ENDS, axis=0)
    (one,) = axes_for(1, ax, (5.4, 3.4))
    place = edges[:-1] + width / 2
    bar = {"width": 0.9 * width, "color": BLUE, "linewidth": 0}
    one.bar(place, ends[4] - ends[0], bottom=ends[0], alpha=0.25, label="predicted, 95 %", **bar)
    one.bar(place, ends[3] - ends[1], bottom=ends[1], alpha=0.45, label="predicted, 50 %", **bar)
    one.plot(place, observed, "o", color=BLACK, markersize=4, label="observed")
    one.set_yscale("function", functions=(root, np.square))
    few_ticks(one, "y", 6, whole=True)
    one.set_ylim(0)
    few_ticks(one, most=8, whole=True)
    one.set(xlabel=x_name, ylabel="rows" if width == 1 else f"rows, per {width:g} of {x_name}")
    legend_above(one)
    return one


def bins(y: Floats, simulated: Floats) -> tuple[int, Floats]:
    """Width and edges of bins for counts: a bin a count where they are few.  Beyond the largest
    outcome there is room for most of what is simulated, not for the largest of it.
    """
    last = max(float(y.max()), float(np.quantile(simulated, 0.999)))
    first = min(float(y.min()), float(np.quantile(simulated, 0.001)))
    width = max(1, int(np.ceil((last - first + 1) / MOST_BARS)))
    first = first if width == 1 else first - first % width
    return width, np.arange(first, last + width + 1, width) - 0.5


def root(height: Floats) -> Floats:
    """Square roots; of the small negative numbers that axes try, 0."""
    return np.sqrt(np.maximum(height, 0.0))
