"""Marginal posteriors."""
import numpy as np

from sgmc.diagnostics import moments
from sgmc.plots.axes import axes_for

BINS = 40


def posterior(draws, weights, names, ax=None, alpha=0.05):
    """Weighted histograms of draws (chain, draw, parameter), with mean (line) and equal-tailed interval (bar)."""
    mean, limits = moments.mean(draws, weights), moments.quantile(draws, [alpha / 2, 1 - alpha / 2], weights)
    flat = None if weights is None else np.tile(weights, len(draws))
    axes = axes_for(len(names), ax)
    for j, (one, name) in enumerate(zip(axes, names)):
        one.hist(draws[:, :, j].ravel(), BINS, weights=flat, density=True, color="C0", alpha=0.5)
        one.axvline(mean[j], color="C0")
        one.plot(limits[:, j], [0, 0], color="black", linewidth=4, solid_capstyle="butt")
        one.set_title(name)
        one.set_yticks([])
    return axes
