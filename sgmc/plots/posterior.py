"""Marginal posteriors."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import moments
from sgmc.plots.axes import BLUE, GREEN, VERMILLION, axes_for, few_ticks, titled
from sgmc.plots.densities import in_numbers

BINS = 40
POSTERIOR_SIZE = (3.6, 2.7)  # inches
CURVE_POINTS = 200  # of a prior's density
REFERENCE_SDS = 4  # sds of a normal reference that are drawn on each side


def posterior(
    draws: Floats,
    weights: Floats | None,
    names: list[str],
    ax: Any = None,
    alpha: float = 0.05,
    reference: Any = None,
    priors: Any = None,
) -> Array:
    """Weighted histograms of draws (chain, draw, parameter), with mean (line) and equal-tailed
    interval (bar); both are written beneath.

    Parameters
    ----------
    draws, weights, names
    ax : Axes, list of Axes or None
    alpha : float
    reference : (array, array or None) or None
        Draws (chain, draw, parameter) and their weights, or means and sds (parameter,) of normal
        densities, to lay over them.
    priors : list of callable or None, optional
        The prior density of each parameter, to draw where its draws are.
    """
    mean, sd = moments.mean(draws, weights), moments.sd(draws, weights)
    limits = moments.quantile(draws, [alpha / 2, 1 - alpha / 2], weights)
    flat = None if weights is None else np.tile(weights, len(draws))
    axes = axes_for(len(names), ax, POSTERIOR_SIZE)
    for j, (one, name) in enumerate(zip(axes, names)):
        one.hist(
            draws[:, :, j].ravel(),
            BINS,
            weights=flat,
            density=True,
            color=BLUE,
            alpha=0.5,
            label="posterior",
        )
        one.axvline(mean[j], color=BLUE)
        one.plot(limits[:, j], [0, 0], color="black", linewidth=4, solid_capstyle="butt")
        titled(one, name)
        one.set_xlabel(in_numbers(mean[j], limits[:, j], sd[j], alpha))
        one.set_ylabel("density")
        few_ticks(one)
        one.set_yticks([])
        if reference is not None:
            first, second = reference
            overlay(one, first, second, j)
        if priors is not None and priors[j] is not None:
            low, high = one.get_xlim()
            x = np.linspace(low, high, CURVE_POINTS)
            one.plot(x, priors[j](x), color=GREEN, label="prior")
            one.legend(fontsize="small")
    return axes


def overlay(one: Any, first: Floats, second: Any, j: int) -> None:
    """The j-th density of a reference: draws and weights as a histogram's outline, mean and sd as a
    normal curve.
    """
    if np.ndim(first) == 3:
        flat = None if second is None else np.tile(second, len(first))
        mean = moments.mean(first, second)[j]
        one.hist(
            first[:, :, j].ravel(),
            BINS,
            weights=flat,
            density=True,
            histtype="step",
            color=VERMILLION,
            linewidth=1.5,
            label="reference",
        )
    else:
        z, mean = np.linspace(-REFERENCE_SDS, REFERENCE_SDS, 200), first[j]
        one.plot(
            mean + second[j] * z,
            np.exp(-z * z / 2) / (second[j] * np.sqrt(2 * np.pi)),
            color=VERMILLION,
            label="reference",
        )
    one.axvline(mean, color=VERMILLION, linestyle="--")
    one.legend(fontsize="small")
