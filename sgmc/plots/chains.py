"""What chains did: their draws in order, and how these depend on those before."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import convergence
from sgmc.plots.axes import COLUMNS, axes_for, few_ticks, legend_of_chains, titled
from sgmc.plots.densities import density as curve_of

TRACE_SIZE, LOW_TRACE, FEW_TRACES = (4.0, 2.3), (4.0, 1.6), 6  # inches of few parameters, of many


def trace(
    draws: Floats,
    weights: Floats | None,
    names: list[str],
    ax: Any = None,
    warmup: Any = None,
    density: bool = False,
) -> Array:
    """Draws (chain, draw, parameter) in their order; along the sum of the weights, the time passed,
    where there are some.

    Parameters
    ----------
    draws, weights, names
    ax : Axes, list of Axes or None
    warmup : Warmup or None
        What to draw before 0, of the same parameters.
    density : bool
        Whether the density of each chain's draws is beside its trace.
    """
    time = np.arange(draws.shape[1]) if weights is None else np.cumsum(weights)
    if warmup is not None:
        time = np.append(before(warmup), time)
        both = np.concatenate([warmup.draws, draws], axis=1)
    axes = axes_for(
        len(names) * (1 + density),
        ax,
        TRACE_SIZE if len(names) <= FEW_TRACES else LOW_TRACE,
        columns=2 if density else COLUMNS,
    )
    for j, (one, name) in enumerate(zip(axes[:: 1 + density], names)):
        lines = [
            one.plot(time, chain, linewidth=0.5, alpha=0.8)[0]
            for chain in (draws if warmup is None else both)[:, :, j]
        ]
        few_ticks(one, "y")
        if warmup is not None:
            mark(one, time[0], warmup)
        titled(one, name)
        one.set_ylabel("value")
        one.set_xlabel("draw" if weights is None else "time of the dynamics")
    if ax is None or warmup is None:
        legend_of_chains(axes, lines, ax)
    if warmup is not None:
        axes[0].legend(loc="upper right", fontsize="small")
    for j, (one, name) in enumerate(zip(axes[1::2] if density else (), names)):
        for chain in draws[:, :, j]:
            found = curve_of(chain, weights)
            if found is not None:
                one.plot(*found, linewidth=1.1)
        one.set_ylim(0)
        one.set_yticks([])
        few_ticks(one)
        titled(one, name)
        one.set_ylabel("density")
        one.set_xlabel("value")
    return axes


def before(warmup: Any) -> Array:
    """Where positions of warmup are drawn: each as far before the next as its weight, or 1."""
    ahead = np.ones(len(warmup.steps)) if warmup.weights is None else warmup.weights
    return -np.cumsum(ahead[::-1])[::-1]


def mark(one: Any, begin: Any, warmup: Any) -> None:
    """Shade warmup, from `begin` to 0, with a line at its end; labels tell what they are."""
    apart = "each step" if warmup.every == 1 else f"every {warmup.every} steps"
    one.axvspan(begin, 0, color="0.9", zorder=0, label=f"warmup (a position {apart})")
    one.axvline(0, color="0.4", linewidth=1, linestyle="--", label="end of warmup")


def acf(
    draws: Floats, weights: Floats | None, names: list[str], ax: Any = None, max_lag: int = 40
) -> Array:
    """Autocorrelations of draws (chain, draw, parameter) up to `max_lag`, a line a chain."""
    rho = convergence.autocorr(draws, min(max_lag, draws.shape[1] - 1), weights=weights)
    axes = axes_for(len(names), ax)
    for j, (one, name) in enumerate(zip(axes, names)):
        one.axhline(0, color="0.7", linewidth=0.8)
        lines = [
            one.plot(chain, marker=".", markersize=3, linewidth=0.8)[0] for chain in rho[:, :, j]
        ]
        titled(one, name)
        one.set_xlabel("lag")
        one.set_ylabel("autocorrelation")
        one.set_ylim(min(-0.1, float(np.nanmin(rho[:, :, j], initial=0.0))) - 0.02, 1.02)
    legend_of_chains(axes, lines, ax)
    return axes
