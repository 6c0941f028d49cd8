"""Whether chains agree: ranks of their draws among those of all."""

from functools import lru_cache
from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import convergence, moments
from sgmc.plots.axes import axes_for, few_ticks, legend_of_chains, titled

INSIDE_BAND = 0.95  # of sets of chains that agree, at all places together
PLACES = np.linspace(0.02, 0.98, 97)  # of shares, where chains are compared
SIMULATED_SETS, LARGEST_SET = 1000, 250  # of chains for the band; draws of each
FEWEST_RANKED = 10  # draws of a chain


def rank(draws: Floats, weights: Floats | None, names: list[str], ax: Any = None) -> Array:
    """For each chain the share of its draws below each quantile of all draws, less the share that
    is expected, with a band for all chains and places together.

    Draws are thinned to about the effective ones, which the band is for (Säilynoja, Bürkner &
    Vehtari 2022, doi:10.1007/s11222-022-10090-6, section 3).

    Parameters
    ----------
    draws, weights, names
    ax : Axes, list of Axes or None
    """
    chains = draws.shape[0]
    # of each chain alone: that of all is small where chains differ, and the band would be wide
    alone = [convergence.ess(chain[None], weights=weights) for chain in draws]
    effective = np.mean(alone, axis=0)
    axes = axes_for(len(names), ax, (4.0, 2.4))
    for j, (one, name) in enumerate(zip(axes, names)):
        known = effective[j] if np.isfinite(effective[j]) else FEWEST_RANKED
        count = int(np.clip(known, min(FEWEST_RANKED, draws.shape[1]), draws.shape[1]))
        apart = differences(thinned(draws[:, :, j], weights, count))
        half = limit(chains, min(count, LARGEST_SET)) * spread(chains, count)
        label = f"{100 * INSIDE_BAND:g} % of chains that agree"
        band = one.fill_between(PLACES, -half, half, color="0.88", linewidth=0, label=label)
        one.axhline(0, color="0.6", linewidth=0.8)
        lines = [one.plot(PLACES, chain, linewidth=1.1)[0] for chain in apart]
        few_ticks(one, "y")
        titled(one, name)
        one.set(xlabel="quantile of all draws", ylabel="share of draws below,\nless expected")
        one.set_xlim(0, 1)
    legend_of_chains(axes, lines, ax, [band])
    return axes


def thinned(draws: Floats, weights: Floats | None, count: int) -> Floats:
    """`count` draws of each chain (chain, draw), evenly spaced, in proportion to their weights."""
    even = np.ones(draws.shape[1]) if weights is None else weights
    return draws[:, moments.systematic(even, count)]


def differences(draws: Floats) -> Floats:
    """Share of each chain's draws (chain, draw) below quantiles of all, less these quantiles'
    levels, (chain, place).
    """
    chains, count = draws.shape
    order = np.argsort(draws, axis=None, kind="stable")
    level = np.empty(order.size)
    level[order] = (np.arange(order.size) + 0.5) / order.size
    ranked = np.sort(level.reshape(chains, count), axis=1)
    below = np.array([np.searchsorted(chain, PLACES) for chain in ranked])
    return below / count - PLACES


def spread(chains: int, count: int) -> Floats:
    """The sd of these differences where chains agree: of a hypergeometric share, (place,)."""
    total = chains * count
    return np.sqrt(PLACES * (1 - PLACES) * (total - count) / (count * (total - 1)))


@lru_cache(maxsize=32)
def limit(chains: int, count: int) -> float:
    """How many of these sds hold all differences with probability INSIDE_BAND, by simulation."""
    random, sd = np.random.default_rng(0), spread(chains, count)
    largest = [
        np.abs(differences(random.random((chains, count))) / sd).max()
        for _ in range(SIMULATED_SETS)
    ]
    return float(np.quantile(largest, INSIDE_BAND))
