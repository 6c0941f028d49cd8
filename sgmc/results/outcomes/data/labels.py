"""Labels of rows on what is computed of them: for a pandas table a Series or DataFrame with its
index, for a polars table those of polars, for arrays an array.
"""

import numpy as np
import pandas as pd

POLARS = "polars"  # in the place of an index


def labels_of(data):
    """The index of a table or Series, `POLARS` for those of polars, None for what has no labels."""
    index = getattr(data, "index", None)
    if hasattr(index, "equals"):
        return index
    eager = type(data).__module__.partition(".")[0] == POLARS and hasattr(data, "to_numpy")
    return POLARS if eager else None


class RowLabels:
    """Labels of the rows of a fit; a pickle has none, as it has not the rows.

    Parameters
    ----------
    index : Index or "polars"
        Of the table.
    rows : array of int or range, optional
        Those that are used; all by default.
    """

    def __init__(self, index=None, rows=None):
        self._index, self._rows = index, rows

    @property
    def index(self):
        """Index of the rows that are used, `POLARS` or None."""
        if self._rows is not None and isinstance(self._index, pd.Index):
            if len(self._rows) < len(self._index):
                self._index = self._index[self._rows]
            self._rows = None
        return self._index

    def __reduce__(self):
        return RowLabels, ()


def labels_of_fit(results):
    """Labels of the rows that a fit had, as `labels_of`."""
    known = getattr(results.model, "labels", None)
    return None if known is None else known.index


def numbers(values, labels, name=None):
    """A number for each row, (n,), with labels as `labels_of`."""
    if labels is None:
        return values
    if isinstance(labels, str):
        import polars

        return polars.Series(name, np.asarray(values))
    return pd.Series(values, labels, name=None, copy=False)


def table(frame, labels):
    """A DataFrame of pandas, or where labels are `POLARS` of polars, its levels being columns."""
    if not isinstance(labels, str):
        return frame
    import polars

    flat = frame.reset_index() if frame.index.nlevels > 1 else frame
    return polars.DataFrame({str(name): column.to_numpy() for name, column in flat.items()})


def index_of(labels):
    """An index for pandas, or None."""
    return None if isinstance(labels, str) else labels


def plain(found):
    """A table or series of polars as one of pandas or an array; anything else as it is."""
    if type(found).__module__.partition(".")[0] != POLARS:
        return found
    if hasattr(found, "columns"):
        return pd.DataFrame({name: found[name].to_numpy() for name in found.columns})
    return found.to_numpy()
