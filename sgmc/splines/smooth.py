"""Smooth functions of covariates as columns of a design: what they have beyond straight lines.

A smooth is f(x) = a + c x + Z b, where the straight line belongs to the coefficients and the
columns Z have what is penalised: b ~ N(0, sd^2) stands for a penalty of the curvature, integral
f''^2 / (2 sd^2) in some unit (Wahba 1978, doi:10.1111/j.2517-6161.1978.tb01050.x; Wood 2017,
section 5.8).  Here Z is orthogonal to the line over the rows of the fit, so that c is the slope of
the line that is nearest to the curve; its columns are orthogonal to one another (the basis of
Demmler & Reinsch 1975, doi:10.1007/BF01437407); and rows have |z|^2 = 1 on average, so that sd is
the root mean square of what the curve has beyond the line, in units of the linear predictor.

A smooth surface of x and z has of each covariate a line N = [1, x] and a penalised part P, and of
both together P x N, N x P and P x P, each with an sd of its own (Wood, Scheipl & Faraway 2013,
doi:10.1007/s11222-012-9314-z).

Bases whose columns have a unit of their own, such as effects of levels whose covariances are known,
have Z = P A with A a rotation: columns are orthogonal to one another, and covariances stay.  Where
sds of the columns differ in a way that is learned, see `spectra`, Z = P.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_CELLS
from sgmc.arguments.types import Bools, Floats, Index
from sgmc.core.system import deadline
from sgmc.core.system.memory import Forecast, available
from sgmc.errors import FormulaError
from sgmc.splines import restored
from sgmc.splines.restored import refuse_unsound
from sgmc.splines.spectra import SpectralParameter, of_product

BASIS_COPIES = 4  # of the columns of a smooth, while it is fitted


@dataclass(frozen=True)
class SmoothBlock:
    """Columns with one sd: P A - N C, times what the curve is multiplied by.

    Attributes
    ----------
    name : str
        ``"s(x)"``, ``"s(x):g[a]"``, ``"te(x, z) by x"``.
    part : tuple of bool
        Of each covariate whether its penalised part is in P, or its line.
    by : int
        The column of multipliers.
    turn : array (r, r)
        A.
    line : array (m, r)
        C.
    """

    name: str
    part: tuple[Any, ...]
    by: int
    turn: np.ndarray
    line: np.ndarray


@dataclass(frozen=True)
class Smooth:
    """A smooth term, fitted to rows; can be pickled and holds no rows.

    Attributes
    ----------
    label : str
        ``"s(x)"``.
    covariates : DesignSpec or LabelColumn
        A column for each.
    multipliers : DesignSpec or None
        Columns that curves are multiplied by: levels of a factor, or a number.
    bases : list of Basis
    roots : list of array
        `Basis.penalised` of each.
    centre, scale : array (covariates,)
        What makes covariates u of [0, 1] standard in lines.
    blocks : list of Block
    means : array (m, lines)
        Of `line_columns` over the rows that each multiplier is of.
    part : str
        What names begin with where there are several linear predictors, else empty.
    predictor : int
        Which of them it is in.
    """

    label: str
    covariates: Any
    multipliers: Any
    bases: list[Any]
    roots: list[Any]
    centre: np.ndarray
    scale: np.ndarray
    blocks: list[Any]
    means: np.ndarray
    part: str = ""
    predictor: int = 0

    def in_part(self, part: str, predictor: int) -> "Smooth":
        """The same in one of several linear predictors, with names that begin with `part`."""
        blocks = [replace(one, name=part + one.name) for one in self.blocks]
        label = part + self.label
        return replace(self, label=label, blocks=blocks, part=part, predictor=predictor)

    def of_file(self, state: dict[str, Any]) -> None:
        """Take over the attributes in a file; ValueError for those that no fit makes."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        refuse_unsound(self, restored.smooth)

    @property
    def names(self) -> list[str]:
        """Of the blocks."""
        return [one.name for one in self.blocks]

    @property
    def sizes(self) -> list[int]:
        """Columns of each block."""
        return [one.turn.shape[1] for one in self.blocks]

    @property
    def spectral(self) -> list[dict[str, SpectralParameter]]:
        """Of each block the parameters by which sds of its columns differ, by their names."""
        known = [basis.spectral() for basis in self.bases]
        if known[0] is None:
            return [{} for _ in self.blocks]
        found = of_product(known)
        ends = [f", {name}" for name in self.covariates.exog_names] if len(found) > 1 else [""]
        return [
            {f"{own.name}({one.name}{end})": own for own, end in zip(found, ends)}
            for one in self.blocks
        ]

    @property
    def lines(self) -> int:
        """Coefficients of what is not penalised, besides an intercept, of each curve."""
        whole = int(np.prod([one.flat for one in self.bases]))
        return whole if self.numeric else whole - 1

    @property
    def numeric(self) -> bool:
        """Whether curves are multiplied by a number, not for each level of a factor."""
        return self.multipliers is not None and not self.multipliers.categorical

    @property
    def width(self) -> int:
        """How many multipliers there are."""
        return 1 if self.multipliers is None else len(self.multipliers.exog_names)

    def line_columns(self, x: Floats) -> Floats:
        """What the curves have unpenalised of covariates (n, c), besides a constant, (n, lines):
        x, and z and x z of surfaces; with a number as multiplier a constant too.
        """
        columns = [column for column, one in zip(x.T, self.bases) if one.flat > 1]
        if len(columns) > 1:
            columns.append(columns[0] * columns[1])
        first = [np.ones(len(x))] if self.numeric else []
        return np.column_stack([*first, *columns, np.empty((len(x), 0))])

    def line_labels(self, by: Any) -> list[list[str]]:
        """Of each of them names that its coefficient may have in a design, a list; where several
        are there they add up.
        """
        names = [name for name, one in zip(self.covariates.exog_names, self.bases) if one.flat > 1]
        terms = [[name] for name in names] + ([names] if len(names) > 1 else [])
        terms = [[]] * self.numeric + terms
        if self.multipliers is None:
            found = [joined(term) for term in terms]
        elif self.numeric:
            found = [joined([self.multipliers.exog_names[by], *term]) for term in terms]
        else:
            factor = self.multipliers.exog_names[by]
            treated = factor.replace("[", "[T.", 1)
            found = [
                [*joined(term), *joined([factor, *term]), *joined([treated, *term])]
                for term in terms
            ]
        return [[self.part + name for name in names] for names in found]

    @property
    def curves(self) -> dict[str, list[int]]:
        """Curves or surfaces, one for each multiplier: name -> sizes of its blocks."""
        found: dict[Any, Any] = {}
        for one, size in zip(self.blocks, self.sizes):
            found.setdefault(self.curve(one.by), []).append(size)
        return found

    def curve(self, by: int) -> str:
        """The name of the curve with a multiplier."""
        if self.multipliers is None:
            return self.label
        return f"{self.label}:{self.multipliers.exog_names[by]}"

    @property
    def labels(self) -> Index | None:
        """All levels, where its covariate is a column of labels."""
        return getattr(self.covariates, "labels", None)

    @property
    def columns(self) -> list[str]:
        """Columns of the data that it needs."""
        found = list(self.covariates.columns)
        return found + (list(self.multipliers.columns) if self.multipliers else [])

    def read(self, data: Any) -> tuple[Floats, Floats]:
        """Covariates (n, c) and multipliers (n, m) of a table; NaN where a column is missing."""
        x = self.covariates.matrix(data)
        if self.multipliers is None:
            return x, np.ones((len(x), 1))
        return x, self.multipliers.matrix(data)

    def matrix(self, x: Floats, w: Floats) -> Floats:
        """The columns (n, sum of sizes) of covariates (n, c) and multipliers (n, m)."""
        return self.multiplied(self.parts(x), w)

    def multiplied(self, parts: list[tuple[Floats, Floats]], w: Floats) -> Floats:
        """The same of `parts` and multipliers."""
        lines = product([one[0] for one in parts])
        return np.concatenate(
            [
                w[:, [one.by]] * (chosen(parts, one.part) @ one.turn - lines @ one.line)
                for one in self.blocks
            ],
            axis=1,
        )

    def parts(
        self, x: Floats, look: Callable[..., Any] | None = None
    ) -> list[tuple[Floats, Floats]]:
        """Of each covariate N, (n, 2), or (n, 1) where lines are penalised, and P, (n, r);
        ``look()`` is called before each piece of the rows.
        """
        found = []
        for column, one, root, at, sd in zip(x.T, self.bases, self.roots, self.centre, self.scale):
            ones, line = np.ones(len(x)), (one.position(column) - at) / sd
            N = ones[:, None] if one.flat == 1 else np.column_stack([ones, line])
            known = np.flatnonzero(np.isfinite(column))
            P = np.full((len(x), root.shape[1]), np.nan)
            step = max(CHUNK_CELLS // len(root), 1)
            for start in range(0, len(known), step):
                if look is not None:
                    look()
                some = known[start : start + step]
                P[some] = one.combined(column[some], root)
            found.append((N, P))
        return found

    def outside(self, x: Floats) -> Bools:
        """Which rows have a covariate beyond the ends of its knots, (n, c)."""
        return np.column_stack([one.outside(column) for one, column in zip(self.bases, x.T)])


def joined(names: Any) -> list[str]:
    """Labels that an interaction of some columns may have."""
    return [":".join(order) for order in permutations(names)]


def product(matrices: list[Floats]) -> Floats:
    """Products of the columns of some matrices, each with each."""
    out = matrices[0]
    for one in matrices[1:]:
        width = out.shape[1] * one.shape[1]  # by number: there may be no rows
        out = (out[:, :, None] * one[:, None, :]).reshape(len(out), width)
    return out


def chosen(parts: list[tuple[Floats, Floats]], which: Sequence[bool]) -> Floats:
    """The product of N or P of each covariate."""
    return product([pair[int(penalised)] for pair, penalised in zip(parts, which)])


def fitted(
    call: Any,
    covariates: Any,
    multipliers: Any,
    x: Floats,
    w: Floats,
    weight: Floats | None,
) -> tuple[Smooth, Floats]:
    """The `Smooth` of some rows, and its columns there.

    Parameters
    ----------
    call : SmoothCall
    covariates : DesignSpec or LabelColumn
    multipliers : DesignSpec or None
        The latter None where the curve is multiplied by nothing.
    x : array (n, c)
    w : array (n, m)
    weight : array (n,) or None
        Frequencies of the rows.
    """
    frequency = np.ones(len(x)) if weight is None else weight
    names = list(covariates.exog_names)
    seen = frequency > 0
    refuse_beyond_memory(call, call.kind.sizes, len(x))
    bases = list(call.kind.bases(x[seen], call.text))
    refuse_beyond_memory(call, [one.width for one in bases], len(x))
    u = np.column_stack([one.position(column) for one, column in zip(bases, x.T)])
    centre = np.average(u, axis=0, weights=frequency)
    scale = np.sqrt(np.average((u - centre) ** 2, axis=0, weights=frequency))
    roots = [one.penalised() for one in bases]
    bare = Smooth(call.label, covariates, multipliers, bases, roots, centre, scale, [], np.empty(0))
    parts = bare.parts(x, deadline.check)
    lines = product([one[0] for one in parts])
    blocks, kinds = [], shapes(bases, roots)
    for j, column in enumerate(w.T):
        for part in kinds:
            deadline.check()
            own = ":".join(name for name, one in zip(names, part) if one)
            name = bare.curve(j) + (f" by {own}" if len(kinds) > 1 else "")
            root = (np.sqrt(frequency) * column)[:, None]
            P, N = root * chosen(parts, part), root * lines
            for more, turn, line in turned(bases, roots, P, N, frequency.sum(), name):
                blocks.append(SmoothBlock(name + more, part, j, turn, line))
    deadline.check()
    lines = bare.line_columns(x)
    means = [np.average(lines, axis=0, weights=frequency * np.abs(column)) for column in w.T]
    found = replace(bare, blocks=blocks, means=np.array(means))
    return found, found.multiplied(parts, w)


def refuse_beyond_memory(call: Any, sizes: Sequence[int], rows: int) -> None:
    """OutOfMemoryError for a smooth whose columns are more than memory holds."""
    size = int(np.prod(sizes, dtype=object))
    blame = f"{call.text} has {size:,} basis functions, {rows:,} rows each; {call.kind.smaller}"
    parts = {
        "columns of the smooth": BASIS_COPIES * 8.0 * rows * size,
        "its matrices": 8.0 * size**2,
    }
    Forecast(parts, blame, available()).refuse()


def shapes(bases: list[Any], roots: list[Floats]) -> list[tuple[bool, ...]]:
    """Of each block, which covariates have their penalised part in it; all, where columns have a
    unit of their own.
    """
    count = len(bases)
    if bases[0].blocks(roots[0]) is not None:
        return [(True,) * count]
    known: dict[int, list[tuple[bool, ...]]] = {
        1: [(True,)],
        2: [(True, False), (False, True), (True, True)],
    }
    return known[count]


def turned(
    bases: list[Any], roots: list[Floats], P: Floats, N: Floats, total: float, name: str
) -> Iterator[tuple[str, Floats, Floats]]:
    """What is added to the name, A and C of each block of a product of bases."""
    blocks = bases[0].blocks(roots[0])
    if blocks is None:
        yield "", *orthogonal(P, N, total, name)
        return
    if len(bases) > 1:
        blocks = {"": slice(0, P.shape[1])}
    even = bases[0].spectral() is None
    for more, columns in blocks.items():
        turn = rotated(P, columns) if even else np.eye(P.shape[1])[:, columns]
        yield more, turn, np.zeros((N.shape[1], columns.stop - columns.start))


def rotated(P: Floats, columns: slice) -> Floats:
    """A such that P A are some of the columns, rotated to be orthogonal: b stays N(0, sd^2)."""
    turn = np.zeros((P.shape[1], columns.stop - columns.start))
    turn[columns] = np.linalg.eigh(P[:, columns].T @ P[:, columns])[1][:, ::-1]
    return turn


def orthogonal(P: Floats, N: Floats, total: float, name: str) -> tuple[Floats, Floats]:
    """A and C such that P A - N C has orthogonal columns, orthogonal to N too, and a mean square of
    one a row.
    """
    line = np.linalg.lstsq(N, P)[0]
    left = P - N @ line
    values, vectors = np.linalg.eigh(left.T @ left)
    mean = values.sum() / total
    if not mean > 1e-12 * (P**2).sum() / total:
        raise FormulaError(f"{name}: the rows used do not determine any curve; leave it out")
    turn = vectors[:, ::-1] / np.sqrt(mean)
    return turn, line @ turn
