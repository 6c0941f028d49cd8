"""Independent draws of regressions with normal errors and one effect of each group: sums over the
rows of each group tell the density of (sd, sigma), with coefficients and effects integrated out.

With e = y - X beta, S_g = Z_g'W Z_g and r = sd / sigma, the effects leave

    -W u - sum_g log(a_g) / 2 - (e'We - sum_g r^2 (Z_g'W e)^2 / a_g) / (2 sigma^2)

with a_g = 1 + S_g r^2 of the log density.  e'We is split into squares within the groups, of what
is left of the rows by their own regression on Z, and (Z_g'W e)^2 / S_g: these have the weight
1 / a_g, so that nothing cancels.  All is quadratic in beta.

Whatever the effects, the rows of a group count by their products alone: few rows have the same.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.coordinates.integrated import ConditionallyNormal, Sums
from sgmc.coordinates.mode import Mode, PriorTerms
from sgmc.coordinates.transport import Transport
from sgmc.core.design import design
from sgmc.fit.problem import Problem
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.models.mixed.gaussian import GaussianMarginal
from sgmc.models.mixed.rows import GroupedRows
from sgmc.models.regression.bases.family import Family
from sgmc.models.regression.bases.glm import Glm

MOST_GROUPED_NUMBERS = (
    1 << 24
)  # numbers of the rows, and of the groups' products, that sums are made of
TIMES_FEWER = 2  # rows per row that stands for them, at least
MOST_KINDS = 1 << 13  # of groups, by what their rows tell: each counts in all pairs
SHARES_AT_ONCE = 1 << 20  # groups times sds


@dataclass(frozen=True)
class GroupSums(Sums):
    """Sums over the rows of the columns of the design and of residuals e at some coefficients,
    d + 1 columns in all.

    Attributes
    ----------
    within : array (d + 1, d + 1)
        Products of what is left of the columns by their regressions on Z in each group.
    between : array (kinds, (d + 1)^2)
        Products of Z_g'W (X, e), of groups with the same S_g together.
    told : array (kinds,)
        S_g.
    groups : array (kinds,)
        Of each kind.
    weight : float
        Sum of the weights.
    """

    within: Floats
    between: Floats
    told: Floats
    groups: Floats
    weight: float

    @classmethod
    def of(cls, X: Floats, e: Floats, z: Floats, w: Floats, starts: Floats) -> "GroupSums":
        """Of columns (n, d), residuals, covariate and weights (n,), and first rows of groups."""
        columns, sizes = np.column_stack([X, e]), np.diff(starts)
        told = np.add.reduceat(w * z**2, starts[:-1])
        products = np.add.reduceat((w * z)[:, None] * columns, starts[:-1], axis=0)
        slopes = products / np.where(told > 0, told, 1.0)[:, None]
        columns -= z[:, None] * np.repeat(slopes, sizes, axis=0)
        # of groups whose rows tell as much, sums do; equal sizes are common
        kinds, first, count = np.unique(np.sort(told), return_index=True, return_counts=True)
        products = products[np.argsort(told, kind="stable")]
        between = np.array(
            [products[a : a + m].T @ products[a : a + m] for a, m in zip(first, count)]
        )
        within = columns.T @ (w[:, None] * columns)
        return cls(within, between.reshape(len(kinds), -1), kinds, count, float(w.sum()))

    @property
    def count(self) -> int:
        """Zero: effects are no parameters."""
        return 0

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return 2.0 * self.between.size

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        k, size = len(self.within), max(1, SHARES_AT_ONCE // len(self.told))
        found, logs = np.empty((len(ratios), k, k)), np.empty(len(ratios))
        for a in range(0, len(ratios), size):
            at = slice(a, a + size)
            more = ratios[at] ** 2 * self.told
            share = 1 / ((1 + more) * np.where(self.told > 0, self.told, 1.0))
            found[at] = self.within + (share @ self.between).reshape(-1, k, k)
            logs[at] = 0.5 * np.log1p(more) @ self.groups
        return found, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        return z


def grouped_transport(
    problem: Problem, kernel: GaussianMarginal, rows: GroupedRows, terms: PriorTerms, mode: Mode
) -> Transport | None:
    """Return the transport of a regression with one effect of each group; None where sums would be
    too large, or the density of (sd, sigma) has no table.

    Parameters
    ----------
    problem : Problem
    kernel : GaussianMarginal
        With sigma among its parameters.
    rows : GroupedRows
    terms : PriorTerms
        Of the coefficients, normal ones.
    mode : Mode
    """
    table, d = rows.table, len(mode.theta) - 2
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
    sums = GroupSums.of(X, e, rows.Z[:, 0], weight, rows.starts)
    if len(sums.told) > MOST_KINDS:
        return None
    covariance = np.linalg.inv(mode.precision)[d:, d:]
    return ConditionallyNormal.tabulated(
        mode.theta[d:],
        covariance,
        map=problem.coordinates.map,
        prior=problem.prior,
        beta=beta,
        slope=slope[:d],
        precision=precision[:d, :d],
        sums=sums,
        loading=kernel.loading,
        rounding=kernel.rounding,
    )


def summed_groups(rows: GroupedRows, glm: Glm, family: Family) -> tuple[GroupedRows, Glm] | None:
    """Return rows with the sums of each group's, fewer in large groups, and their compiled model
    without effects; None where they would hardly be fewer, or mini-batches cost less.

    With Q R the columns of the design, of the effects and the outcomes of a group by the roots of
    the weights, the rows of R with one weight for all have the products of the group's rows.

    Parameters
    ----------
    rows : GroupedRows
        Of one factor.
    glm : Glm
        Of all rows, with normal errors.
    family : Family
    """
    table, starts = rows.table, rows.starts
    if not isinstance(table.X, np.ndarray) or table.se is not None:
        return None
    (n, d), k = table.X.shape, table.X.shape[1] + rows.Z.shape[1] + 1
    sizes = np.minimum(np.diff(starts), k)
    weight = np.ones(n) if table.weight is None else table.weight
    total = np.add.reduceat(weight, starts[:-1])
    # a mini-batch is of so many groups at least: where all of these rows are no more than its own,
    # exact steps cost less
    batch = SMALLEST_BATCH * n / len(sizes)
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
    return replace(rows, table=small, starts=np.append(0, np.cumsum(sizes)), Z=Z), made
