"""Independent draws of regressions with normal errors and an effect of each group, of their
subgroups, too, or two effects that are not correlated: sums over the rows of each group tell the
density of (sds, sigma), with coefficients and effects integrated out.

With e = y - X beta, S_g = Z_g'W Z_g and r = sd / sigma, the effects leave

    -W u - sum_g log(a_g) / 2 - (e'We - sum_g r^2 (Z_g'W e)^2 / a_g) / (2 sigma^2)

with a_g = 1 + S_g r^2 of the log density.  e'We is split into squares within the groups, of what
is left of the rows by their own regression on Z, and (Z_g'W e)^2 / S_g: these have the weight
1 / a_g, so that nothing cancels.  All is quadratic in beta.

Whatever the effects, the rows of a group count by their products alone: few rows have the same.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.approximations.mode import Mode, PriorTerms
from sgmc.coordinates.independent.axes import Axes, ProposedParameters, ProposedScales
from sgmc.coordinates.independent.integrated import ConditionallyNormal, Sums
from sgmc.coordinates.independent.ratios import NormalByTotal, Ratios
from sgmc.coordinates.independent.transport import Transport
from sgmc.core.designs.design import design
from sgmc.core.engine import full_many
from sgmc.core.expansion import expand
from sgmc.core.system.blas import one_blas_thread
from sgmc.fit.problem import Problem
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.bases.family import Family
from sgmc.models.regression.bases.glm import Glm
from sgmc.models.regression.latent.covariance.fold import FoldedEffects
from sgmc.models.regression.latent.integrated.rows import GroupedRows
from sgmc.models.regression.rows.correlated_sums import (
    CorrelatedSums,
    signs_of_correlations,
)
from sgmc.models.regression.rows.effect_sums import (
    MOST_GROUPED_NUMBERS,
    SHARES_AT_ONCE,
    GroupSums,
    told_coordinates,
)

TIMES_FEWER = 2  # rows per row that stands for them, at least
DENSITY_OPERATIONS = 10.0  # of a row at a node, about
MOST_KINDS = 1 << 13  # of groups, by what their rows tell: each counts in all pairs


@dataclass(frozen=True)
class NestedSums(Sums):
    """Sums over the rows of groups and of their subgroups, which have an effect each; a group may
    be its own subgroup.

    With z and v the covariates of a group's effect and of a subgroup's, and h running over the
    subgroups, the effects of these leave of the products of any columns a, b

        sum_h [a'Wb - (v'Wa)(v'Wb) / S_h + (v'Wa)(v'Wb) / (S_h (1 + r_2^2 S_h))],  S_h = v'Wv,

    in which nothing cancels; then those of the groups take off the part along z.

    Attributes
    ----------
    within : array (k, k)
        Products of what is left of the columns (X, e) by their regressions on v in each subgroup.
    between : array (subgroups, k)
        v'W(X, e).
    told : array (subgroups,)
        S_h; where it is zero, so are the products with v.
    across : array (subgroups,)
        v'Wz.
    outer : array (groups,), array (groups, k)
        The same products of what is left of z, with itself and with the columns, summed over the
        subgroups of each group.
    first : array (groups,) of int
        First subgroup of each group.
    weight : float
    """

    within: Floats
    between: Floats
    told: Floats
    across: Floats
    outer: tuple[Floats, Floats]
    first: Ints
    weight: float

    @classmethod
    def of(cls, columns: Floats, Z: Floats, w: Floats, starts: Ints, groups: Ints) -> "NestedSums":
        """Of columns (n, k), covariates (z, v) (n, 2), weights, first rows of subgroups and first
        subgroups of groups, both with an end.
        """
        begin, (z, v) = starts[:-1], Z.T
        told = np.add.reduceat(w * v**2, begin)
        size = np.where(told > 0, told, 1.0)
        across = np.add.reduceat(w * v * z, begin)
        between = np.add.reduceat((w * v)[:, None] * columns, begin, axis=0)
        sizes = np.diff(starts)
        left = columns - v[:, None] * np.repeat(between / size[:, None], sizes, axis=0)
        apart = w * (z - v * np.repeat(across / size, sizes))
        first = groups[:-1]
        outer = (
            np.add.reduceat(np.add.reduceat(apart * z, begin), first),
            np.add.reduceat(np.add.reduceat(apart[:, None] * left, begin, axis=0), first, axis=0),
        )
        within = left.T @ (w[:, None] * left)
        return cls(within, between, told, across, outer, first, float(w.sum()))

    @cached_property
    def gathered(self) -> sparse.csr_array:
        """Products of v'Wz with v'W(X, e, z), (subgroups, groups (k + 1)), each in the columns of
        its group.
        """
        products = self.across[:, None] * np.column_stack([self.between, self.across])
        m, k = products.shape
        group = np.searchsorted(self.first, np.arange(m), side="right") - 1
        columns = k * group[:, None] + np.arange(k)
        parts = products.ravel(), columns.ravel(), k * np.arange(m + 1)
        return sparse.csr_array(parts, shape=(m, k * len(self.first)))

    @property
    def count(self) -> int:
        """Zero: effects are no parameters."""
        return 0

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return 4.0 * self.between.size * self.between.shape[1]

    @property
    def at_once(self) -> int:
        """See `Sums`."""
        return max(1, SHARES_AT_ONCE // self.between.size)

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        k = len(self.within)
        more = ratios[:, 1:] ** 2 * self.told
        share = 1 / ((1 + more) * np.where(self.told > 0, self.told, 1.0))
        products = (self.between[:, :, None] * self.between[:, None]).reshape(-1, k * k)
        found = self.within + (share @ products).reshape(-1, k, k)
        outer = (share @ self.gathered).reshape(len(ratios), -1, k + 1)
        told, pull = self.outer[0] + outer[..., k], self.outer[1] + outer[..., :k]
        further = ratios[:, :1] ** 2 * told
        pull *= (ratios[:, :1] / np.sqrt(1 + further))[..., None]
        logs = 0.5 * (np.log1p(more).sum(axis=1) + np.log1p(further).sum(axis=1))
        return found - np.swapaxes(pull, 1, 2) @ pull, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        return z


def grouped_transport(
    problem: Problem,
    glm: Glm,
    loading: Loading,
    rows: GroupedRows,
    terms: PriorTerms,
    mode: Mode,
    seed: np.random.SeedSequence,
) -> Transport | None:
    """Return the transport of a regression with effects of groups; None where sums would be too
    large, or the density of (sds, correlations, sigma) has no table, or proposals.

    Parameters
    ----------
    problem : Problem
    glm : Glm
        Of the rows without effects, sigma among its parameters.
    loading : Loading
        Of all effects.
    rows : GroupedRows
    terms : PriorTerms
        Of the coefficients, normal ones.
    mode : Mode
    seed : SeedSequence
        Of proposals that are looked at.
    """
    table, d = rows.table, len(mode.theta) - 1 - loading.size
    size = max(len(table.y), len(rows.level) * (d + 1)) * (d + 1)
    if (
        not isinstance(table.X, np.ndarray)
        or size > MOST_GROUPED_NUMBERS
        or problem.coordinates.map is None
    ):
        return None
    X, beta = np.asarray(table.X, dtype=float), mode.theta[:d]
    e = table.y - X @ beta - (0.0 if table.offset is None else table.offset)
    weight = np.ones(len(e)) if table.weight is None else table.weight
    _, slope, precision = terms(mode.theta)
    sums = sums_of(rows, X, e, weight, loading)
    if sums is None:
        return None
    place, covariance = upright(mode, FoldedEffects(d, loading))
    parts = dict(
        map=problem.coordinates.map,
        prior=problem.prior,
        beta=beta,
        slope=slope[:d],
        precision=precision[:d, :d],
        sums=sums,
        loading=loading,
        rounding=glm.rounding,
    )
    of_mode = place[d:], covariance[d:, d:]
    if loading.size > loading.q:
        random = np.random.default_rng(seed)
        pairs = signs_of_correlations(loading)
        return ProposedScales.around(*of_mode, random, pairs=pairs, **parts)
    found = ConditionallyNormal.tabulated(*of_mode, **parts)
    if found is not None or not isinstance(sums, GroupSums):
        return found
    square = float(e @ (weight * e))
    # weights beyond the rows count some of these twice, whose density grows without end where the
    # groups' effects are all that is left
    if sums.weight <= len(e) and square > 0:
        found = by_total(sums, 0.5 * np.log(square / sums.weight), parts)
    if found is None:
        ratios = told_coordinates(loading, sums.told.max(keepdims=True))
        found = ratios and ConditionallyNormal.tabulated(*of_mode, ratios=ratios, **parts)
    return found


def upright(mode: Mode, fold: FoldedEffects) -> tuple[Floats, Floats]:
    """Return the mode with positive sds, and the covariance around it: signs of sds have no
    meaning, and those of correlations follow from them.
    """
    d, q = fold.first, fold.loading.q
    signs = np.where(mode.theta[d : d + q] < 0, -1.0, 1.0)
    side = fold.turned(np.ones(len(mode.theta)), signs)[0]
    return side * mode.theta, np.outer(side, side) * np.linalg.inv(mode.precision)


def parameters_proposed(
    problem: Problem, fold: FoldedEffects, terms: PriorTerms, seed: np.random.SeedSequence
) -> ProposedParameters | None:
    """Return proposals of all parameters of a regression whose integrals over effects have no
    closed form; None where their weights vary too much.

    Parameters
    ----------
    problem : Problem
    fold : FoldedEffects
    terms : PriorTerms
    seed : SeedSequence
        Of proposals that are looked at.
    """
    d, end, dim = fold.first, fold.places.stop, problem.dim
    order = np.r_[d:end, end:dim, :d]
    place, covariance = upright(problem.mode, fold)
    centre, covariance = place[order], covariance[np.ix_(order, order)]
    pairs = signs_of_correlations(fold.loading)

    def density(x: Floats) -> Floats:
        with one_blas_thread():
            return full_many(problem.all_rows(), x, slopes=False)[0]

    def curvature(point: Floats) -> Floats:
        theta = np.empty(dim)
        theta[order] = point
        *_, hessian = expand(problem.model.anchored(theta), theta)
        return (hessian + terms(theta)[2])[np.ix_(order, order)]

    def sigma(entries: Floats) -> Floats:
        roots = fold.loading.root(entries)
        return roots @ np.swapaxes(roots, 1, 2)

    cells = problem.rows.cells * problem.rows.row_terms * problem.own.rule.nodes
    of = ProposedParameters(
        axes=Axes(centre, covariance, covariance, fold.loading.q, pairs),
        curvature=curvature,
        sigma=sigma,
        head=end - d,
        density=density,
        map=problem.coordinates.map,
        order=order,
        work=DENSITY_OPERATIONS * cells,
    )
    return of.looked_for(centre, covariance, np.random.default_rng(seed))


def by_total(sums: GroupSums, middle: float, parts: dict[str, Any]) -> Transport | None:
    """Return the transport of groups most of which have a single row: these tell the sum of the two
    variances, and the ratio of the sds may be anything up to infinity; None where there is no
    table.

    Parameters
    ----------
    sums : GroupSums
    middle : float
        About the log of the sd of a row.
    parts : dict
        Of `ConditionallyNormal`.
    """
    told = sums.told[sums.told > 0]
    if not len(told):
        return None
    # below the first ratio rows tell nothing of the sd, above the second one nothing of sigma, but
    # for groups of several rows, whose residuals tell where it would be too small
    most, square = float(told.min() ** -0.5), float(sums.within[-1, -1])
    spare = sums.weight - float(sums.groups.sum())
    if square > 0 and spare > 0:
        most = max(most, np.exp(middle) * np.sqrt(spare / square))
    ratios = Ratios(told.max(keepdims=True) ** -0.5, most)
    share = np.array([sums.told @ sums.groups / sums.weight])
    return NormalByTotal(ratios=ratios, share=share, **parts).looked_for(middle)


def sums_of(
    rows: GroupedRows, X: Floats, e: Floats, weight: Floats, loading: Loading
) -> Sums | None:
    """Return the sums of rows; None where they would be too large."""
    starts, Z = rows.starts, rows.Z
    if loading.size > loading.q:
        size = len(rows.level) * (Z.shape[1] * (X.shape[1] + 1)) ** 2
        if rows.subgroups is not None or size > MOST_GROUPED_NUMBERS:
            return None
        return CorrelatedSums.of(np.column_stack([X, e]), Z, weight, starts, loading)
    if Z.shape[1] == 1 and rows.subgroups is None:
        sums = GroupSums.of(X, e, Z[:, 0], weight, starts)
        return sums if len(sums.told) <= MOST_KINDS else None
    first = np.arange(len(starts))  # each group is its own subgroup
    if rows.subgroups is not None:
        starts, first = rows.subgroups.starts, rows.subgroups.first
    if Z.shape[1] > 2 or (Z.shape[1] == 1 and rows.subgroups is not None):
        return None
    return NestedSums.of(np.column_stack([X, e]), Z, weight, starts, first)


def summed_groups(rows: GroupedRows, glm: Glm, family: Family) -> tuple[GroupedRows, Glm] | None:
    """Return rows with the sums of each group's, or subgroup's, fewer in large ones, and their
    compiled model without effects; None where they would hardly be fewer, or mini-batches cost
    less.

    With Q R the columns of the design, of the effects and the outcomes of a group by the roots of
    the weights, the rows of R with one weight for all have the products of the group's rows.

    Parameters
    ----------
    rows : GroupedRows
    glm : Glm
        Of all rows, with normal errors.
    family : Family
    """
    table, inner = rows.table, rows.subgroups
    starts = inner.starts if inner else rows.starts
    if not isinstance(table.X, np.ndarray) or table.se is not None:
        return None
    (n, d), k = table.X.shape, table.X.shape[1] + rows.Z.shape[1] + 1
    sizes = np.minimum(np.diff(starts), k)
    weight = np.ones(n) if table.weight is None else table.weight
    total = np.add.reduceat(weight, starts[:-1])
    # a mini-batch is of so many groups at least: where all of these rows are no more than its own,
    # exact steps cost less
    batch = SMALLEST_BATCH * n / len(rows.level)
    if sizes.sum() > min(n / TIMES_FEWER, batch) or not (total > 0).all():
        return None
    y = table.y if table.offset is None else table.y - table.offset
    columns = np.column_stack([table.X, rows.Z, y]) * np.sqrt(weight)[:, None]
    parts = [
        np.linalg.qr(columns[a:b], mode="r") * np.sqrt(m / w)
        for a, b, m, w in zip(starts[:-1], starts[1:], sizes, total)
    ]
    few = np.concatenate(parts)
    X, Z = (np.ascontiguousarray(one) for one in (few[:, :d], few[:, d:-1]))
    none = dict.fromkeys(("trials", "offset", "strata", "order", "working"))
    own = np.repeat(total / sizes, sizes)
    small = replace(table, X=X, y=few[:, -1].copy(), weight=own, **none)
    made = family.kernel(design(X), small.y, None, own)
    if family.auxiliary:
        made.rounding = glm.rounding
    ends = np.append(0, np.cumsum(sizes))
    found = replace(rows, table=small, starts=ends[inner.first] if inner else ends, Z=Z)
    return replace(found, subgroups=inner and replace(inner, starts=ends)), made
