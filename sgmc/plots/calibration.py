"""Outcomes against what the posterior expects of them."""

from sgmc.plots.axes import axes_for


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
