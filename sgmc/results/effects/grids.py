"""Grids of values at which predictions, comparisons and slopes are of interest."""

from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.messages import label_text, labels_text
from sgmc.arguments.types import Array, Frame, Series
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.data.columns import kind
from sgmc.formula.data.frames import as_frame
from sgmc.results.effects.places import FitPlaces, factors_of, variables_of
from sgmc.results.effects.variables import Variables

MOST_GRID_ROWS = 10_000_000  # of a grid
GRIDS = ("mean_or_mode", "counterfactual")
BESIDE = ("offset", "exposure")  # columns of a fit that its grid has too


def datagrid(source: Any = None, *, grid_type: str = "mean_or_mode", **values: Any) -> Frame:
    """Make a table of all combinations of values, with typical values of all other variables.

    Parameters
    ----------
    source : RegressionResults or DataFrame
        A fit, for the variables of its model, of the rows that it used and with their weights; or
        a table, for all of its columns.
    grid_type : {"mean_or_mode", "counterfactual"}
        What other variables are: means of numbers and most frequent labels; or as they are, all
        rows once for each combination, with a column ``rowidcf`` of their numbers.
    **values
        For each variable one value, or several; or a function of its column, such as
        ``np.median``.

    Returns
    -------
    DataFrame

    Raises
    ------
    ArgumentError
        For a name that is no column, or a grid of more than 10 million rows.

    Examples
    --------
    >>> grid = sgmc.datagrid(res, dose=[0, 5, 10], sex=["f", "m"])
    >>> res.predictions(grid)
    """
    one_of("grid_type", grid_type, GRIDS)
    if source is None:  # by the names of R's marginaleffects
        source = values.pop("model", values.pop("newdata", None))
    if source is None:
        raise ArgumentError("datagrid needs a fit or a table first: sgmc.datagrid(res, x=[0, 1])")
    frame, weight, labelled = table_of(source)
    if not len(frame):
        raise DataError("datagrid: the table has no rows")
    known = list(frame.columns)
    frame = with_groups(source, frame, values)
    for name in values:
        if name not in frame:
            raise ArgumentError(
                f"datagrid: {name!r} is not a variable{nearest(name, frame.columns, 'they are')}"
            )
    given = {name: listed(name, one, frame[name]) for name, one in values.items()}
    for name in given.keys() & {*known}:
        check_levels(source, name, given[name], frame[name])
    sizes = [len(one) for one in given.values()]
    rows = int(np.prod(sizes, dtype=float)) * (1 if grid_type == "mean_or_mode" else len(frame))
    if not 0 < rows <= MOST_GRID_ROWS:
        raise ArgumentError(f"datagrid: {rows:,} rows, from 1 to {MOST_GRID_ROWS:,} are made")
    cells = list(product(*given.values()))
    if grid_type == "counterfactual":
        out = pd.concat([frame.assign(rowidcf=np.arange(len(frame)))] * len(cells))
        out = out.reset_index(drop=True)
        columns = {
            name: np.repeat([c[k] for c in cells], len(frame)) for k, name in enumerate(given)
        }
    else:
        out = {n: [typical(frame[n], weight, n in labelled)] * len(cells) for n in known}
        out = pd.DataFrame(out)
        columns = {name: [c[k] for c in cells] for k, name in enumerate(given)}
    for name, column in columns.items():
        out[name] = alike(column, frame[name])
    for name in out:
        out[name] = alike(out[name], frame[name]) if name in known else out[name]
    return out


def table_of(source: Any) -> tuple[Frame, Array | None, set[str]]:
    """Columns of a grid, weights (n,) of the rows or None, and names of numbers that the formula
    takes as labels, ``C(year)``.
    """
    if not hasattr(source, "population_rows"):
        return as_frame(source), None, ()
    names, told = variables_of(source), (source.model.inputs.get(one) for one in BESIDE)
    places = FitPlaces(source, [one for one in told if isinstance(one, str) and one not in names])
    pieces = [pd.concat([one.frame[names], one.by], axis=1) for one in places.pieces()]
    frame, weight, variables = (
        pd.concat(pieces, ignore_index=True),
        places.kept.importance,
        Variables(source, places),
    )
    labelled = {name for name in names if variables.levels(name) is not None}
    labelled |= {*variables.steps}  # a mean of times is between two of them
    means = pd.DataFrame({n: [typical(frame[n], weight, n in labelled)] for n in names})
    for one in factors_of(source):
        if one.levels is not None:
            try:
                one.values(Chunk(means, np.arange(1)))
            except FormulaError:  # C(year - 2000): a mean of numbers is none of the levels
                labelled |= {*one.inputs.values()}
    return frame, weight, labelled


def with_groups(source: Any, frame: Frame, values: Collection[str]) -> Frame:
    """The table, with columns of groups that values are given for; these may be new."""
    spec = getattr(getattr(source, "model", None), "groups", None)
    given = [name for name in getattr(spec, "columns", ()) if name in values and name not in frame]
    return frame.assign(**dict.fromkeys(given)) if given else frame


def check_levels(source: Any, name: str, given: list[Any], column: Series) -> None:
    """ArgumentError for labels that the fit, or a column of categories, has not."""
    levels = None
    if hasattr(source, "population_rows"):
        levels = Variables(source, FitPlaces(source)).levels(name)
    elif isinstance(column.dtype, pd.CategoricalDtype):
        levels = list(column.cat.categories)
    for one in given:
        if levels is not None and one not in levels and not pd.isna(one):
            raise ArgumentError(
                f"datagrid: {name!r} has no level {label_text(one)}; it has "
                f"{labels_text(levels, 8)}"
            )


def listed(name: str, value: Any, column: Series) -> Any:
    """Values of a variable as a list."""
    value = value(column) if callable(value) else value
    if isinstance(value, str) or not np.iterable(value):
        return [value]
    if not len(value):
        raise ArgumentError(f"datagrid: {name} has no values")
    return list(value)


def typical(column: Series, weight: Array | None, labelled: bool = False) -> Any:
    """The mean of numbers, the most frequent label of others, and of numbers that are `labelled`;
    the first one of several.
    """
    known = column.notna().to_numpy()
    if not known.any():
        raise DataError(f"datagrid: column {column.name!r} has no values")
    w = np.ones(len(column)) if weight is None else np.asarray(weight)
    if kind(column) == "number" and not labelled:
        return np.average(column[known].to_numpy(dtype=float), weights=w[known])
    total = pd.Series(w[known]).groupby(column[known].to_numpy(), observed=True).sum()
    return total.idxmax()


def alike(values: Any, column: Series) -> Any:
    """Values with the categories of a column, where it has some."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Categorical(values, categories=column.dtype.categories)
    return values
