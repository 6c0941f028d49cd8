"""Groups of rows and the covariates of their effects: what a formula's group terms stand for."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from sgmc.arguments.types import Floats, Frame, Index, Ints, Series
from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.columns import kind
from sgmc.formula.data.frames import as_frame
from sgmc.formula.data.levels import places_of
from sgmc.formula.designs.blocks import INTERCEPT
from sgmc.formula.designs.spreads import of_array, of_rows
from sgmc.splines.smooth import fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sgmc.formula.designs.blocks import Block
    from sgmc.formula.syntax.bars import Bar
    from sgmc.formula.table import Table


MISSING = -1  # the code of a row that lacks its group


@dataclass(frozen=True, eq=False)
class EffectTerm:
    """Effects of the levels of a factor, with a covariance matrix of their own.

    Attributes
    ----------
    label : str
        As written, ``"1 + x | g"``.
    columns : list of str
        One an effect; ``"Intercept"`` for that of 1.
    Z : array (n, q)
        Their covariates, in the order of the rows.
    correlated : bool
    factor : str
    scaling : Scaling
        What autoscaled priors of the effects' sds are divided by.
    part : str
        What its names begin with where there are several linear predictors, else empty.
    predictor : int
        Which of them it is in.
    """

    label: str
    columns: list[Any]
    Z: np.ndarray
    correlated: bool
    factor: str
    scaling: object
    part: str = ""
    predictor: int = 0


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows by their groups.

    Attributes
    ----------
    name : str
        Of the factor; of nested ones the outer.
    levels : Index
        Those that occur, sorted or in the order of a categorical.
    codes : array (n,) of int
        The level of each row.
    terms : list of EffectTerm
    order : array (n,) of int
        Rows by group, and within by subgroup; otherwise as they were.
    starts : array (levels + 1,) of int
        Where in `order` the rows of each group begin.
    sub : array (n,) of int, or None
        The level of the inner factor, those of a group being neighbours.
    sub_name : str or None
    sub_levels : Index or None
    spec : GroupSpec
    """

    name: str
    levels: pd.Index
    codes: np.ndarray
    terms: list[Any]
    order: np.ndarray
    starts: np.ndarray
    sub: np.ndarray | None
    sub_name: str | None
    sub_levels: pd.Index | None
    spec: object
    room, model = "grouped", "mixed"  # where the registry has what it makes

    @property
    def labels(self) -> list[str]:
        """Terms as written."""
        return [f"({one.label})" for one in self.terms]

    def crossing(self) -> "Crossing":
        """The same terms as those of factors that may cross."""
        codes = [self.codes] if self.sub is None else [self.codes, self.sub]
        spec: Any = self.spec
        none = np.empty((len(self.codes), 0))
        return Crossing(spec.factors, np.column_stack(codes), self.terms, spec, none)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Rows by the levels of several factors that cross, or of more than two nested ones; smooths
    beside them, with any number of factors.

    Attributes
    ----------
    factors : list of Levels
        Those that occur, sorted or in the order of a categorical.
    codes : array (n, factors) of int32
        The levels of each row.
    terms : list of EffectTerm
    spec : GroupSpec
    curves : array (n, columns)
        Of the smooths, what is penalised.
    """

    factors: list[Any]
    codes: np.ndarray
    terms: list[Any]
    spec: "GroupSpec"
    curves: np.ndarray
    room, model = "crossed", "crossed"  # where the registry has what it makes

    @property
    def levels(self) -> list[Any]:
        """All levels, of one factor after the other."""
        return [level for one in self.factors for level in one.index]

    @property
    def sizes(self) -> list[int]:
        """Columns of each block of the smooths."""
        return [size for one in self.spec.smooths for size in one.sizes]

    @property
    def labels(self) -> list[str]:
        """Terms as written, and smooths."""
        terms = [f"{one.part}({one.label})" for one in self.terms]
        return terms + [one.label for one in self.spec.smooths]

    @property
    def predictors(self) -> Ints:
        """The linear predictor of each effect, then of each block of the smooths."""
        found = [one.predictor for one in self.terms for _ in one.columns]
        return np.array(found + [one.predictor for one in self.spec.smooths for _ in one.blocks])

    def for_equations(self, labels: "Sequence[str]") -> "Crossing":
        """The same terms in each of several linear predictors, with effects of their own."""
        places = [(f"{label}:", k) for k, label in enumerate(labels)]
        terms = [replace(one, part=p, predictor=k) for p, k in places for one in self.terms]
        specs = [replace(one, part=p, predictor=k) for p, k in places for one in self.spec.terms]
        smooths = [one.in_part(p, k) for p, k in places for one in self.spec.smooths]
        spec, curves = replace(self.spec, terms=specs, smooths=smooths), self.curves
        return replace(self, terms=terms, spec=spec, curves=np.tile(curves, (1, len(places))))


@dataclass(frozen=True)
class Levels:
    """The levels of a factor: combinations of one or more columns.

    Attributes
    ----------
    columns : tuple of str
    index : Index
        A MultiIndex of several columns.
    """

    columns: tuple[Any, ...]
    index: pd.Index

    @property
    def name(self) -> str:
        """``"g"``, or ``"g:h"``."""
        return ":".join(self.columns)

    def codes(self, frame: Frame) -> tuple[Ints, Index]:
        """The level of each row of a frame, MISSING where a column is; those that are not known
        are numbered on, and come second as an index.
        """
        lacking = frame[list(self.columns)].isna().any(axis=1).to_numpy()
        values = labels(frame, self.columns)
        table = None if self.columns == (LABELS,) else "df"
        codes = places_of(values, self.index, self.columns, table)
        unknown = (codes < 0) & ~lacking
        numbers, new = pd.factorize(values[unknown], sort=True)
        codes[unknown] = len(self.index) + numbers
        codes[lacking] = MISSING
        return codes, new


def labels(frame: Frame, columns: tuple[str, ...]) -> Index:
    """The label of each row, an Index."""
    parts = [np.asarray(frame[name]) for name in columns]
    return (
        pd.Index(parts[0]) if len(parts) == 1 else pd.MultiIndex.from_arrays(parts, names=columns)
    )


def levels_of(frame: Frame, columns: tuple[str, ...], rows: Any) -> tuple[Ints, Levels]:
    """The code of each row, and the `Levels` of some rows without gaps."""
    found = [column_levels(frame[name].iloc[rows]) for name in columns]
    codes, index = found[0]
    if len(found) > 1:
        shape = [len(one) for _, one in found]
        joint = np.ravel_multi_index([one for one, _ in found], shape)
        codes, used = pd.factorize(joint, sort=True)
        places = np.unravel_index(used, shape)
        index = pd.MultiIndex.from_arrays(
            [one[at] for (_, one), at in zip(found, places)], names=columns
        )
    return codes, Levels(tuple(columns), index)


def column_levels(column: Series) -> tuple[Ints, Index]:
    """Codes and levels of a column without gaps: categories in their order, others sorted.

    Raises
    ------
    DataError
        For numbers that are not whole, and for what is no label.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        used, codes = np.unique(column.cat.codes, return_inverse=True)
        return codes, column.cat.categories[used]
    found = kind(column)
    if found in ("complex", "other"):
        raise DataError(f"column {column.name!r} holds {column.dtype}, which are no groups")
    if found == "number" and column.dtype.kind == "f" and (column % 1 != 0).any():
        raise DataError(
            f"column {column.name!r} holds numbers that are not whole, such as "
            f"{column[column % 1 != 0].iloc[0]:g}: no groups; cut it into intervals first, "
            f"pd.cut(df[{column.name!r}], 10)"
        )
    codes, index = pd.factorize(column, sort=True)
    return codes, pd.Index(index)


@dataclass(frozen=True)
class TermSpec:
    """How the covariates of a group term are made; see `EffectTerm`."""

    label: str
    design: Any
    correlated: bool
    factor: str
    part: str = ""
    predictor: int = 0


@dataclass(frozen=True)
class GroupSpec:
    """How rows are grouped; can be pickled and holds no rows.

    Attributes
    ----------
    terms : list of TermSpec
    factors : list of Levels
        Of a `Grouping` one, or the outer and the inner one.
    smooths : list of Smooth
    """

    terms: list[Any]
    factors: list[Any]
    smooths: list[Any] = field(default_factory=list)

    @property
    def effect_predictors(self) -> list[Ints]:
        """The linear predictor of each effect of each factor."""
        return [
            np.array(
                [
                    term.predictor
                    for term in self.terms
                    if term.factor == one.name
                    for _ in term.design.exog_names
                ]
            )
            for one in self.factors
        ]

    @property
    def columns(self) -> list[str]:
        """Columns of the data that groups and covariates need."""
        named = [name for one in self.factors for name in one.columns]
        named += [name for term in self.terms for name in term.design.columns]
        named += [name for one in self.smooths for name in one.columns]
        return list(dict.fromkeys(named))

    def new(self, data: Any) -> tuple[list[tuple[Ints, Index]], list[Floats]]:
        """Groups and covariates of new data.

        Returns
        -------
        groups : list of (array (n,), Index)
            For each factor, see `Levels.codes`.
        Z : list of array (n, q)
            For each factor; NaN where a column is missing.
        """
        frame = as_frame(data)
        for one in self.factors:
            for name in one.columns:
                if name not in frame:
                    raise FormulaError(
                        f"the data have no column {name!r}, which the groups {one.name!r} need; "
                        "random=False predicts at effects of zero, without it"
                    )
        groups = [one.codes(frame) for one in self.factors]
        return groups, [
            np.column_stack(
                [term.design.matrix(frame) for term in self.terms if term.factor == one.name]
            )
            for one in self.factors
        ]


@dataclass(frozen=True)
class Ones:
    """The covariate of effects that are intercepts."""

    columns = ()
    exog_names = ("Intercept",)

    def matrix(self, frame: Frame) -> Floats:
        """A column of ones."""
        return np.ones((len(frame), 1))


LABELS = "groups"  # the factor of labels that come as an array


def of_labels(labels: Any) -> Grouping:
    """The `Grouping` of an array of labels (n,), an intercept for each."""
    frame = pd.DataFrame({LABELS: labels})
    codes, levels = levels_of(frame, (LABELS,), slice(None))
    order, starts = sorted_rows(codes, len(levels.index))
    Z = Ones().matrix(frame)
    term = EffectTerm(f"1 | {LABELS}", ["Intercept"], Z, False, LABELS, of_array(Z))
    spec = GroupSpec([TermSpec(term.label, Ones(), False, LABELS)], [levels])
    codes = codes.astype(np.int32)
    return Grouping(LABELS, levels.index, codes, [term], order, starts, None, None, None, spec)


def terms_of(
    table: "Table", part: str = ""
) -> tuple[dict[tuple[Any, ...], tuple[Ints, Levels]], list[TermSpec]]:
    """Codes and levels of the factors of a table's group terms, and these terms, in a second linear
    predictor where their names begin with a `part`.
    """
    kinds = list(dict.fromkeys(bar.columns for bar in table.bars))
    every = {columns: levels_of(table.frame, columns, table.rows) for columns in kinds}
    terms = [
        TermSpec(bar.text, design, bar.correlated, ":".join(bar.columns), part, int(bool(part)))
        for bar, design in zip(table.bars, table.effects)
    ]
    for bar, design in zip(table.bars, table.effects):
        codes, levels = every[bar.columns]
        if design.increments:
            raise FormulaError(
                f"({bar.text}): increments of a monotonic effect have one sign, which normal "
                "effects of levels have not; give levels the slope of a number, (x | g)"
            )
        refuse_twice(table, bar, design, codes, len(levels.index))
    return every, terms


def grouped(table: "Table") -> Grouping | Crossing:
    """The `Grouping` of a `Table` with group terms; the `Crossing` where factors cross, or smooths
    are beside them.
    """
    known, terms = terms_of(table)
    every = list(known.values())
    found = nested(every)
    spec = GroupSpec(terms, [levels for _, levels in found or every])
    if found is None or table.smooths:
        return crossing([(table, terms, "")], every)
    (codes, outer), inner = found[0], found[1:]
    last = inner[0][0] if inner else codes
    order, starts = sorted_rows(last, len(found[-1][1].index))
    if inner:
        starts = np.append(0, np.cumsum(np.bincount(codes, minlength=len(outer.index))))
    return Grouping(
        outer.name,
        outer.index,
        codes.astype(np.int32),
        [effects(table, term) for term in terms],
        order,
        starts.astype(np.int64),
        last.astype(np.int32) if inner else None,
        inner[0][1].name if inner else None,
        inner[0][1].index if inner else None,
        spec,
    )


def crossed(parts: "Sequence[tuple[Table, str]]") -> Crossing | None:
    """The `Crossing` of tables of the same rows, each a linear predictor, whatever their factors
    are; None without group terms and smooths.

    Parameters
    ----------
    parts : sequence of (Table, str)
        The names of what is in the second one's predictor begin with that text.
    """
    every: dict[tuple[Any, ...], tuple[Ints, Levels]] = {}
    found = []
    for table, part in parts:
        known, terms = terms_of(table, part)
        every |= known
        found.append((table, terms, part))
    if not any(table.bars or table.smooths for table, _ in parts):
        return None
    return crossing(found, list(every.values()))


def crossing(parts: "Sequence[tuple[Table, list[TermSpec], str]]", every: list[Any]) -> Crossing:
    """The `Crossing` of tables with codes and levels of every factor, see `crossed`."""
    n = len(parts[0][0].rows)
    codes = np.empty((n, len(every)), dtype=np.int32)
    for k, (code, _) in enumerate(every):
        codes[:, k] = code
    smooths, columns = [], [np.empty((n, 0))]
    for table, _, part in parts:
        for call, covariates, multipliers in table.smooths:
            x, w = matrix(table, covariates), np.ones((n, 1))
            if multipliers is not None:
                w = matrix(table, multipliers)
            one, found = fitted(call, covariates, multipliers, x, w, table.weights)
            smooths.append(one.in_part(part, 1) if part else one)
            columns.append(found)
    terms = [term for _, own, _ in parts for term in own]
    spec = GroupSpec(terms, [levels for _, levels in every], smooths)
    own = [effects(table, term) for table, terms, _ in parts for term in terms]
    return Crossing(spec.factors, codes, own, spec, np.concatenate(columns, axis=1))


def matrix(table: "Table", design: Any) -> Floats:
    """The columns of a design beside that of a table."""
    out = np.empty((len(table.rows), len(design.exog_names)))
    replace(table, spec=design).fill(out)
    return out


def effects(table: "Table", term: TermSpec) -> EffectTerm:
    """The `EffectTerm` of a table."""
    Z, columns = matrix(table, term.design), list(term.design.exog_names)
    scaling = of_rows(term.design, table.frame, table.rows, table.weights)
    return EffectTerm(
        term.label, columns, Z, term.correlated, term.factor, scaling, term.part, term.predictor
    )


def nested(found: list[Any]) -> list[Any] | None:
    """Codes and levels of the outer and the inner factor, inner levels by their outer ones; None of
    factors that cross, and of more than two.
    """
    if len(found) > 2:
        return None
    if len(found) < 2:
        return found
    found = sorted(found, key=lambda one: len(one[1].index))
    (codes, outer), (sub, inner) = found
    parent = np.empty(len(inner.index), dtype=np.intp)
    parent[sub] = codes
    if (parent[sub] != codes).any():
        return None
    place = np.argsort(parent, kind="stable")
    number = np.empty(len(place), dtype=np.intp)
    number[place] = np.arange(len(place))
    return [(codes, outer), (number[sub], Levels(inner.columns, inner.index[place]))]


def sorted_rows(codes: Ints, levels: int) -> tuple[Ints, Ints]:
    """Rows by their codes, a counting sort, and where those of each code begin."""
    rows = np.arange(len(codes))
    by_code = sparse.csc_array(
        (np.ones(len(codes), dtype=np.int8), codes, np.arange(len(codes) + 1)),
        shape=(levels, len(codes)),
    ).tocsr()
    return rows[by_code.indices], by_code.indptr.astype(np.int64)


# ---- effects that a formula has twice ------------------------------------------------------------


def refuse_twice(table: "Table", bar: "Bar", design: Any, codes: Ints, levels: int) -> None:
    """FormulaError where coefficients and a group term have the same columns, one a level.

    Data then tell only the sum of the two: how it is shared is the priors' alone, and chains hardly
    move along that.

    Parameters
    ----------
    table : Table
    bar : Bar
        The group term,
    design : DesignSpec
        its effects,
    codes : array (n,) of int
        and the level of each row.
    levels : int
    """
    for block in table.spec.blocks_with_levels:
        numbers = ":".join(factor.label for factor in block.numeric) or INTERCEPT
        if numbers in design.exog_names and same_rows(table, block, codes, levels):
            name = block.term_name(clean=True)
            raise FormulaError(
                f"{name} and ({bar.text}) are the same columns, one for each level of "
                f"{':'.join(bar.columns)}, of which the data tell the sum alone: drop one of them; "
                f"({bar.text}) pools the levels, {name} does not"
            )


def same_rows(table: "Table", block: "Block", codes: Ints, levels: int) -> bool:
    """Whether the combinations of a block's factors are the levels of a group, under other names
    perhaps.
    """
    sizes = [contrast.matrix.shape[0] for _, contrast in block.categorical]
    if np.prod(sizes, dtype=float) < levels:
        return False
    pairs = np.empty(0, dtype=np.int64)
    for span, values in table.spec.values(table.frame, table.rows, of=block.factors):
        pairs = np.unique(np.append(pairs, block.joint(values) * levels + codes[span]))
        cells, groups = (len(np.unique(one)) for one in np.divmod(pairs, levels))
        if not len(pairs) == cells == groups:  # as soon as one is cut by the other
            return False
    return True
