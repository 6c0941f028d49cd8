"""Independent draws of regressions with normal errors and effects of several factors or smooths:
sums over the rows tell the density of (sds, sigma), with all coefficients and effects integrated
out.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dtrtrs

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.integrated import ConditionallyNormal, Sums
from sgmc.coordinates.mode import PriorTerms
from sgmc.coordinates.transport import Transport
from sgmc.core.contract import Model
from sgmc.fit.problem import Problem
from sgmc.models.crossed.gram import as_sparse
from sgmc.models.crossed.table import CrossedRows
from sgmc.models.regression.summed import model_of, summed_table, whole_model

MOST_SCALES = 3  # sds of a table
MOST_WITH_ROOTS = 400  # effects that have a root with each other
PRODUCTS_AT_ONCE = 1 << 21  # numbers


@dataclass(frozen=True)
class EffectSums(Sums):
    """Products of the columns of effects, of coefficients and of residuals e at some coefficients.

    One of the effects, that of most levels, has a diagonal of products with itself, so that its
    levels cost a product each and not a root.

    Attributes
    ----------
    products : array (k, k)
        Of the columns of all other effects, of the coefficients and of e, by the weights.
    diagonal : array (m,)
        Of the columns of that effect with themselves; may be empty.
    beside : array (m, k)
        With the others.
    own : array (k - d - 1,) of int
        Number of the sd of each of the other effects.
    first : int
        Number of the sd of that effect.
    order : array (count,) of int
        Where the effects stand, that effect's first.
    weight : float
    """

    products: Floats
    diagonal: Floats
    beside: Floats
    own: Ints
    first: int
    order: Ints
    weight: float

    @property
    def count(self) -> int:
        """All effects."""
        return len(self.order)

    @property
    def operations(self) -> float:
        """See `Sums`."""
        k = len(self.products)
        return len(self.diagonal) * k**2 + k**3 / 3 + 30 * k**2

    def roots(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return roots (m, k, k) of what that effect leaves of the products, the rows of all other
        effects in units of their sds: L and (L^-1 C)' of their own part and of the one with the
        coefficients, and the products (m, d + 1, d + 1) of what is left of these.
        """
        q, k = len(self.own), len(self.products)
        size = 1 + self.diagonal * (ratios[:, self.first, None] ** 2)
        P = np.broadcast_to(self.products, (len(ratios), k, k)).copy()
        if len(self.diagonal):
            scale = ratios[:, self.first, None] / np.sqrt(size)
            for at, one in zip(P, scale):
                beside = one[:, None] * self.beside
                at -= beside.T @ beside
        scale = ratios[:, self.own]
        P[:, :q] *= scale[:, :, None]
        P[:, :, :q] *= scale[:, None]
        P[:, range(q), range(q)] += 1.0
        rest = P[:, q:, q:].copy()
        P[:, range(q, k), range(q, k)] *= 2  # so that residuals of zero leave a root
        root = np.linalg.cholesky(P)
        half = root[:, q:, :q]
        return root[:, :, :q], rest - half @ np.swapaxes(half, 1, 2)

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        step = max(1, PRODUCTS_AT_ONCE // self.products.size)
        parts = [self.root_and_log(ratios[a : a + step]) for a in range(0, len(ratios), step)]
        return tuple(np.concatenate(one) for one in zip(*parts))

    def root_and_log(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return `at` of ratios whose roots are kept at once."""
        root, left = self.roots(ratios)
        q = len(self.own)
        logs = np.log(np.diagonal(root[:, :q], axis1=1, axis2=2)).sum(axis=1)
        logs += 0.5 * np.log1p(self.diagonal * ratios[:, self.first, None] ** 2).sum(axis=1)
        return left, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        q, m = len(self.own), len(self.diagonal)
        root, _ = self.roots(ratios)
        half = np.einsum("nji,nj->ni", root[:, q:], pull) + z[:, m:]
        out = np.empty((len(z), m + q))
        for at, one, to in zip(root, half, out[:, m:]):
            to[:] = dtrtrs(at[:q].T, one)[0]
        out[:, m:] *= ratios[:, self.own]
        r = ratios[:, self.first, None]
        size = 1 + self.diagonal * r**2
        left = np.concatenate([-out[:, m:], pull], axis=1) @ self.beside.T
        out[:, :m] = r**2 / size * left + r / np.sqrt(size) * z[:, :m]
        back = np.empty_like(out)
        back[:, self.order] = out
        return back


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


def effect_sums(rows: CrossedRows, beta: Floats) -> EffectSums | None:
    """Return the sums of rows, of residuals at coefficients beta (d,); None where they are of too
    many effects.
    """
    table, blocks, d = rows.table, rows.blocks, rows.blocks.d
    number, effects = np.asarray(blocks.number), np.arange(blocks.effects)
    crossed = np.isin(number, np.arange(len(rows.factor)))  # not of smooths, whose columns overlap
    largest = np.bincount(number[crossed]).argmax() if crossed.any() else -1
    first, rest = effects[number == largest], effects[number != largest]
    if len(rest) > MOST_WITH_ROOTS:
        return None
    e = table.y - (0.0 if table.offset is None else table.offset)
    X = as_sparse(table.X)[:, : d + len(effects)]
    e = e - X[:, :d] @ beta
    weight = np.ones(len(e)) if table.weight is None else table.weight
    columns = sparse.csr_array(sparse.hstack([sparse.csr_array(X), e[:, None]]))
    found = sparse.csr_array(columns.T @ (sparse.diags_array(weight) @ columns))
    others = np.concatenate([d + rest, np.arange(d), [columns.shape[1] - 1]])
    return EffectSums(
        products=found[others][:, others].toarray(),
        diagonal=found.diagonal()[d + first],
        beside=found[d + first][:, others].toarray(),
        own=number[rest],
        first=max(int(largest), 0),
        order=np.concatenate([first, rest]),
        weight=float(weight.sum()),
    )


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
    sums = effect_sums(rows, place[:d])
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
