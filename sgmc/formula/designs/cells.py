"""Combinations of levels that no row has."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.types import Floats, Frame, Ints
from sgmc.core.system import deadline
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.designs.blocks import INTERCEPT

if TYPE_CHECKING:
    from sgmc.formula.designs.design import DesignSpec
    from sgmc.formula.parts import PartsSpec


MOST_COUNTED_CELLS = 1_000_000  # of a term, whose rows are counted


def unseen(
    spec: "DesignSpec | PartsSpec", frame: Frame, rows: Ints | range, weight: Floats | None = None
) -> tuple[list[str], list[str]]:
    """Return labels of the combinations of levels, ``"g[b]:h[v]"``, that no row of a frame has, and
    the names of the columns that these leave undetermined.

    A combination is named by the fewest levels that no row has together.
    """
    shapes = {
        block.factors: tuple(len(factor.levels) for factor in block.factors)
        for block in spec.blocks_of_levels
    }
    counted = {
        key: np.zeros(n, int) for key, n in shapes.items() if np.prod(n) <= MOST_COUNTED_CELLS
    }
    used = {factor for key in counted for factor in key}
    for start in range(0, len(rows), CHUNK_ROWS) if counted else ():
        deadline.check()
        span = slice(start, start + CHUNK_ROWS)
        columns = Chunk(frame, rows[span])
        kept = slice(None) if weight is None else weight[span] > 0
        codes = {factor: np.asarray(factor.values(columns))[kept] for factor in used}
        for key, count in counted.items():
            np.add.at(count, tuple(codes[factor] for factor in key), 1)
    labels: list[str] = []
    empty: set[Any] = set()
    for key in sorted(counted, key=len):
        found = np.argwhere(counted[key] == 0)
        for places in found:
            cell = tuple(zip(key, places.tolist()))
            inner = (part for size in range(1, len(cell)) for part in combinations(cell, size))
            if empty.isdisjoint(inner):
                labels.append(":".join(f"{f.label}[{f.levels[place]}]" for f, place in cell))
                empty.add(cell)
    touched = {frozenset(factor for factor, _ in cell) for cell in empty}
    names = [spec.exog_names[j] for j in spec.columns_within(touched)]
    return labels, [*names, INTERCEPT] if labels else []
