"""What results draw of effects."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Frame
from sgmc.errors import ArgumentError
from sgmc.results.effects.grids import datagrid
from sgmc.results.effects.places import places_of
from sgmc.results.effects.variables import Variables
from sgmc.results.forest import short
from sgmc.results.outcomes.data import words

if TYPE_CHECKING:
    from sgmc.results.effects.table import EffectTable


INTERVAL = "posterior mean and {:g} % interval"
SHOWN_GROUPS, AT_NUMBERS = 7, 3  # curves of a figure; values of a number that makes groups


class EffectFigures(ByOtherNames):
    """Methods of `RegressionResults` that draw effects; each returns its axes."""

    @with_level
    def plot_predictions(
        self,
        x: str,
        by: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        points: int = 50,
        type: str = "response",
        level: float = 0.95,
    ) -> Any:
        """Draw predictions along a variable, all others at their typical values.

        Of a number the range of the fit, of labels all levels.

        Parameters
        ----------
        x : str
        by : str, optional
            A variable that makes groups: its levels, or of a number minimum, median and maximum.
        ax : Axes, optional
        points : int
            Of the grid, for numbers.
        type, level
            As in `predictions`.

        Returns
        -------
        Axes
        """
        table, by = self._along(x, by, points, type, level)
        name = words.mean(self.model) if type == "response" else words.predictor(self.model)
        return self._drawn(table, x, by, name, ax)

    @with_level
    def plot_effects(
        self,
        variable: str,
        x: str | None = None,
        by: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        points: int = 50,
        comparison: str = "difference",
        level: float = 0.95,
    ) -> Any:
        """Draw the effect of a variable along x: its slope, or of labels their comparisons.

        Where the effect is largest, where it vanishes: what interactions and links do to it.
        All other variables are at their typical values.

        Parameters
        ----------
        variable : str
        x : str, optional
            Default: the variable itself.
        by : str, optional
            As in `plot_predictions`.
        ax : Axes, optional
        points : int
        comparison : {"difference", "ratio", "lnratio", "lnor"}
            Of labels.
        level : float

        Returns
        -------
        Axes
        """
        variables = Variables(self, places_of(self, None))
        variables.check(variable, "variable")
        numeric = variables.levels(variable) is None
        x = variable if x is None else x
        if not numeric and x == variable:
            raise ArgumentError(
                f"plot_effects: {variable!r} has labels; give x=, the variable along which their "
                "comparison is drawn, or use plot_comparisons()"
            )
        grid, by = self._grid(x, by, points)
        found = (
            self.slopes(variable, grid, level=level)
            if numeric
            else self.comparisons(variable, grid, comparison=comparison, level=level)
        )
        if not numeric and found.contrast.nunique() > 1:
            by = [*by, "contrast"]
        name = (
            f"change in {words.mean(self.model)} per unit of {variable}"
            if numeric
            else f"{words.change(self.model, comparison)}, by {variable}"
        )
        return self._drawn(found, x, by, name, ax)

    @with_level
    def plot_comparisons(
        self,
        variables: Any = None,
        ax: Any = None,
        *,
        comparison: str = "difference",
        level: float = 0.95,
    ) -> Any:
        """Draw average comparisons of all variables, a point with an interval for each.

        Parameters
        ----------
        variables
            As in `avg_comparisons`.  Default: all, numbers over an sd of theirs, which stands
            behind the name, so that those of years and of euros compare; columns of 0 and 1 and
            labels by their differences.
        comparison, level
            As in `avg_comparisons`.
        ax : Axes, optional

        Returns
        -------
        Axes
        """
        from sgmc.plots.lines import intervals

        variables, units = per_sd(self) if variables is None else (variables, {})
        found = self.avg_comparisons(variables, comparison=comparison, level=level)
        names = [
            f"{term} (per {units[term]})" if term in units else f"{term}: {contrast}"
            for term, contrast in zip(found.term, found.contrast)
        ]
        if "group" in found:
            names = [f"{name} ({group})" for name, group in zip(names, found.group)]
        label = (
            f"average {words.change(self.model, comparison)}\n"
            f"{'numbers per sd; ' if units else ''}{INTERVAL.format(100 * level)}"
        )
        ratio = comparison == "ratio"
        return intervals(names, *numbers(found), label, ax, float(ratio), ratio=ratio)

    def _drawn(self, found: "EffectTable", x: str, by: list[str], y_name: str, ax: Any) -> Any:
        """Curves of a table along x by groups, with marks where the rows are."""
        variables = Variables(self, places_of(self, None))
        rows = variables.numbers(x) if variables.levels(x) is None else None
        return drawn(found, x, by, y_name, ax, rows, self.model.endog_names)

    def _along(
        self, x: str, by: Any, points: int, kind: str, level: float
    ) -> "tuple[EffectTable, list[str]]":
        grid, by = self._grid(x, by, points)
        return self.predictions(grid, type=kind, level=level), by

    def _grid(self, x: str, by: Any, points: int) -> tuple[Frame, list[str]]:
        """A grid along x by groups, and the columns that make them."""
        variables = Variables(self, places_of(self, None))
        values = {}
        for name, one in ((variables.check(x, "x"), "x"), (by, "by")):
            if name is None:
                continue
            levels = variables.levels(variables.check(name, one))
            if levels is None:
                count = whole("points", points, 2) if one == "x" else AT_NUMBERS
                if one == "x" and name in variables.steps:
                    levels = variables.steps[name].grid(count)
                elif one == "x":
                    ends = variables.numbers(name)
                    levels = np.linspace(ends.min(), ends.max(), count)
                else:
                    levels = variables.quantiles(name, np.linspace(0, 1, count))
            values[name] = levels
        if by is not None and by == x:
            raise ArgumentError(f"by={by!r} is the variable of the axis: give another one")
        return datagrid(self, **values), [] if by is None else [by]


def per_sd(results: Any) -> tuple[dict[str, str | None], dict[str, str]]:
    """How `avg_comparisons` takes all variables, numbers over an sd; and the sds as texts."""
    variables = Variables(results, places_of(results, None))
    how: dict[str, str | None] = dict.fromkeys(variables.every())
    units = {}
    for name in how:
        if variables.levels(name) is None and name not in variables.steps:
            x = variables.numbers(name)
            if not np.isin(x, (0, 1)).all():
                how[name] = variables.inside(name, "sd")
                if how[name] == "sd":
                    units[name] = short(np.std(x, ddof=1))
    return how, units


def numbers(found: Frame) -> Iterator[Any]:
    """Means and ends of intervals of a table."""
    return (found[name].to_numpy() for name in ("estimate", "conf_low", "conf_high"))


def drawn(
    found: "EffectTable", x: str, by: list[str], y_name: str, ax: Any, rows: Any, kinds: str
) -> Any:
    """Curves of a table along x by groups; `rows` are marked, `kinds` is what a group is called
    that is a kind of outcome.
    """
    from sgmc.plots.lines import curves

    by = [*by, *(["group"] if "group" in found else [])]
    if by:
        keys = found[by].astype(object).apply(lambda one: ", ".join(map(shown_level, one)), axis=1)
    else:
        keys = pd.Series("", index=found.index)
    labels = list(dict.fromkeys(keys))
    if len(labels) > SHOWN_GROUPS:
        raise ArgumentError(
            f"{len(labels)} curves are too many for one figure, at most {SHOWN_GROUPS}: leave by= "
            "out, or plot predictions() of a grid of your own"
        )
    groups = []
    for label in labels:
        part = found[keys == label]
        groups.append((label, part[x].to_numpy(), *numbers(part)))
    titles = [kinds if one == "group" else one for one in by]
    return curves(groups, x, y_name, ", ".join(titles), ax, rows)


def shown_level(value: Any) -> str:
    """A level or a number as a short text."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
