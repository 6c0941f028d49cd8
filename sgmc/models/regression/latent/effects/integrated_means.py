"""E[y | x, group] with the effects integrated out: fewer draws of the parameters are enough than
with draws of the effects.
"""

import numpy as np

from sgmc.core.system import deadline
from sgmc.models.regression.latent.densities.rules import normal_rule
from sgmc.results.outcomes.data.rows import CELLS, ROWS_WORK, evenly

FEWEST_POINTS = 100  # draws of the parameters: Monte Carlo error of a tenth of a posterior sd
NEW_NODES = 31  # of a normal law: logistic curves are integrated to 1e-4 up to sds of 5


def integrable(rows):
    """Whether means over the effects of some `EffectRows` need no draws of them: those of one
    factor, see `Population`, in one linear predictor.
    """
    alone = len(rows.effects) == 1 and rows.family.linear_predictors == 1
    return alone and rows.effects[0].integrable


def thinned(rows):
    """The same rows with as many draws as take a few seconds."""
    levels = np.unique(rows.code)
    work = NEW_NODES * rows.n + rows.effects[0].work(levels[levels >= 0], steps=0)
    if work * rows.m <= ROWS_WORK:
        return rows
    return rows.with_draws(evenly(rows.m, max(FEWEST_POINTS, int(ROWS_WORK // work))))


def means(rows):
    """E[y | x, group] of the table's rows, averaged over draws of the parameters; of outcomes of
    several kinds (n, kinds).
    """
    effects, code, kinds = rows.effects[0], rows.code[:, 0], rows.family.several
    shape = (rows.n, len(rows.family.labels)) if kinds else rows.n
    out, order = np.full(shape, np.nan), np.argsort(code, kind="stable")
    first, new = np.searchsorted(code[order], [0, len(effects.sizes)])
    for at in parts(order[new:], CELLS // (rows.m * NEW_NODES)):
        out[at] = over_population(rows, at)
    levels, begins = np.unique(code[order[first:new]], return_index=True)
    ends = first + np.append(begins, new - first)
    for some in parts(np.arange(len(levels)), CELLS // (rows.m * effects.law_size)):
        b, p = effects.law(levels[some])
        mine = order[ends[some[0]] : ends[some[-1] + 1]]
        for at in parts(mine, CELLS // (rows.m * p.shape[2])):
            out[at] = over_nodes(rows, at, b, p, np.searchsorted(levels[some], code[at]))
    return out


def parts(items, size):
    """An array in pieces of at most that size, and at least one."""
    size = max(1, size)
    for a in range(0, len(items), size):
        deadline.check()
        yield items[a : a + size]


def over_nodes(rows, at, b, p, place):
    """Means of some rows, whose levels have the nodes at `place`."""
    eta = rows.predictors(at)[:, :, None] + np.einsum("ia,imka->imk", rows.Z[0][at], b[place])
    return averaged(rows, (p[place] * centre(rows, eta)).sum(axis=-1))


def over_population(rows, at):
    """Means of some rows of levels that the fit has not seen: effects are normal."""
    slopes = np.einsum("ia,mab->imb", rows.Z[0][at], rows.effects[0].roots)
    sd = np.sqrt((slopes**2).sum(axis=2))
    t, weight = normal_rule(NEW_NODES, 1)
    mass = np.exp(weight - 0.5 * t[:, 0] ** 2) / np.sqrt(2 * np.pi)
    eta = rows.predictors(at)[:, :, None] + sd[:, :, None] * t[:, 0]
    return averaged(rows, centre(rows, eta) @ mass)


def centre(rows, eta):
    """E[y | x, effects] at linear predictors (row, draw, node), with kinds first."""
    extra = None if rows.extra is None else rows.extra[:, :, None]
    return rows.family.centre(rows.family.placed(eta, extra), extra)


def averaged(rows, mean):
    """Means over draws of means over nodes, (row,) or (row, kind)."""
    return np.average(mean, axis=-1, weights=rows.weights).T
