"""Rows that effects are computed at: those of the fit, or new ones, piece by piece."""

import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd

from sgmc.arguments.data.rows import for_rows
from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.data.values import finite
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.data.frames import as_frame
from sgmc.results.outcomes.data.beside import with_exposure
from sgmc.results.outcomes.data.labels import index_of, labels_of_fit
from sgmc.results.outcomes.data.pieces import Pieces
from sgmc.results.outcomes.data.rows import FEWEST_DRAWS, ROWS_WORK, Rows, evenly

MOST_NUMBERS = 1 << 24  # of a piece of the design


class Piece(NamedTuple):
    """Some of the rows.

    Attributes
    ----------
    start : int
        Number of the first one.
    rows : array (n,)
        Their numbers in the table that the user gave.
    labels : Index
    frame : DataFrame
    weight : array (n,)
    offset : array (n,) or None
    by : DataFrame
        Columns that averages are taken by.
    """

    start: int
    rows: np.ndarray
    labels: pd.Index
    frame: pd.DataFrame
    weight: np.ndarray
    offset: np.ndarray | None
    by: pd.DataFrame


def places_of(results, data, by=(), *, weights=None, offset=None, exposure=None):
    """`FitPlaces` where there are no `data`, else `NewPlaces`."""
    if data is not None:
        return NewPlaces(results, data, by, weights, offset, exposure)
    for name, value in (("weights", weights), ("offset", offset), ("exposure", exposure)):
        if value is not None:
            raise ArgumentError(f"{name} belongs to new rows: give data= too")
    return FitPlaces(results, by)


def piece_size(results):
    """Rows of a piece: few enough for its design; all where rows have the effects of their groups,
    as new levels are numbered in one table.
    """
    if groups_of(results):
        return sys.maxsize
    return max(1, min(CHUNK_ROWS, MOST_NUMBERS // max(len(results.model.exog_names), 1)))


class FitPlaces:
    """The rows of a fit.

    Attributes
    ----------
    n : int
    """

    def __init__(self, results, by=()):
        kept = results._kept
        if kept is None and hasattr(results, "fits"):
            raise ArgumentError(
                "a fit of several imputed data sets has rows in each: give data=, e.g. one of the "
                "completed tables, or take effects and figures of one of its fits, res.fits[0]"
            )
        if kept is None:
            raise ArgumentError(
                "the rows of the fit are not here as they were given (they are in a prepared file, "
                "on a cluster, of several data sets, or were not saved): give data=, e.g. a sample "
                "of them or their file; figures and sgmc.datagrid take a loaded fit after "
                "resume(data=<the table of the fit>)"
            )
        self.results, self.kept, self.by, self.n = results, kept, list(by), kept.n
        names = results.model.exog_names if kept.table is None else kept.table.columns
        refuse_others(self.by, names)
        kept.check([*self.by, *groups_of(results)])

    def pieces(self):
        """All rows, a `Piece` at a time."""
        kept, names = self.kept, self.results.model.exog_names
        size, importance = piece_size(self.results), kept.importance
        groups = groups_of(self.results)
        known = index_of(labels_of_fit(self.results))
        known = pd.RangeIndex(self.n) if known is None else known
        for start in range(0, self.n, size):
            at = slice(start, min(start + size, self.n))
            frame = kept.part(at, names)
            lacking = [name for name in groups if name not in frame]
            if lacking:
                frame = pd.concat([frame, kept.taken(at, lacking)], axis=1)
            weight = np.ones(len(frame)) if importance is None else importance[at]
            offset = None if kept.offset is None else np.asarray(kept.offset[at])
            by = frame[self.by] if kept.table is None else kept.taken(at, self.by)
            rows = kept.rows[at]
            if isinstance(rows, range):  # numpy takes its numbers one by one
                rows = np.arange(rows.start, rows.stop, rows.step)
            yield Piece(start, np.asarray(rows), known[at], frame, weight, offset, complete(by))


def refuse_others(by, columns):
    """ArgumentError for a name that is no column."""
    for name in by:
        if name not in columns:
            from sgmc.formula.data.frames import no_column

            raise ArgumentError(str(no_column("by", name, columns)))


def complete(by):
    """Columns that averages are taken by, without a gap."""
    for name in by:
        if by[name].isna().any():
            raise DataError(f"by={name!r} has missing values in the data: leave such rows out")
    return by


class NewPlaces:
    """New rows: a table, an array, or files and the like, which are read a piece at a time.

    Parameters
    ----------
    results : Results
    data : whatever `Pieces` takes
    by : list of str
    weights, offset, exposure : str, number, array or None
        By default the columns of these names in the fit, where the new rows have them.
    """

    def __init__(self, results, data, by=(), weights=None, offset=None, exposure=None):
        self.results, self.by = results, list(by)
        if results.model.spec is None and isinstance(data, Mapping):
            data = as_frame(data)
        if isinstance(data, np.ndarray) and data.ndim == 1:
            data = data[None]
        # keys name the argument in messages
        beside = {f"by[{k}]" if len(self.by) > 1 else "by": one for k, one in enumerate(self.by)}
        self.keys = list(beside)
        model = SimpleNamespace(
            spec=recipe_of(results),
            inputs=results.model.inputs,
            exog_names=results.model.exog_names,
        )
        given = {"weights": weights, "offset": offset, "exposure": exposure}
        self.source = Pieces(SimpleNamespace(model=model), data, {**beside, **given})
        told = results.model.inputs.get("weights")
        if weights is None and isinstance(told, str) and told in self.source.columns:
            self.source.beside["weights"] = told
            self.source.names.append(told)
        self.source.needed = list(dict.fromkeys([*self.source.needed, *columns_of(results)]))
        self.n = self.source.n
        if not self.n:
            raise DataError("data has no rows")

    def pieces(self):
        """All rows, a `Piece` at a time."""
        for start, frame, beside in self.source.parts(piece_size(self.results)):
            if not isinstance(frame, pd.DataFrame):
                dense = frame.toarray() if hasattr(frame, "toarray") else np.asarray(frame)
                names = self.results.model.exog_names
                frame = designed(dense, names).set_axis(range(start, start + len(dense)))
            rows = np.arange(start, start + len(frame))
            # rows of files are numbered from the first one on
            labels = frame.index if self.source.source is None else pd.Index(rows)
            frame = frame.reset_index(drop=True)
            weight = beside["weights"]
            weight = np.ones(len(frame)) if weight is None else weighed(weight, len(frame))
            offset = with_exposure(self.results, frame, beside["offset"], beside["exposure"])
            by = {name: beside[key] for name, key in zip(self.by, self.keys)}
            by = pd.DataFrame(by, index=frame.index)
            yield Piece(start, rows, labels, frame, weight, offset, complete(by))


def weighed(weight, n):
    """Weights of n rows, checked."""
    weight = np.array(for_rows("weights", weight, n), dtype=float)
    return finite("weights", weight, "finite numbers, zero or more", (weight >= 0).all())


def designed(dense, names):
    """A design as a frame with the names of its columns."""
    if dense.ndim != 2 or dense.shape[1] != len(names):
        raise DataError(
            f"data has shape {dense.shape}; it must have {len(names)} columns: "
            f"{', '.join(names[:8])}"
        )
    return pd.DataFrame(dense, columns=names)


def variables_of(results):
    """Names of the columns of the data that predictions depend on, groups aside."""
    recipe = recipe_of(results)
    if recipe is None:
        return list(results.model.exog_names)
    smooths = (name for one in smooths_of(results) for name in one.columns)
    return list(dict.fromkeys([*recipe.columns, *smooths]))


def groups_of(results):
    """Columns of the groups, where rows have their effects."""
    return getattr(results, "group_columns", [])


def columns_of(results):
    """Names of all columns of the data that effects are computed from."""
    return list(dict.fromkeys([*variables_of(results), *groups_of(results)]))


def recipe_of(results):
    """The `DesignSpec` of a formula, of the whole design; None for fits of arrays."""
    return getattr(getattr(results.model, "split", None), "spec", results.model.spec)


def smooths_of(results):
    """The smooths of a formula."""
    return getattr(getattr(results.model, "groups", None), "smooths", ())


def factors_of(results):
    """The fitted `Factor`s of a formula; none for fits of arrays."""
    recipe = recipe_of(results)
    return () if recipe is None else recipe.factors


def rows_at(results, frame, offset):
    """`Rows` at new values, in their order; effects of groups are zero, smooths are included."""
    rows = results.population_rows(frame, offset)
    if rows.order is None:
        return rows
    return rows.among(rows.where(np.arange(rows.n)))


def numbers_at(rows: Rows, at, link):
    """E[y | x] or linear predictors of some rows, (kind, row, draw)."""
    (_, eta), *_ = rows.among(np.arange(at.start, at.stop)).blocks()
    value = eta if link else rows.family.centre(eta, rows.extra)
    return value if value.ndim == 3 else value[None]


def thinned(rows, n):
    """The rows with the draws to use where there are n rows in all; see `Rows.affordable`."""
    most = max(FEWEST_DRAWS, int(ROWS_WORK // n))
    return rows if rows.m <= most else rows.with_draws(evenly(rows.m, most))
