"""Spike-and-slab priors of sticky samplers: which slopes stick, and how fast they leave zero."""

import math

import numpy as np
from scipy import stats

from sgmc.errors import NotSupported

SLABS = {
    "normal": lambda p: stats.norm.pdf(0, p.location, p.scale),
    "student_t": lambda p: stats.t.pdf(0, p.df, p.location, p.scale),
    "laplace": lambda p: stats.laplace.pdf(0, p.location, p.scale),
}


def sticky_places(priors):
    """Places of the slopes: all parameters but intercepts and a family's own."""
    coefficients = len(priors.names) - priors.own
    return [j for j in range(coefficients) if j not in priors.intercepts]


def release_rates(spec, priors, where):
    """w / (1 - w) f_j(0) in the sampler's coordinates, in which speeds are one;
    0 for what does not stick.

    Parameters
    ----------
    spec : SamplerSpec
        Its `inclusion` is w.
    priors : PriorTable
        Of the slabs f_j.
    where : Coordinates
        Natural ones, or these scaled.

    Raises
    ------
    NotSupported
        For a slab without a density at zero.
    """
    scale = np.ones(len(priors.names)) if where.map is None else np.diag(where.map.jacobian(None))
    rates = np.zeros(len(priors.names))
    for j in sticky_places(priors):
        slab = priors.used[j]
        if slab.family not in SLABS:
            raise NotSupported(
                f"{spec.name} with prior {slab} of {priors.names[j]!r}: the slab needs a density "
                "at zero that is finite and proper; use e.g. prior=sgmc.normal(0, 2.5)"
            )
        rates[j] = SLABS[slab.family](slab) * scale[j]
    odds = spec.inclusion / (1 - spec.inclusion)
    if not math.isfinite(odds * rates.sum()):
        raise NotSupported(
            f"{spec.name}: inclusion={spec.inclusion} leaves no probability for zero"
        )
    return odds * rates
