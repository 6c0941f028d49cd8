"""What autoscaled priors of the columns of a design are divided by.

A prior with ``autoscale=True`` is one of the change over one sd of a *number*.  A column that codes
levels, or has no values but 0 and 1, stands for a difference by itself: its scale is 1 (Gelman,
Jakulin, Pittau & Su 2008, doi:10.1214/08-AOAS191).  A column that is a product of both has the sd,
over all rows, of its numbers alone: that of the product would shrink with a rare level, and grow
with numbers far from zero.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.types import Array, Bools, Floats, Frame, Ints
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.designs.moments import Moments

if TYPE_CHECKING:
    from sgmc.formula.designs.design import DesignSpec
    from sgmc.formula.parts import PartsSpec

FEW_TELL_ENDS = 1000  # rows of the first look


@dataclass(frozen=True)
class Spreads:
    """What rows tell of the numbers of a design; adds up over chunks and partitions.

    Attributes
    ----------
    zero_one : array (numbers,) of bool
        Which have been 0 or 1 in every row.
    moments : dict or None
        Of products that may be wanted, by the places of their numbers; None before any row.
    """

    zero_one: np.ndarray
    moments: dict[Any, Any] | None = None

    def merge(self, other: "Spreads") -> "Spreads":
        """Return that of the rows of both."""
        zero_one = self.zero_one & other.zero_one
        if self.moments is None or other.moments is None:
            return Spreads(zero_one, self.moments if other.moments is None else other.moments)
        both = self.moments.keys() & other.moments.keys()  # has what the rows of both may want
        return Spreads(zero_one, {k: self.moments[k].merge(other.moments[k]) for k in both})

    def state(self) -> list[Any]:
        """Return it as plain values."""
        known = self.moments and [
            [list(k), m.total, m.mean.tolist(), m.square.tolist()] for k, m in self.moments.items()
        ]
        return [self.zero_one.tolist(), known if self.moments else self.moments and []]

    @classmethod
    def of_state(cls, state: list[Any]) -> "Spreads":
        """Make it of such plain values."""
        zero_one, known = state
        moments = known and {tuple(k): Moments(t, *map(np.array, m)) for k, t, *m in known}
        return cls(np.array(zero_one, dtype=bool), moments)


class Numbers:
    """The numbers that the columns of a design are made of.

    Parameters
    ----------
    members : list (d,) of tuple
        The numbers of which each column is the product, contrasts aside; none for levels.
    alone : array (d,) of bool
        Whether a column is a single number, and nothing else.

    Attributes
    ----------
    names : list
        All numbers, each once.
    """

    def __init__(self, members: Sequence[Any], alone: Any) -> None:
        self.names = list(dict.fromkeys(name for part in members for name in part))
        number = {name: i for i, name in enumerate(self.names)}
        parts = [tuple(number[name] for name in part) for part in members]
        self.parts, self.alone = parts, np.asarray(alone, dtype=bool)
        self.products = {part for part, one in zip(parts, self.alone) if part and not one}

    def unseen(self) -> Spreads:
        """Return the `Spreads` of no rows."""
        return Spreads(np.ones(len(self.names), dtype=bool))

    def wanted(self, found: Spreads) -> Ints:
        """Return places of the numbers that further rows may tell something of."""
        wanted = found.zero_one.copy()
        wanted[[i for part in self.products for i in part]] = True
        return np.flatnonzero(wanted)

    def with_rows(self, found: Spreads, values: Array, weight: Floats | None = None) -> Spreads:
        """Return the `Spreads` with more rows.

        Parameters
        ----------
        found : Spreads
        values : array (m, wanted)
            Of the numbers that are wanted.
        weight : array (m,), optional
            Counts of the rows; those of 0 are no rows.
        """
        if weight is not None and len(values):  # no rows where nothing is wanted
            counted = weight > 0
            values, weight = values[counted], weight[counted]
        if not len(values):
            return found
        wanted = self.wanted(found)
        zero_one = found.zero_one.copy()
        zero_one[wanted] &= ((values == 0) | (values == 1)).all(axis=0)
        place = np.empty(len(zero_one), dtype=int)
        place[wanted] = np.arange(len(wanted))
        keys = {key for part in self.products for key in possible(part, zero_one)}
        moments = {
            key: Moments.of(values[:, place[list(key)]].prod(axis=1, keepdims=True), weight)
            for key in keys
            if found.moments is None or key in found.moments
        }
        return found.merge(Spreads(zero_one, moments))

    def scales(self, found: Spreads, sd: Floats) -> Floats:
        """Return what autoscaled priors are divided by, (d,).

        Parameters
        ----------
        found : Spreads
            Of all rows.
        sd : array (d,)
            Of the columns.
        """
        out = np.ones(len(self.parts))
        for j, part in enumerate(self.parts):
            key = tuple(i for i in part if not found.zero_one[i])
            if key:
                out[j] = sd[j] if self.alone[j] else (found.moments or {})[key].sd[0]
        return np.where(out > 0, out, 1.0)


def possible(part: tuple[Any, ...], zero_one: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the products of numbers that may be left when all of 0 and 1 are known: those that are
    not of 0 and 1 so far are in each of them.
    """
    fixed, loose = [i for i in part if not zero_one[i]], [i for i in part if zero_one[i]]
    for size in range(len(loose) + 1):
        for more in combinations(loose, size):
            if fixed or more:
                yield tuple(i for i in part if i in fixed or i in more)


@dataclass(frozen=True)
class ColumnScaling:
    """What is known of the columns of a table: from their sds (d,) to what autoscaled priors are
    divided by.
    """

    numbers: Numbers
    found: Spreads

    def __call__(self, sd: Floats) -> Floats:
        return self.numbers.scales(self.found, sd)


def of_values(numbers: Numbers, found: Spreads, values: Mapping[Any, Array]) -> Array:
    """Return wanted numbers of a design as an array, from the values of its factors."""
    wanted = [numbers.names[i] for i in numbers.wanted(found)]
    columns = [values[factor][:, q] for factor, q in wanted]
    return np.column_stack(columns) if columns else np.empty((0, 0))


def of_rows(
    spec: "DesignSpec | PartsSpec", frame: Frame, rows: Any, weight: Floats | None = None
) -> ColumnScaling:
    """Return the `ColumnScaling` of rows of a frame.  A factor is evaluated as long as it may tell
    more: of most numbers the first chunk is enough.
    """
    numbers = Numbers(*spec.numbers)
    found = numbers.unseen()
    # a few rows tell of most numbers that they are not 0 and 1 alone; products want all rows
    few = 0 if numbers.products else min(FEW_TELL_ENDS, len(rows))
    for ends in pairwise([*[0] * bool(few), *range(few, len(rows), CHUNK_ROWS), len(rows)]):
        wanted = numbers.wanted(found)
        if not len(wanted):
            break
        span = slice(*ends)
        columns = Chunk(frame, rows[span])
        factors = {numbers.names[i][0] for i in wanted}
        values = {factor: factor.values(columns) for factor in factors}
        given = None if weight is None else weight[span]
        found = numbers.with_rows(found, of_values(numbers, found, values), given)
    return ColumnScaling(numbers, found)


def of_array(X: Any, weight: Floats | None = None) -> ColumnScaling:
    """Return the `ColumnScaling` of an array, each column a number; a CSR array stays sparse."""
    d = X.shape[1]
    numbers = Numbers([(j,) for j in range(d)], np.ones(d))
    found = numbers.unseen()
    if hasattr(X, "indptr"):
        found = Spreads(stored_zero_one(X, weight))
    else:
        step = chunk_rows(d, CHUNK_ROWS)
        for start in range(0, len(X), step):
            wanted = numbers.wanted(found)
            if not len(wanted):
                break
            span = slice(start, start + step)
            part = X[span] if len(wanted) == d else X[span][:, wanted]
            given = None if weight is None else weight[span]
            found = numbers.with_rows(found, part, given)
    return ColumnScaling(numbers, found)


def stored_zero_one(X: Any, weight: Floats | None) -> Bools:
    """Return which columns of a CSR array have no values but 0 and 1, (d,) of bool."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    other = (X.data != 0) & (X.data != 1)
    if weight is not None:
        other &= np.repeat(weight > 0, np.diff(X.indptr))
    return np.bincount(X.indices[other], minlength=X.shape[1]) == 0
