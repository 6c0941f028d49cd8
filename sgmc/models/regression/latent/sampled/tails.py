"""How fast posterior densities of effects' sds fall by what rows tell, see `tail_bounds`."""

import numpy as np

from sgmc.arguments.data.limited import is_records

TOLD_BY = ("ols", "poisson")  # families whose outcomes tell both ends of a linear predictor


def falls(found, family):
    """Powers of the sds by which the likelihood falls, other parameters integrated out: name -> k.

    Where rows tell the effect itself, as those of J levels with normal outcomes do, each effect has
    the density 1 / sd, and k is J.  An autoregression whose rho is near 1 hardly moves, however
    large its sd: with the prior (1 - rho^2)^(a - 1) there is sd^-2a where 1 - rho^2 < 1 / sd^2, and
    at other rho the likelihood falls faster, as there are more times.  Of a Gaussian process with a
    long scale nearly nothing is known.

    Parameters
    ----------
    found : CrossedSetup
    family : Family
    """
    # a censored outcome tells one end
    one_end = is_records(found.rows.table.y)
    if family.name not in TOLD_BY or family.linear_predictors > 1 or one_end:
        return {}
    rows, out, priors = found.rows, {}, found.priors
    blocks, told = rows.blocks, np.ones(len(rows.table.y), dtype=bool)
    if family.counts:
        told = np.asarray(rows.table.y) > 0  # zeros do not tell how small a mean may be
    if rows.table.weight is not None:
        told &= rows.table.weight > 0
    for t, term in enumerate(blocks.spectrum.terms):
        if not term or term[0][1] != "chain":
            continue
        power = 2 * priors.used[priors.names.index(found.effects.spectral[term[0][0]].name)].df
        columns = np.isin(rows.dense[blocks.d :], blocks.of_term(t))
        times = len(np.unique(rows.curves[told][:, columns][:, 1].round(9)))  # the slowest cosine
        if times > power + 1:
            out[found.effects.sds[blocks.start[t]]] = power
    return out


def falls_of_normal(found, family):
    """The same of normal outcomes with sds that are integrated out, and the sds whose tails are
    no shorter than that at any distance.
    """
    blocks, out = found.rows.blocks, falls(found, family)
    counts, settled = np.bincount(np.asarray(blocks.number)), []
    for t, term in enumerate(blocks.spectrum.terms):
        for j in range(blocks.start[t], blocks.start[t] + blocks.width[t]):
            name = found.effects.sds[j]
            if not term:
                out[name] = int(counts[j])
                settled.append(name)
    return out, tuple(settled)
