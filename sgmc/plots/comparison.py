"""Models compared by leave-one-out predictive accuracy."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Frame
from sgmc.errors import ArgumentError
from sgmc.plots.axes import BLACK, BLUE, VERMILLION, axes_for, legend_above
from sgmc.plots.lines import LINE_HEIGHT

DRAWN_COLUMNS = ("elpd", "se", "elpd_diff", "diff_se", "subsampling_se", "bad_k")
DROP = 0.28  # of the distance of two models: from accuracy down to the difference


def plot_compare(comparison: Frame, ax: Any = None) -> Any:
    """Draw a comparison of models: accuracy of each, and how far it is from the best.

    A line per model, the best on top.  The point is ``elpd``, its bar one standard error ``se`` to
    either side; below it ``elpd_diff`` as the distance from the best model's elpd, the dashed line,
    with a bar of one ``diff_se``.  The standard error of a difference is the one to judge models
    by: outcomes that are hard to predict are so for all models, so that it is often much smaller
    than ``se`` (Vehtari, Gelman & Gabry 2017, eq. 24, doi:10.1007/s11222-016-9696-4).

    Parameters
    ----------
    comparison : DataFrame
        What `sgmc.compare` returned, or some of its rows.
    ax : Axes, optional
        Default: a new figure.

    Returns
    -------
    Axes
        Hollow points are models for which some Pareto k is too large (``bad_k`` above zero).  Where
        rows were sampled, a thick bar is one ``subsampling_se`` to either side of the difference.

    Raises
    ------
    ArgumentError
        If `comparison` is not a table of `sgmc.compare`.
    """
    lacking = [name for name in DRAWN_COLUMNS if name not in getattr(comparison, "columns", ())]
    if lacking or not len(comparison):
        raise ArgumentError(
            "plot_compare: comparison must be the table that sgmc.compare() returned, not "
            f"{type(comparison).__name__} "
            + (f"without {', '.join(lacking)}" if lacking else "without rows")
        )
    elpd, se, apart, apart_se, sampling, bad = (
        comparison[name].to_numpy(dtype=float) for name in DRAWN_COLUMNS
    )
    count, best = len(elpd), float(elpd[0] + apart[0])
    (one,) = axes_for(1, ax, (5.6, 1.2 + 1.6 * LINE_HEIGHT * max(count, 2)))
    place, worse = np.arange(count)[::-1], apart != 0
    one.axvline(best, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    one.hlines(place, elpd - se, elpd + se, color=BLACK, linewidth=1.5)
    for chosen, face, label in (
        (bad == 0, BLUE, "elpd, ± se"),
        (bad > 0, "white", "elpd, ± se; some Pareto k too large"),
    ):
        if chosen.any():
            one.plot(
                elpd[chosen], place[chosen], "o", markerfacecolor=face, markeredgecolor=BLUE,
                markersize=6, label=label,
            )  # fmt: skip
    if worse.any():
        below, there = place[worse] - DROP, best - apart[worse]
        one.hlines(
            below, there - apart_se[worse], there + apart_se[worse], color=VERMILLION, linewidth=1.5
        )
        label = "difference to the best, ± se"
        one.plot(there, below, "^", color=VERMILLION, markersize=5, label=label)
        if (sampling[worse] > 0).any():
            ends = there - sampling[worse], there + sampling[worse]
            label = "± error of the sample of rows"
            one.hlines(below, *ends, color=VERMILLION, alpha=0.4, linewidth=5, label=label)
    one.set_yticks(place, [str(name) for name in comparison.index])
    one.set_ylim(-0.7 - DROP, count - 0.5)
    one.set_xlabel("elpd: expected log predictive density of new data")
    legend_above(one)  # bars reach every corner
    return one
