"""A design in two: the levels of its largest factor, and all other columns."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sgmc.coordinates.priors.prior_table import PriorTable, resolve
from sgmc.fit.choose import CURVATURE
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.formula.designs.groups import EffectTerm, Grouping, sorted_rows
from sgmc.formula.designs.spreads import of_array
from sgmc.models.regression import coordinates
from sgmc.models.regression.latent.densities.rules import scheme_of
from sgmc.models.regression.mode.search import column_scales, moments_of_outcomes, scales
from sgmc.models.regression.rows.data import PriorUnits
from sgmc.models.regression.rows.prepare import dense_moments

FEWEST_APART = 16  # rows of a group without a level
NODE = 3e-9  # seconds of a row at a node, as those of `sgmc.fit.choose`


@dataclass(frozen=True)
class Split:
    """Where the levels of a categorical term are, whose coefficients have normal priors.

    A coefficient is location + scale u, and u the effect of a group.  Groups are numbered: first
    the levels that occur, then parts of the rows that have no level of their own (those of the
    reference), then the levels that do not occur.

    Attributes
    ----------
    spec : DesignSpec
        Of the whole design.
    term : str
        Name of the categorical term.
    at : int
        Its number among the coded ones.
    columns : array (k,) of int
        Columns of the levels in the whole design; those that occur first.
    names : Index
        Their coefficients.
    location, scale : array (k,)
        Of the priors.
    prior : str
        As written.
    group : array (k,) of int
        Numbers of the levels.
    without : int
        Number of a group without a level.
    """

    spec: object
    term: str
    at: int
    columns: np.ndarray
    names: pd.Index
    location: np.ndarray
    scale: np.ndarray
    prior: str
    group: np.ndarray
    without: int

    @property
    def offset(self):
        """The offset of the formula, see `DesignSpec`."""
        return self.spec.offset

    @property
    def expanded(self):
        """The formula with the dot written out, see `DesignSpec`."""
        return self.spec.expanded

    @property
    def occurring(self):
        """Levels that occur."""
        return int((self.group < self.without).sum())

    @property
    def exog_names(self):
        """Names of all other columns."""
        left = np.delete(np.arange(len(self.spec.exog_names)), self.columns)
        return [self.spec.exog_names[j] for j in left]

    def table(self, data):
        """The columns of new data that are no levels; see `DesignSpec.table`."""
        return self.head(self.spec.table(data))

    def head(self, table):
        """The columns that are no levels, a `CodedTable`, or an array where none are coded."""
        head = table.without(self.at, self.columns)
        if head.codes.shape[1]:
            return head
        return head.toarray().astype(head.dtype, copy=False)

    def effects(self, table):
        """The group of each row, and what u and 1 are multiplied by in its linear predictor: arrays
        (n,) of int, (n,) and (n,).
        """
        cells = table.cells[:, self.columns]
        held = np.flatnonzero(np.diff(cells.indptr))
        number = np.full(cells.shape[0], -1, dtype=np.intp)
        number[held], value = cells.indices, np.zeros(cells.shape[0])
        value[held] = cells.data
        codes = table.codes[:, self.at]
        level, z = number[codes], value[codes]
        if table.by[self.at] >= 0:
            z = z * table.factors[:, table.by[self.at]]
        apart = level < 0
        group = np.where(apart, self.without, self.group[level])
        return (
            group,
            np.where(apart, 0.0, z * self.scale[level]),
            np.where(apart, 0.0, z * self.location[level]),
        )


def split(data, family, prior):
    """The `Split` of a formula's data, its head, groups and priors, or None where the largest term
    cannot be integrated out, or it is not worth it.

    Parameters
    ----------
    data : RegressionData
        Coded.
    family : Family
    prior : None, str, PriorSpec or dict

    Returns
    -------
    split : Split
    head : RegressionData
        Without the columns of the levels.
    grouping : Grouping
    priors : PriorTable
        Of the head's parameters.
    shares : array (levels,)
        Mean of each level's column times the prior's scale, and of the locations in all: what the
        levels add to the intercept at centred predictors.
    """
    table = data.source.coded(np.arange(data.n), np.dtype(float))
    at, seen = table.tip_term
    if at < 0 or not worth_it(data.n, len(data.parameter_names(family)), len(seen)):
        return None
    mean, sd = moments_of_design(data, table)
    priors = resolve(
        prior, data, family, scales(data, sd, family, *moments_of_outcomes(data, family))
    )
    columns = data.source.spec.coding.columns(at)
    unseen = np.ones(data.d, dtype=bool)
    unseen[seen] = False
    columns = np.append(seen, columns[unseen[columns]])
    if data.d == len(columns) or any(priors.used[j].family != "normal" for j in columns):
        return None
    location, scale = (
        np.array([getattr(priors.used[j], which) for j in columns], dtype=float)
        for which in ("location", "scale")
    )
    names = pd.Index([data.names[j] for j in columns], name="coefficient")
    term = next(
        name for name, where in data.terms.items() if where.start <= columns[0] < where.stop
    )
    bare = Split(
        data.source.spec, term, at, columns, names, location, scale,
        told(priors, columns), np.arange(len(columns)), len(seen),
    )  # fmt: skip
    group, z, fixed = bare.effects(table)
    group, parts = parted(group, len(seen), agreement(table, at, group, len(seen)))
    found = replace(bare, group=np.where(bare.group < len(seen), bare.group, bare.group + parts))
    return (
        found,
        headed(data, found, table, fixed),
        grouped(found, group, z, len(seen) + parts),
        (without(priors, found)),
        (mean[columns] * scale, mean[columns] @ location),
    )


def moments_of_design(data, table):
    """Means and sds of all columns of a coded design, by the weights that priors are scaled by."""
    own = data.units is None or data.units.weight is None
    weight = data.weight if own else data.units.weight
    mean, sd = table.moments(weight)
    mean[table.places], sd[table.places] = dense_moments(table.numbers, weight)
    return mean, sd


def prior_units(data, family):
    """The `PriorUnits` of the whole design, for fits to some of its rows."""
    mean, sd = moments_of_design(data, data.source.coded(np.arange(data.n), np.dtype(float)))
    outcome = moments_of_outcomes(data, family)
    return PriorUnits(column_scales(data, sd), mean, outcome, data.weight)


def told(priors, columns):
    """The priors of some coefficients, as written."""
    different = {id(one): one for one in (priors.specified[j] for j in columns)}.values()
    found = list(dict.fromkeys(map(str, different)))
    stars = " [*] in units of " + priors.unit if "*" in found[0] else ""
    return ", ".join(found[:3]) + (", ..." if len(found) > 3 else "") + stars


def agreement(table, at, group, first):
    """Which rows agree in all terms that are constant within each of the first groups, (n,) of int;
    `at` is the term of the groups.
    """
    key = np.zeros(len(group), dtype=np.int64)
    for t in np.delete(np.arange(len(table.by)), at):
        if table.by[t] >= 0 or not constant(table.codes[:, t], group, first):
            continue
        code = table.codes[:, t]
        _, key = np.unique(key * (int(code.max()) + 1) + code, return_inverse=True)
    return key


def constant(code, group, first):
    """Whether all rows of each of the first groups have the same code."""
    held = np.flatnonzero(group < first)
    one = np.zeros(first, dtype=code.dtype)
    one[group[held]] = code[held]
    return bool((one[group[held]] == code[held]).all())


def parted(group, first, key):
    """Numbers of groups of which the last, `first`, is cut into parts of one key, as large as the
    others at most; how many parts there are.
    """
    group, apart = group.copy(), np.flatnonzero(group == first)
    if not len(apart):
        return group, 0
    size = max(FEWEST_APART, (len(group) - len(apart)) // max(first, 1))
    apart = apart[np.argsort(key[apart], kind="stable")]
    begins = np.flatnonzero(np.diff(key[apart], prepend=-1))
    within = np.arange(len(apart)) - np.repeat(begins, np.diff(begins, append=len(apart)))
    number = np.cumsum(within % size == 0)
    group[apart] += number - 1
    return group, int(number[-1])


def headed(data, split, table, fixed):
    """The data of all other columns, with the levels' prior means in the offset."""
    left = np.delete(np.arange(data.d), split.columns)
    place = np.full(data.d + 1, -1)
    terms = {}
    for name, where in data.terms.items():
        kept = np.flatnonzero((left >= where.start) & (left < where.stop))
        if len(kept):
            terms[name] = slice(int(kept[0]), int(kept[-1]) + 1)
    place[left] = np.arange(len(left))
    head, units = split.head(table), data.units
    if units is not None:
        units = replace(units, scale=units.scale[left], mean=units.mean[left])
    return replace(
        data,
        names=[data.names[j] for j in left],
        terms=terms,
        increments=tuple(place[one] for one in data.increments),
        intercept=None if data.intercept is None else int(place[data.intercept]),
        source=head if isinstance(head, np.ndarray) else Reordered(head),
        units=units,
        offset=data.offset
        if not fixed.any()
        else fixed + (0.0 if data.offset is None else data.offset),
    )


@dataclass(frozen=True)
class Reordered:
    """A `CodedTable` as a source of designs."""

    table: object

    @property
    def spec(self):
        """What tells that it is coded."""
        return self

    @property
    def coding(self):
        """The coding, which is this."""
        return self

    @property
    def numbers(self):
        """Columns of which numbers are stored."""
        return self.table.places

    def design_bytes(self, dtype):
        """Bytes of the design."""
        return float(self.table.nbytes)

    def coded(self, position, dtype, change=None):
        """The table, row i at ``position[i]``; ``change(numbers, span)``, if given, makes what is
        written of its numbers.
        """
        order = np.empty(len(position), dtype=np.intp)
        order[position] = np.arange(len(position))
        table = self.table
        if change is not None:
            table = replace(table, numbers=change(table.numbers, slice(0, len(position))))
        out = table[order]
        return replace(out, numbers=np.ascontiguousarray(out.numbers, dtype=dtype))


def grouped(split, group, z, count):
    """The `Grouping` of rows by their groups."""
    order, starts = sorted_rows(group.astype(np.int32), count)
    Z = z[:, None]
    term = EffectTerm(split.term, [split.term], Z, False, split.term, of_array(Z))
    return Grouping(
        split.term, pd.RangeIndex(count), group.astype(np.int32), [term], order,
        starts, None, None, None, None,
    )  # fmt: skip


def without(priors, split):
    """The `PriorTable` of all other parameters."""
    left = np.delete(np.arange(len(priors.names)), split.columns)
    return PriorTable(
        [priors.names[j] for j in left],
        [priors.specified[j] for j in left],
        [priors.used[j] for j in left],
        [int(k) for k in np.flatnonzero(np.isin(left, priors.intercepts))],
        priors.centred,
        priors.auxiliary,
        priors.unit,
    )


def worth_it(rows, parameters, levels):
    """Whether levels are integrated out: where a matrix of all parameters is too large, or a step
    on it costs more than one with the nodes of a mini-batch of levels.

    Parameters
    ----------
    rows, parameters : int
    levels : int
        Those that occur.
    """
    if parameters > coordinates.LONGEST_PULLED:
        return True
    whole = parameters**2 * CURVATURE
    return whole > SMALLEST_BATCH * rows / max(levels, 1) * scheme_of(1).first * NODE
