"""A table sorted by group, its groups in random order."""

from dataclasses import dataclass

import numpy as np

from sgmc.core.designs.design import design
from sgmc.core.random.rng import seed_sequence
from sgmc.models.regression.bases.predictors.two_predictors import of_columns
from sgmc.models.regression.latent.covariance.group_effects import outer_first
from sgmc.models.regression.mode.search import alone
from sgmc.models.regression.rows.prepare import DesignTable, copied, dense_moments


@dataclass(frozen=True)
class GroupedRows:
    """Rows as compiled models of groups read them.

    Attributes
    ----------
    table : Table
        Rows of a group are neighbours; `order` leads to the user's.
    starts : array (groups + 1,) of int
        First row of each group.
    level : array (groups,) of int
        Number of the level that each group of the table is.
    Z : array (n, q)
        Covariates of the effects, of nested factors the outer's first.
    subgroups : Subgroups or None
    """

    table: DesignTable
    starts: np.ndarray
    level: np.ndarray
    Z: np.ndarray
    subgroups: object = None

    def spread(self, most: int) -> "GroupedRows":
        """Return about `most` rows of groups without subgroups: an even part of each large group,
        and small ones as they are.
        """
        sizes = np.diff(self.starts)
        apart = np.ceil(sizes * len(sizes) / most).astype(np.intp)
        within = np.arange(len(self.table.y)) - np.repeat(self.starts[:-1], sizes)
        kept = np.flatnonzero(within % np.repeat(apart, sizes) == 0)
        starts = np.append(0, np.cumsum(-(-sizes // apart)))
        return GroupedRows(self.table.part(kept), starts, self.level, self.Z[kept])


@dataclass(frozen=True)
class Subgroups:
    """The levels of a nested factor.

    Attributes
    ----------
    first : array (groups + 1,) of int
        First subgroup of each group.
    starts : array (subgroups + 1,) of int
        First row of each.
    level : array (subgroups,) of int
        Number of the level that each is.
    """

    first: np.ndarray
    starts: np.ndarray
    level: np.ndarray


def scales_of(data, terms, Z, weight):
    """What priors of the sds of effects are divided by, (q,), see `sgmc.formula.designs.spreads`; Z
    (n, q) are the covariates of all of them, and their weights those of the rows in this order,
    unless the data come with others.
    """
    if data.units is not None and data.units.weight is not None:
        none = np.empty((len(Z), 0))
        Z, weight = np.concatenate([none, *(one.Z for one in terms)], axis=1), data.units.weight
    ends = np.cumsum([len(one.columns) for one in terms])
    parts = np.split(dense_moments(Z, weight)[1], ends[:-1])
    return np.concatenate([np.empty(0), *(one.scaling(sd) for one, sd in zip(terms, parts))])


def grouped_rows(data, grouping, entropy, dtype, centre):
    """Copy the design straight into its places; neighbouring groups are then a sample of them.

    Parameters
    ----------
    data : RegressionData
    grouping : Grouping
    entropy : int
    dtype : dtype
    centre : bool
        Whether means are taken off the columns of the design; covariates of effects stay.
    """
    groups = len(grouping.levels)
    random = np.random.Generator(np.random.PCG64(seed_sequence(entropy, "permutation")))
    level = random.permutation(groups)
    sizes = np.diff(grouping.starts)[level]
    starts = np.append(0, np.cumsum(sizes))
    within = np.repeat(np.asarray(grouping.starts)[level] - starts[:-1], sizes)
    order = np.asarray(grouping.order)[within + np.arange(data.n)]
    table = copied(data, order, dtype, centre)
    Z = np.concatenate([term.Z for term in outer_first(grouping)], axis=1)[order]
    inner = None if grouping.sub is None else subgroups(grouping, level)
    return GroupedRows(table, starts, level, np.ascontiguousarray(Z, dtype=float), inner)


def subgroups(grouping, level):
    """The `Subgroups` of groups in the order of `level`."""
    sizes = np.bincount(grouping.sub)
    outer = np.empty(len(sizes), dtype=np.intp)
    outer[grouping.sub] = grouping.codes
    counts = np.bincount(outer, minlength=len(level))
    begins = np.append(0, np.cumsum(counts))
    first = np.append(0, np.cumsum(counts[level]))
    inner = np.repeat(begins[level] - first[:-1], counts[level]) + np.arange(len(sizes))
    return Subgroups(first, np.append(0, np.cumsum(sizes[inner])), inner)


def guessed_beside(priors, table, family, columns, start):
    """The table of priors of coefficients, parameters of effects and auxiliary ones, with scales
    for `horseshoe(nonzero=...)`, by a model of the coefficients alone.

    Parameters
    ----------
    priors : PriorTable
    table : DesignTable
        Of the coefficients.
    family : Family
    columns : array (d,) of int
        The linear predictor of each coefficient.
    start : array
        First guess of all.
    """
    if all(one.nonzero is None for one in priors.specified):
        return priors
    sds = sds_alone(table, family, columns, start, priors.intercepts)
    return priors.guessed(np.append(sds, np.ones(len(start) - len(sds))))


def sds_alone(table, family, columns, start, intercepts):
    """With which sds the data tell single coefficients, (d,); parameters are those of
    `guessed_beside`.
    """
    d, u = len(columns), len(family.auxiliary)
    X = table.X if table.X.shape[1] == d else np.tile(table.X, (1, d // table.X.shape[1]))
    own = of_columns(family, columns)
    model = own.kernel(design(X), table.response, table.offset, table.multiplicity)
    return alone(model, np.append(start[:d], start[len(start) - u :]), intercepts)[:d]
