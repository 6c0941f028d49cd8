"""Results whose effects are those of the groups of the rows, in the place of a typical group."""

from dataclasses import replace
from typing import Any

import numpy as np

from sgmc.arguments.choices import flag
from sgmc.arguments.types import Floats, Ints
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.data.rows import FEWEST_DRAWS, ROWS_WORK, Rows, evenly

BYTES_DRAWN_ONCE = 1 << 28  # bytes of effects of a factor that are drawn once for all quantities

AT_ZERO = (
    "Effects of groups are zero: these are effects of a typical group. random=True takes the "
    "groups of the rows."
)
OF_ROWS = "With the effects of the groups of the rows."


class OfGroups:
    """Results of which rows have the effects of their groups.

    Parameters
    ----------
    whole : Results
    new_levels : str or None
        As in `predict`.
    """

    def __init__(self, whole: Any, new_levels: str | None) -> None:
        self.whole, self.new_levels = whole, new_levels
        self.group_columns = whole.model.groups.columns
        self.held: dict[int, Drawn] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def population_rows(self, frame: Any, offset: Any) -> Rows:
        """Return the `Rows` of new data, with the effects of their groups: at as many draws as
        take a few seconds, the same ones for all tables of so many rows.
        """
        rows = self.whole.table_rows(frame, offset, random=True, new_levels=self.new_levels)
        work = sum(one.work(np.arange(len(one.sizes))) for one in rows.effects)
        most = max(FEWEST_DRAWS, int(ROWS_WORK // max(rows.n, work)))
        rows = rows if rows.m <= most else rows.with_draws(evenly(rows.m, most))
        effects = [self.drawn(k, *one) for k, one in enumerate(zip(rows.effects, rows.code.T))]
        return replace(rows, effects=effects)

    def drawn(self, k: int, effects: Any, code: Ints) -> Any:
        """Effects of the k-th factor that are drawn once, of levels that fit into memory."""
        levels = np.unique(code[code >= 0])
        if 8 * len(levels) * effects.roots[..., 0].size > BYTES_DRAWN_ONCE:
            return effects
        held = self.held.get(k)
        if held is None or len(np.setdiff1d(levels, held.levels)):
            self.held[k] = held = Drawn(effects, levels)
        return held


class Drawn:
    """Draws of the effects of some levels.

    Parameters
    ----------
    effects : Population
    levels : array of int, sorted
    """

    def __init__(self, effects: Any, levels: Ints) -> None:
        self.levels, self.found = levels, effects.draws(levels)

    def draws(self, levels: Ints) -> Floats:
        """Draws (L, m, q) of some of the levels."""
        return self.found[np.searchsorted(self.levels, levels)]


def with_groups(results: Any, random: bool, new_levels: str | None) -> Any:
    """Results themselves, or as they are with the effects of groups.

    Raises
    ------
    ArgumentError
        Where effects of groups are asked for, and the fit has none or has no table.
    """
    if not flag("random", random):
        if new_levels is not None:
            raise ArgumentError(
                f"new_levels={new_levels!r} belongs to effects of groups: give random=True too"
            )
        return results
    if not has_groups(results):
        raise ArgumentError(
            "random=True: the model has no group terms, such as (1 | g); leave random out"
        )
    if results.model.spec is None:
        raise ArgumentError(
            "random=True needs a fit of a formula and a table, whose columns name the groups; "
            "leave random out"
        )
    return OfGroups(results, new_levels)


def has_groups(results: Any) -> bool:
    """Whether a fit has group terms."""
    return bool(getattr(getattr(results.model, "effects", None), "factors", ()))


def note_of(results: Any) -> str:
    """What stands beneath a table: whose effects it has; empty without group terms."""
    if not has_groups(results):
        return ""
    return OF_ROWS if hasattr(results, "group_columns") else AT_ZERO
