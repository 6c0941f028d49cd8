"""Curves and surfaces."""

from typing import Any

from sgmc.arguments.types import Frame
from sgmc.plots.axes import BLUE, axes_for, few_ticks, rug, wrapped
from sgmc.plots.lines import Y_WIDTH


def band(table: Frame, y_name: str, ax: Any = None, rows: Any = None) -> Any:
    """A curve with the interval around it.

    Parameters
    ----------
    table : DataFrame
        Columns: the covariate, mean, sd, low and high end.
    y_name : str
    ax : Axes or None
    rows : array or None
        Values of the covariate in the data, to mark.
    """
    (axes,) = axes_for(1, ax, (5.0, 3.4))
    x, mean, _, low, high = (table.iloc[:, j] for j in range(5))
    axes.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(x, mean, color=BLUE)
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel(table.columns[0])
    axes.set_ylabel(wrapped(y_name, Y_WIDTH))
    few_ticks(axes, most=7)
    if rows is not None:
        rug(axes, rows)
    return axes


def surface(table: Frame, name: str, ax: Any = None) -> Any:
    """The mean of a surface on a grid, as a map of colours; parameters as those of `band`, with two
    covariates.
    """
    (axes,) = axes_for(1, ax, (4.5, 3.6))
    first, second = table.columns[:2]
    grid = table.pivot(index=second, columns=first, values="mean")
    colours = axes.contourf(grid.columns, grid.index, grid.to_numpy(), levels=12, cmap="viridis")
    axes.figure.colorbar(colours, ax=axes, label=wrapped(name, Y_WIDTH))
    axes.set_xlabel(first)
    axes.set_ylabel(second)
    return axes
