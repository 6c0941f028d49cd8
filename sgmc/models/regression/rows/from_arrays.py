"""Outcomes and design of a regression from arrays, checked."""

import mmap

import numpy as np

from sgmc.arguments.data import rows, values
from sgmc.arguments.data.arrays import numeric, refuse_swapped, vector
from sgmc.arguments.data.limited import is_records, records
from sgmc.arguments.data.tables import finite_table, table
from sgmc.arguments.names import column_names
from sgmc.errors import DataError
from sgmc.models.regression.rows.data import RegressionData, few_counted, total_offset


def outcome_name(endog):
    """The name that a Series has, of whatever library; "y" for what has none."""
    name = getattr(endog, "name", None)
    return str(name) if np.ndim(name) == 0 and name else "y"


def from_arrays(endog, exog, label, names, columns, outcome="numeric"):
    """Checked RegressionData from arrays, tables or a CSR array; `columns` are weights and the
    like, by name, or None.

    Outcomes of a family with `outcome` "binary" may be two columns, successes and failures; of
    "survival" they are records of times that may be censored.
    """
    from sgmc.formula.data.frames import pandas_or_same
    from sgmc.results.outcomes.data.labels import RowLabels, labels_of

    labels_of_arrays = RowLabels(first_known(labels_of(endog), labels_of(exog)))
    exog, endog = pandas_or_same(exog), pandas_or_same(endog)
    refuse_swapped(endog, exog)
    known = is_records(endog)
    paired = outcome == "binary" and not known and numeric("endog", endog).shape[1:] == (2,)
    if known:
        y, trials = records("endog", endog), None
    else:
        label, y, trials = counts(endog) if paired else (label, vector("endog", endog), None)
    rows.same_index(endog=endog, exog=exog, **columns)
    X = table("exog", exog)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or X.shape[1] == 0:
        raise DataError(
            f"exog has shape {X.shape}; it must be rows x columns, with at least one column"
        )
    rows.same_length("endog", y, X.shape[0], "exog has")
    if len(y) == 0:
        raise DataError("the data are empty: no row")
    unnamed = names is None and not hasattr(exog, "columns")
    names = column_names(names, exog, X.shape[1])
    finite_table("exog", X, names)
    intercept = constant_column(X)
    if intercept is not None and unnamed:
        names[intercept] = "const"
    read = {
        "weights": lambda v: values.weights("weights", vector("weights", v)),
        "offset": lambda v: vector("offset", v),
        "exposure": lambda v: values.exposures("exposure", vector("exposure", v)),
        "se": lambda v: values.standard_errors("se", vector("se", v)),
        "strata": labels,
        "groups": clusters,
    }
    known = {
        name: None if v is None else rows.same_length(name, read[name](v), len(y))
        for name, v in columns.items()
    }
    offset, given = total_offset(known["offset"], known["exposure"], trials=trials, se=known["se"])
    return RegressionData(
        y,
        names,
        {n: slice(j, j + 1) for j, n in enumerate(names)},
        intercept,
        label,
        X,
        offset,
        trials,
        known["weights"],
        known["strata"],
        given,
        notes=few_counted(known["weights"]),
        lent=isinstance(exog, np.ndarray) and is_lent(X),
        se=known["se"],
        groups=known["groups"],
        labels=labels_of_arrays,
        given_offset=offset,
    )


def first_known(*values):
    """The first that is not None, else None."""
    return next((value for value in values if value is not None), None)


def counts(endog):
    """(name, successes, trials) of two columns, successes and failures."""
    names = [str(name) for name in getattr(endog, "columns", ("successes", "failures"))]
    pairs = numeric("endog", endog)
    called = [f"endog: column {name!r}" for name in names]
    successes, failures = (
        values.counts(name, vector(name, pairs[:, j])) for j, name in enumerate(called)
    )
    return " + ".join(names), successes, successes + failures


def labels(strata):
    """Labels of rows as numbers; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.data.columns import labels_of

    if np.ndim(strata) != 1:
        raise DataError(f"strata has shape {np.shape(strata)}; it must be one label a row")
    return vector("strata", labels_of("strata", pd.Series(strata)))


def clusters(groups):
    """Numbers of clusters from labels of rows; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.data.columns import clusters_of

    if np.ndim(groups) != 1:
        raise DataError(f"groups has shape {np.shape(groups)}; it must be one label a row")
    return vector("groups", clusters_of(pd.Series(groups)))


def is_lent(X):
    """Return whether an array is memory-mapped or read-only: not the package's to change, and
    perhaps larger than memory.
    """
    owner = X
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap):
            return True
        owner = owner.base
    return isinstance(owner, mmap.mmap) or isinstance(X, np.ndarray) and not X.flags.writeable


def constant_column(X):
    """Return the index of the first column of ones, or None."""
    if hasattr(X, "indptr"):
        return constant_stored_column(X)
    for j in np.flatnonzero(X[0] == 1):
        if (X[:, j] == 1).all():
            return int(j)
    return None


def constant_stored_column(X):
    """Return the same of a CSR array, from what it stores."""
    stored = slice(X.indptr[-1])
    sums = np.bincount(X.indices[stored], X.data[stored], X.shape[1])
    for j in np.flatnonzero(sums == X.shape[0]):
        column = X[:, [j]]
        column.sum_duplicates()
        if column.nnz == X.shape[0] and (column.data == 1).all():
            return int(j)
    return None
