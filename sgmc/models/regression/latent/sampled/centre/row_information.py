"""What rows tell of columns of a term that overlap, all together."""

import numpy as np

from sgmc.core.expansion import of_rows
from sgmc.models.regression.latent.densities.overlapping import Overlapping
from sgmc.models.regression.latent.sampled.blocks.precision import scales
from sgmc.models.regression.latent.sampled.centre.laplace import positive_part

# directions of a term's effects: the least share of their variance that rows take off
LEAST_TAKEN = 0.01
# cosines of a series of times that are told together, the slowest ones: rows of each time tell the
# others one by one
MOST_SLOW = 8
# how many of them, and of the modes of a graph, of which the smoothest are told: a gradient takes
# some multiple of the product of their squares
MOST_TAKEN = 64


def together(blocks):
    """Terms whose columns are told together, and the places of these: term -> array.

    They are those whose sds differ in a way that is learned.  Waves are all told: neither is clear
    of the others.  Modes of a graph overlap with the coefficients, a level with the intercept, and
    the smooth ones with numbers of which neighbours have like ones; so do cosines.

    Parameters
    ----------
    blocks : Blocks
    """
    out = {}
    for t, term in enumerate(blocks.spectrum.terms):
        if term:
            most = {"waves": None, "mixture": MOST_TAKEN, "chain": MOST_SLOW}[term[0][1]]
            out[t] = blocks.of_term(t).ravel()[:most]
    return out


def overlapping(search, found, blocks, kept):
    """An `Overlapping` for each term with columns that are told `together`.

    Their information is what coefficients and other smooths leave of it, and the point is that of
    the centre.

    Parameters
    ----------
    search : CentreSearch
    found : GaussianApproximation
        At the centre.
    blocks : Blocks
        Of the maps.
    kept : array of int
        Coefficients that do not move along, as ends and poles of priors are theirs alone.
    """
    columns = together(blocks)
    if not columns:
        return []
    rows, place, d = search.rows, found.place, blocks.d
    theta = search.loaded(place)
    score = of_rows(search.model, theta)[1]
    of = slice(rows.predictors)
    information = search.gram.fixed(positive_part(found.curvature[:, of, of]))
    sds = scales(rows, blocks.loading.root(place[blocks.phi]), place)
    prior = np.eye(len(sds))
    prior[:d, :d] = search.terms(np.r_[theta[:d], theta[search.psi]])[2][:d, :d]
    out = []
    for t, at in columns.items():
        own = np.isin(rows.dense, at)
        across = information[np.ix_(own, ~own)] * sds[~own]
        inner = information[np.ix_(~own, ~own)] * np.outer(sds[~own], sds[~own])
        inner += prior[np.ix_(~own, ~own)]
        left = information[np.ix_(own, own)] - across @ np.linalg.solve(inner, across.T)
        values, vectors = np.linalg.eigh(left)
        told = values * (sds[own] ** 2).max() > LEAST_TAKEN
        told[:-MOST_TAKEN] = False
        if not told.any():
            continue
        U = vectors[:, told] * np.sqrt(values[told])
        h = (vectors[:, told].T @ (left @ theta[at] + score[at])) / np.sqrt(values[told])
        along = np.linalg.solve(information[:d, :d] + prior[:d, :d], information[:d, own])
        along[kept] = 0.0
        out.append(Overlapping(blocks, t, U, h, along))
    return out
