"""Independent draws of regressions with normal errors and effects of several factors or smooths:
sums over the rows tell the density of (sds, sigma), with all coefficients and effects integrated
out.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats
from sgmc.coordinates.integrated import ConditionallyNormal
from sgmc.coordinates.mode import PriorTerms
from sgmc.coordinates.transport import Transport
from sgmc.core.contract import Model
from sgmc.fit.problem import Problem
from sgmc.models.crossed.gram import as_sparse
from sgmc.models.crossed.table import CrossedRows
from sgmc.models.regression.effect_sums import MOST_SCALES, effect_sums
from sgmc.models.regression.summed import model_of, summed_table, whole_model


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
    )
    return few, model_of(table, every, family)


def effects_transport(
    problem: Problem,
    rows: CrossedRows,
    model: Model,
    terms: PriorTerms,
    place: Floats,
    covariance: Floats,
) -> Transport | None:
    """Return the transport of a regression with effects of several factors or smooths; None where
    the density of (sds, sigma) has no table.

    Parameters
    ----------
    problem : Problem
    rows : CrossedRows
        All rows, or few that have their sums.
    model : Model
        Of these rows.
    terms : PriorTerms
        Of (beta, phi, u).
    place : array (dim,)
        The mode of (beta, v, phi, u).
    covariance : array (q + 1, q + 1)
        About that of (phi, u).
    """
    blocks, d = rows.blocks, rows.blocks.d
    if blocks.loading.size > min(blocks.loading.q, MOST_SCALES):
        return None
    table, m = rows.table, d + blocks.effects
    X = sparse.csr_array(as_sparse(table.X)[:, :m])
    e = table.y - (0.0 if table.offset is None else table.offset) - X[:, :d] @ place[:d]
    weight = np.ones(len(e)) if table.weight is None else table.weight
    # the columns of smooths overlap
    apart = np.arange(blocks.loading.q) < len(rows.factor)
    sums = effect_sums(X[:, d:], np.asarray(blocks.number), apart, X[:, :d], e, weight)
    if sums is None:
        return None
    _, slope, precision = terms(place[blocks.places])
    return ConditionallyNormal.tabulated(
        place[d + blocks.effects :],
        covariance,
        map=problem.coordinates.map,
        prior=problem.prior.fixed,
        beta=place[:d],
        slope=slope[:d],
        precision=precision[:d, :d],
        sums=sums,
        loading=blocks.loading,
        rounding=model.rounding,
    )
