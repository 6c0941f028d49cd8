"""Independent draws of regressions with normal errors and effects of several factors or smooths:
sums over the rows tell the density of (sds, sigma), with all coefficients and effects integrated
out.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.axes import ProposedScales
from sgmc.coordinates.independent.grid import NATS_OFF, is_right
from sgmc.coordinates.independent.integrated import ConditionallyNormal
from sgmc.core.contract import Map, Model
from sgmc.core.random.rng import seed_sequence
from sgmc.models.regression.latent.sampled.blocks.crossed_rows import CrossedRows
from sgmc.models.regression.latent.sampled.blocks.elimination import Elimination
from sgmc.models.regression.latent.sampled.blocks.gram import as_sparse
from sgmc.models.regression.latent.sampled.independent.interpolated import (
    EliminatedSums,
    InterpolatedSums,
    TooMuchWork,
)
from sgmc.models.regression.latent.sampled.independent.spectral_sums import (
    spectral_draws,
    spectral_sums,
)
from sgmc.models.regression.latent.sampled.independent.work import (
    COMPARED_EXACTLY,
    FAR_SHARE,
    SumsPlan,
    planned,
    reaches,
)
from sgmc.models.regression.rows.correlated_sums import (
    correlated_effect_sums,
    signs_of_correlations,
)
from sgmc.models.regression.rows.effect_sums import MOST_SCALES, effect_sums, told_coordinates
from sgmc.models.regression.rows.summed import model_of, summed_table, whole_model


def summed_rows(rows: CrossedRows, family: Any) -> tuple[CrossedRows, Model] | None:
    """Return few rows of smooths alone, with the sums of all, and their compiled model; None as in
    `summed_table`, and where they would be no fewer.
    """
    n, width = rows.table.X.shape
    if n <= width + 1 or not isinstance(rows.table.X, np.ndarray):
        return None
    every = whole_model(rows.table, family)
    table = summed_table(rows.table, every)
    if table is None:
        return None
    d, m = rows.blocks.d, len(table.X)
    few = replace(
        rows,
        fixed=replace(table, X=np.ascontiguousarray(table.X[:, :d])),
        table=table,
        codes=rows.codes[:m],
        Z=rows.Z[:m],
        curves=table.X[:, rows.dense[d:]],
        alike=None,
    )
    return few, model_of(table, every, family)


def effects_transport(
    found: Any, map: Map, place: Floats, covariance: Floats, settings: Any
) -> ConditionallyNormal | ProposedScales | None:
    """Return the transport of a regression with effects of several factors or smooths; None where
    the density of (sds, sigma) has no table, or, of many and of correlations, no proposals, or
    chains have less work.

    Parameters
    ----------
    found : CrossedSetup
    map : Map
        From the transport's coordinates to (beta, effects, phi, u).
    place : array (dim,)
        The mode of (beta, v, phi, u).
    covariance : array (q + 1, q + 1)
        About that of (phi, u).
    settings : Settings
    """
    rows, model = found.summed or (found.rows, found.model)
    blocks, d = rows.blocks, rows.blocks.d
    many = blocks.loading.size > min(blocks.loading.q, MOST_SCALES)
    if many and (blocks.spectrum.size or settings.sampler is not None):
        return None
    table, m = rows.table, d + blocks.effects
    X = sparse.csr_array(as_sparse(table.X)[:, :m])
    Z, number = X[:, d:], np.asarray(blocks.number)
    e = table.y - (0.0 if table.offset is None else table.offset) - X[:, :d] @ place[:d]
    weight = np.ones(len(e)) if table.weight is None else table.weight
    _, slope, precision = found.centre.terms(place[blocks.places])
    mode = place[m:]
    parts = {
        "map": map,
        "prior": found.prior.fixed,
        "beta": place[:d],
        "slope": slope[:d],
        "precision": precision[:d, :d],
        "loading": blocks.loading,
        "rounding": model.rounding,
    }
    if many:
        columns = sparse.csr_array(sparse.hstack([Z, X[:, :d], e[:, None]]))
        sums = correlated_effect_sums(columns, weight, blocks.loading, *terms_of(rows))
        if sums is None:
            return None
        random = np.random.default_rng(seed_sequence(settings.seed, "pilot", 2))
        pairs = signs_of_correlations(blocks.loading)
        parts |= {"sums": sums, "pairs": pairs}
        return ProposedScales.around(mode, covariance, random, **parts)
    if blocks.spectrum.size:
        sums = spectral_sums(Z, blocks, X[:, :d], e, weight)
        return None if sums is None else spectral_draws(sums, blocks, mode, covariance, parts)
    tabulated = partial(ConditionallyNormal.tabulated, mode, covariance, **parts)
    # the columns of smooths overlap
    apart = np.arange(blocks.loading.q) < len(rows.factor)
    squares = Z.multiply(Z).T @ weight
    told = np.array([squares[number == j].max() for j in range(blocks.loading.q)])
    reach = reaches(blocks.loading, told, mode, covariance)
    plan = planned(Z, number, apart & (told > 0), d, reach)
    if plan is None:
        return None
    if not len(plan.axes):
        sums = effect_sums(Z, number, apart, X[:, :d], e, weight)
        if sums is None:
            return None
        ratios = told_coordinates(blocks.loading, told)
        return tabulated(sums=sums) or ratios and tabulated(sums=sums, ratios=ratios)
    columns = sparse.csr_array(sparse.hstack([X[:, :d], e[:, None]]))
    of = Elimination.of(Z, number, (int(plan.axes[0]), plan.axes[1:]), columns, weight)
    return by_interpolation(tabulated, of, plan)


def terms_of(rows: CrossedRows) -> tuple[list[tuple[Ints, int]], int]:
    """Return places of the effects of each term and its first sd, and how many of the first ones
    are of levels.
    """
    blocks = rows.blocks
    first = [int(one) for one in blocks.start][: len(blocks.width)]
    places = [np.asarray(blocks.of_term(t)) - blocks.d for t in range(len(first))]
    return list(zip(places, first)), int(np.sum(np.array(first) < len(rows.factor)))


def by_interpolation(
    tabulated: Callable[..., ConditionallyNormal | None], of: Elimination, plan: SumsPlan
) -> ConditionallyNormal | None:
    """Return the transport by `InterpolatedSums`; None where their tables take too long, or are
    not right.
    """
    sums = InterpolatedSums(of, plan.axes, plan.most)
    try:
        made = tabulated(sums=sums)
        if made is None:
            return None
        # what polynomials leave unknown shows at draws of their table
        exact = replace(made, sums=EliminatedSums(of)).log_density
        if not is_right(made.grid, exact, NATS_OFF, COMPARED_EXACTLY):
            return None
        middle = made.grid.at_shares(np.full((1, len(made.grid.low)), 0.5))
        sums.anchored(made.ratios.sds(middle[:, :-1])[0])
        # where the root in the middle serves draws least
        corners = np.array(list(product((FAR_SHARE, 1 - FAR_SHARE), repeat=len(made.grid.low))))
        ratios = made.ratios.sds(made.grid.at_shares(corners)[:, :-1])
        z = np.random.default_rng(0).normal(size=(of.count[1], len(corners)))
        if not sums.noise(ratios, z)[1]:
            return None
    # a precision may be singular to rounding at some point
    except (TooMuchWork, np.linalg.LinAlgError):
        return None
    return made
