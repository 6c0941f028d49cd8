"""Races of tuning."""
import numpy as np

from sgmc.errors import ArgumentError
from sgmc.plots.axes import axes_for


def tuning(history, arms, winner, metric, x, ax=None):
    """The metric of each arm at its last rung against column `x` of `arms`, a colour a rung; arms without value are left out."""
    if x not in arms.columns:
        raise ArgumentError(f"x={x!r} is not one of {', '.join(arms.columns)}")
    one = axes_for(1, ax, (6.0, 4.0))[0]
    last = history.groupby("arm").tail(1).set_index("arm")
    last = last[np.isfinite(last["metric"])]
    for rung, part in last.groupby("rung"):
        one.plot(arms.loc[part.index, x], part["metric"], "o", label=f"rung {rung}", alpha=0.8)
    one.plot(arms.loc[winner, x], last.loc[winner, "metric"], "k*", markersize=14, label="best")
    positive = [arms.dtypes[x].kind in "if" and (arms[x] > 0).all(), (last["metric"] > 0).all()]
    for scale, on in zip((one.set_xscale, one.set_yscale), positive):
        scale("log" if on else "linear")
    one.set_xlabel(x)
    one.set_ylabel(metric)
    one.legend()
    return one
