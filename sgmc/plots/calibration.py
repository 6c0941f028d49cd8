"""Outcomes against what the posterior expects of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats, Frame
from sgmc.plots.axes import BLUE, axes_for, few_ticks, legend_above

OUTSIDE_BAND = 0.05  # of limits for all levels together
PREDICTED_BINS, TALLEST_BAR = 40, 0.15  # of how often probabilities are predicted


def calibration(table: Frame, mean: str, kinds: Sequence[Any] | None = None, ax: Any = None) -> Any:
    """Observed means of the groups of `Results.pp_check` over their fitted means,
    with intervals of simulated ones.

    Parameters
    ----------
    table : DataFrame
    mean : str
        What is predicted, such as "mean visits".
    kinds : list or None
        Names of the points, of outcomes of several kinds.
    ax : Axes or None
    """
    groups = table[table["fitted"].notna()]
    low, high = (groups[name] for name in groups if name.startswith("[") or name.endswith("]"))
    inside = 100 * (float(high.name.strip("]")) - float(low.name.strip("[")))
    (one,) = axes_for(1, ax, (5.0, 4.0))
    one.vlines(
        groups["fitted"], low, high, color="0.6", linewidth=3, label=f"simulated, {inside:.3g} %"
    )
    one.plot(groups["fitted"], groups["observed"], "o", markersize=4, label="observed")
    one.axline(
        (float(groups["fitted"].iloc[0]),) * 2, slope=1, color="0.8", linewidth=0.8, zorder=0
    )
    for kind, x, y in zip(kinds or (), groups["fitted"], groups["observed"]):
        one.annotate(str(kind), (x, y), (6, -3), textcoords="offset points", fontsize="small")
    one.set_xlabel(f"predicted {mean}")
    one.set_ylabel(f"observed {mean}")
    few_ticks(one, "x", 6)
    few_ticks(one, "y", 6)
    legend_above(one)
    return one


def ranks(values: Floats, ax: Any = None) -> Any:
    """Empirical distribution of numbers that should be uniform, less the uniform one; limits by
    Dvoretzky, Kiefer, Wolfowitz and Massart (1990): sqrt(log(2 / .05) / 2 n).
    """
    values = np.sort(values)
    limit = np.sqrt(np.log(2 / OUTSIDE_BAND) / (2 * len(values)))
    (one,) = axes_for(1, ax, (5.0, 3.0))
    level = np.append(0.0, np.append(values, 1.0))
    share = np.append(np.arange(len(values) + 1) / len(values), 1.0)
    one.step(level, share - level, where="post")
    one.axhspan(-limit, limit, color="0.9", zorder=0, label="95 % of calibrated models")
    one.set(
        xlabel="rank of each outcome in what the other rows predict",
        ylabel="share below, less expected",
        xlim=(0, 1),
    )
    legend_above(one)
    return one


def reliability(panels: Sequence[tuple[Any, ...]], inside: float, ax: Any = None) -> Array:
    """Reliability diagrams, a panel each.

    Parameters
    ----------
    panels : list of (name, curve, parts)
        Of an outcome; curve is (predicted probability, frequency, ends of its band, number of
        outcomes), arrays (k,) in ascending order of probability; parts are those of the Brier
        score by name.
    inside : float
        Probability of the band.
    ax : Axes, list of Axes or None
    """
    axes = axes_for(len(panels), ax, (4.4, 4.2))
    for one, (name, (probability, frequency, low, high, size), parts) in zip(axes, panels):
        label = f"{100 * inside:g} % of calibrated predictions"
        one.fill_between(probability, low, high, color="0.85", linewidth=0, label=label)
        one.axline((0, 0), slope=1, color="0.6", linewidth=0.8)
        one.plot(probability, frequency, color=BLUE, label="observed")
        count, edges = np.histogram(probability, PREDICTED_BINS, (0, 1), weights=size)
        height = TALLEST_BAR * count / count.max()
        one.bar(edges[:-1], height, np.diff(edges), align="edge", color="0.7", zorder=0)
        one.set(xlabel=f"predicted probability of {name}", ylabel=f"frequency of {name}")
        one.set_aspect("equal")
        one.set(xlim=(0, 1), ylim=(0, 1))
        legend_above(one, agreement(parts))
    return axes


def agreement(parts: Any) -> str:
    """In words whether outcomes are as frequent as predicted, by the test of `calibration`."""
    p = "p < 0.01" if parts["p"] < 0.01 else f"p = {parts['p']:.2f}"
    differ = parts["p"] < OUTSIDE_BAND
    return f"frequencies {'differ from' if differ else 'agree with'} predictions ({p})"
