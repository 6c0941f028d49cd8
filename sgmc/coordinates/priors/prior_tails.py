"""How heavy the tails of a posterior are at most, by its priors."""

import numpy as np

LIGHT = ("normal", "laplace", "gamma", "lognormal", "lkj")  # all moments exist


def tail_bounds(priors, names, decay=None):
    """Largest possible tail index of parameters as they are printed, (p,); NaN where it is unknown.

    A posterior density is the prior's times the likelihood with the other parameters integrated
    out, which is bounded: its tails are no heavier than the prior's.  Those of Student's t with nu
    degrees of freedom have index 1 / nu.  Where the likelihood itself falls as the power -k, as
    that of J normal levels with k = J does in their sd, it is 1 / (nu + k).

    Parameters
    ----------
    priors : PriorTable
    names : list of str
    decay : dict, optional
        Name -> k.
    """
    families, df = priors.families, priors.columns("df")
    for one in priors.monotone:  # increments are shares of their sum
        for j in one.places:
            families[j] = one.total.family
    proper = all(family != "flat" for family in families)
    low, high = priors.bounds()
    bounds, power = np.full(len(families), np.nan), decay or {}
    for j, family in enumerate(families):
        if family in LIGHT or np.isfinite([low[j], high[j]]).all():
            bounds[j] = 0.0
        elif family in ("student_t", "inverse_gamma") and proper:
            bounds[j] = 1 / (df[j] + power.get(priors.names[j], 0))
    if priors.centred:  # intercepts as they are printed are sums with all coefficients
        bounds[priors.intercepts] = bounds[: len(bounds) - priors.auxiliary].max()
    known = dict(zip(priors.names, bounds))
    return np.array([known.get(name, np.nan) for name in names])
