"""Outcomes against what the posterior expects of them."""

import numpy as np

from sgmc.plots.axes import axes_for

OUTSIDE_BAND = 0.05  # of limits for all levels together


def calibration(table, ax=None):
    """Observed means of the groups of `Results.pp_check` over their fitted means,
    with intervals of simulated ones.
    """
    groups = table[table["fitted"].notna()]
    low, high = (groups[name] for name in groups if name.startswith("[") or name.endswith("]"))
    (one,) = axes_for(1, ax, (5.0, 4.0))
    one.vlines(groups["fitted"], low, high, color="0.6", linewidth=3, label="simulated")
    one.plot(groups["fitted"], groups["observed"], "o", markersize=4, label="observed")
    one.axline(
        (float(groups["fitted"].iloc[0]),) * 2, slope=1, color="0.8", linewidth=0.8, zorder=0
    )
    one.set_xlabel("fitted mean of the group")
    one.set_ylabel("mean outcome")
    one.legend()
    return one


def ranks(values, ax=None):
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
    one.set(xlabel="LOO-PIT", ylabel="share below, less level", xlim=(0, 1))
    one.legend()
    return one
