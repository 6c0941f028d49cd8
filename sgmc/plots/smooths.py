"""Curves and surfaces."""

from typing import Any

from sgmc.arguments.types import Frame
from sgmc.plots.axes import BLUE, axes_for


def band(table: Frame, title: str, ax: Any = None) -> Any:
    """A curve with the interval around it.

    Parameters
    ----------
    table : DataFrame
        Columns: the covariate, mean, sd, low and high end.
    title : str
    ax : Axes or None
    """
    (axes,) = axes_for(1, ax, (4.5, 3.0))
    x, mean, _, low, high = (table.iloc[:, j] for j in range(5))
    axes.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(x, mean, color=BLUE)
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel(table.columns[0])
    axes.set_ylabel(f"{title}: mean and interval")
    return axes


def surface(table: Frame, title: str, ax: Any = None) -> Any:
    """The mean of a surface on a grid, as a map of colours; parameters as those of `band`, with two
    covariates.
    """
    (axes,) = axes_for(1, ax, (4.5, 3.6))
    first, second = table.columns[:2]
    grid = table.pivot(index=second, columns=first, values="mean")
    colours = axes.contourf(grid.columns, grid.index, grid.to_numpy(), levels=12, cmap="viridis")
    axes.figure.colorbar(colours, ax=axes, label=f"{title}: mean")
    axes.set_xlabel(first)
    axes.set_ylabel(second)
    return axes
