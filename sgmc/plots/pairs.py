"""Parameters against each other."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError
from sgmc.plots.axes import BLUE, axes_for, few_ticks, titled, wrapped
from sgmc.plots.densities import density

MOST_PAIRED = 8
SHOWN_POINTS = 1000  # of a panel
PAIR_SIZE, PAIR_WIDTH = (1.9, 1.8), 20  # inches, letters of a line


def pair(draws: Floats, weights: Floats | None, names: list[str], ax: Any = None) -> Array:
    """Draws of each pair of parameters below the diagonal, densities on it, correlations above.

    Parameters
    ----------
    draws, weights, names
    ax : list of Axes or None
        One a panel, row by row.

    Returns
    -------
    ndarray of Axes, (parameter, parameter)
    """
    count = len(names)
    if not 2 <= count <= MOST_PAIRED:
        raise ArgumentError(
            f"plot_pair draws 2 to {MOST_PAIRED} parameters, not {count}: choose some, e.g. "
            f"cols={names[:3]!r}"
            if count > 1
            else "plot_pair needs two parameters or more: give their names, cols=[..]"
        )
    axes = axes_for(count**2, ax, PAIR_SIZE, columns=count).reshape(count, count)
    flat = draws.reshape(-1, count)
    w = np.ones(len(flat)) if weights is None else np.tile(weights, len(draws))
    shown = flat[moments.systematic(w, min(SHOWN_POINTS, len(flat)))]
    correlation = correlations(flat, w)
    for j in range(count):
        for k in range(count):
            one = axes[j, k]
            if j > k:
                one.plot(
                    shown[:, k], shown[:, j], ".", markersize=2.5, alpha=0.4, color=BLUE,
                    markeredgewidth=0, rasterized=True,
                )  # fmt: skip
            elif j == k:
                curve = density(flat[:, j], w)
                if curve is not None:
                    one.plot(*curve, color=BLUE)
                    one.fill_between(*curve, color=BLUE, alpha=0.2, linewidth=0)
                    one.set_ylim(0)
                one.set_yticks([])
            else:
                one.text(
                    0.5, 0.5, f"{round(correlation[j, k], 2) + 0.0:.2f}", ha="center", va="center",
                    transform=one.transAxes,
                )  # fmt: skip
                one.set_axis_off()
            framed(one, j, k, names)
    return axes


def framed(one: Any, j: int, k: int, names: list[str]) -> None:
    """Numbers and names at the outer panels alone: beneath the last row, left of the first column;
    each parameter has its name above its density.
    """
    if j >= k:
        few_ticks(one, "x", 3)
    if j > k:
        few_ticks(one, "y", 3)
    if j < len(names) - 1:
        one.tick_params(labelbottom=False)
        one.xaxis.offsetText.set_visible(False)
    else:
        one.set_xlabel(wrapped(names[k], PAIR_WIDTH), fontsize="small")
    if k > 0:
        one.tick_params(labelleft=False)
        one.yaxis.offsetText.set_visible(False)
    elif j > 0:
        one.set_ylabel(wrapped(names[j], PAIR_WIDTH), fontsize="small")
    if j == k:
        titled(one, names[j], PAIR_WIDTH)


def correlations(flat: Floats, w: Floats) -> Floats:
    """Weighted correlations of draws (draw, parameter); 0 for a parameter that does not vary."""
    covariance = np.atleast_2d(np.cov(flat, rowvar=False, aweights=w))
    sd = np.sqrt(np.diag(covariance))
    return covariance / np.where(sd > 0, np.outer(sd, sd), np.inf)
