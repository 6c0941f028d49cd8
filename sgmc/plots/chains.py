"""What chains did: their draws in order, and how these depend on those before."""

import numpy as np

from sgmc.diagnostics import convergence
from sgmc.plots.axes import axes_for


def trace(draws, weights, names, ax=None):
    """Draws (chain, draw, parameter) in their order; along the sum of the weights, the time passed,
    where there are some.
    """
    time = np.arange(draws.shape[1]) if weights is None else np.cumsum(weights)
    axes = axes_for(len(names), ax)
    for j, (one, name) in enumerate(zip(axes, names)):
        for chain in draws[:, :, j]:
            one.plot(time, chain, linewidth=0.5, alpha=0.8)
        one.set_title(name)
        one.set_ylabel("value")
        one.set_xlabel("draw" if weights is None else "time of the dynamics")
    return axes


def acf(draws, weights, names, ax=None, max_lag=40):
    """Autocorrelations of draws (chain, draw, parameter) up to `max_lag`, a line a chain."""
    rho = convergence.autocorr(draws, min(max_lag, draws.shape[1] - 1), weights=weights)
    axes = axes_for(len(names), ax)
    for j, (one, name) in enumerate(zip(axes, names)):
        one.axhline(0, color="0.7", linewidth=0.8)
        for chain in rho[:, :, j]:
            one.plot(chain, marker=".", markersize=3, linewidth=0.8)
        one.set_title(name)
        one.set_xlabel("lag")
        one.set_ylabel("autocorrelation")
        one.set_ylim(min(-0.1, float(np.nanmin(rho[:, :, j], initial=0.0))) - 0.02, 1.02)
    return axes
