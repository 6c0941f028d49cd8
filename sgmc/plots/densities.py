"""Draws as smooth curves and as numbers."""

from typing import Any

import numpy as np

from sgmc.arguments.types import Array, Floats
from sgmc.diagnostics.chains import moments

CURVE_DRAWS = 4000  # that a curve of weighted draws is of
FULL_DIGITS = (1e-4, 1e4)  # sds between which numbers are written without a power of ten


def density(draws: Array, weights: Floats | None = None) -> tuple[Floats, Floats] | None:
    """Places and heights of ArviZ's kernel density of some draws (draw,); None where all are equal.

    Its reflection at the smallest and the largest draw keeps the mass of sds at zero.
    """
    from arviz_stats.base import array_stats

    if not np.ptp(draws) > 0:
        return None
    if weights is not None:
        draws = draws[moments.systematic(weights, CURVE_DRAWS)]
    place, height, _ = array_stats.kde(draws)
    return place, height


def number(value: float, sd: float) -> str:
    """A number with as many decimals as its sd has meaning, such as 0.088 for an sd of 0.013."""
    if not 0 < sd < np.inf:
        return f"{value:.3g}"
    return f"{value:.{max(0, 1 - int(np.floor(np.log10(sd))))}f}"


def in_numbers(mean: float, ends: Any, sd: float, alpha: float) -> str:
    """A posterior in two lines, "mean 0.088" and "95 % interval 0.063 to 0.114"; small and large
    numbers times a power of ten, as on the axis.
    """
    power, times = 0, ""
    if sd > 0 and not FULL_DIGITS[0] <= sd < FULL_DIGITS[1]:
        power = int(np.floor(np.log10(max(abs(mean), sd))))
        times = rf" $\times 10^{{{power}}}$"
    mean, sd, low, high = (float(one) * 10.0**-power for one in (mean, sd, *ends))
    return (
        f"mean {number(mean, sd)}{times}\n{100 * (1 - alpha):g} % interval {number(low, sd)} to "
        f"{number(high, sd)}{times}"
    )
