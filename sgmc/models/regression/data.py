"""Outcomes and design of a regression, checked: from arrays here, from a formula in `formula`."""

from dataclasses import dataclass, field

import numpy as np

from sgmc.errors import ArgumentError, DataError
from sgmc.arguments.arrays import (
    check_index,
    constant_column,
    first_place,
    is_lent,
    numeric,
    table_of_numbers,
    vector,
)


@dataclass
class RegressionData:
    """Outcomes and design of a regression, before they are copied.

    Attributes
    ----------
    y : array (n,)
        Of counts, the successes.
    names : list of str
        Columns of the design.
    terms : dict
        Term -> slice of columns.
    intercept : int or None
    endog_name : str
    source : object
        What `fill` reads: a formula table, a dense array or a CSR array.
    offset : array (n,) or None
        With the log of the exposure.
    trials : array (n,) or None
        Of counts, successes and failures together; apart from `weight`, which says how many such
        rows there are.
    given : tuple of str
        Which of "offset", "exposure" and "trials" there were.
    equations : tuple
        Labels of the equations, where there are several: each has coefficients of its own.
    lent : bool
        Whether it is an array of the user's that is memory-mapped or read-only.
    """

    y: np.ndarray
    names: list
    terms: dict
    intercept: int | None
    endog_name: str
    source: object
    offset: np.ndarray | None = None
    trials: np.ndarray | None = None
    weight: np.ndarray | None = None
    strata: np.ndarray | None = None
    given: tuple = ()
    dropped: int = 0
    notes: list = field(default_factory=list)
    lent: bool = False
    equations: tuple = ()

    @property
    def n(self):
        """Rows."""
        return len(self.y)

    @property
    def d(self):
        """Columns of the design."""
        return len(self.names)

    @property
    def sparse(self):
        """The design as a CSR array, or None where it is dense."""
        return self.source if hasattr(self.source, "indptr") else None

    def parameter_names(self, family):
        """Names of the coefficients and of the family's own parameters;
        a column of that name makes them end in "_".
        """
        names = [f"{label}:{name}" for label in self.equations for name in self.names] or list(
            self.names
        )
        for own in family.own:
            names.append(own.name)
            while names[-1] in names[:-1]:
                names[-1] += "_"
        return names

    def fill(self, out, position):
        """Write row i of the design into out[position[i]]."""
        if isinstance(self.source, np.ndarray):
            out[position] = self.source
        else:
            self.source.fill(out, position)


def total_offset(offset, exposure, trials=None):
    """(offset, given) of RegressionData from what a user gave, checked."""
    given = tuple(
        name
        for name, value in dict(offset=offset, exposure=exposure, trials=trials).items()
        if value is not None
    )
    if exposure is None:
        return offset, given
    return np.log(exposure) + (0.0 if offset is None else offset), given


def outcome_name(endog):
    """The name that a Series has, of whatever library; "y" for what has none."""
    name = getattr(endog, "name", None)
    return str(name) if np.ndim(name) == 0 and name else "y"


def from_arrays(endog, exog, label, names, columns, pairs=False):
    """Checked RegressionData from arrays, tables or a CSR array; `columns` are weights and the
    like, by name, or None.

    With `pairs`, outcomes may be two columns, successes and failures.
    """
    from sgmc.formula.frames import pandas_or_same

    exog, endog = pandas_or_same(exog), pandas_or_same(endog)
    paired = pairs and numeric("endog", endog).shape[1:] == (2,)
    label, y, trials = counts(endog) if paired else (label, vector("endog", endog), None)
    check_index(endog=endog, exog=exog, **columns)
    X = table_of_numbers("exog", exog)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or X.shape[1] == 0:
        raise DataError(
            f"exog has shape {X.shape}; it must be rows x columns, with at least one column"
        )
    if len(y) != X.shape[0]:
        raise DataError(f"endog has {len(y)} values, exog has {X.shape[0]} rows")
    if len(y) == 0:
        raise DataError("the data are empty: no row")
    unnamed = names is None and not hasattr(exog, "columns")
    names = column_names(names, exog, X.shape[1])
    place = first_place(X, lambda values: ~np.isfinite(values))
    if place is not None:
        raise DataError(
            f"exog has missing or infinite values (column {names[place[1]]!r}); drop or impute "
            "them first"
        )
    intercept = constant_column(X)
    if intercept is not None and unnamed:
        names[intercept] = "const"
    read = {
        "weights": lambda v: check_weights(vector("weights", v)),
        "offset": lambda v: vector("offset", v),
        "exposure": lambda v: check_exposures(vector("exposure", v)),
        "strata": labels,
    }
    known = {
        name: None if v is None else same_length(name, read[name](v), y)
        for name, v in columns.items()
    }
    offset, given = total_offset(known["offset"], known["exposure"], trials)
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
        lent=isinstance(exog, np.ndarray) and is_lent(X),
    )


def category_codes(endog):
    """(numbers of the levels, levels) of labels; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.columns import codes_of, levels_of
    from sgmc.formula.frames import column_of, one_column

    endog = one_column(endog)
    if np.ndim(endog) != 1:
        raise DataError(f"endog has shape {np.shape(endog)}; it must be one label a row")
    series = column_of(endog, "y")
    if series.isna().any():
        raise DataError("endog has missing values; drop those rows first")
    levels = levels_of(series)
    codes = codes_of(series, levels, "endog").astype(float)
    # an index that the user gave
    return pd.Series(codes, endog.index) if isinstance(endog, pd.Series) else codes, levels


def counts(endog):
    """(name, successes, trials) of two columns, successes and failures."""
    from sgmc.formula.outcomes import check_counts

    names = [str(name) for name in getattr(endog, "columns", ("successes", "failures"))]
    table = numeric("endog", endog)
    called = [f"endog: column {name!r}" for name in names]
    successes, failures = (
        check_counts(vector(name, table[:, j]), name) for j, name in enumerate(called)
    )
    return " + ".join(names), successes, successes + failures


def labels(strata):
    """Labels of rows as numbers; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.columns import labels_of

    if np.ndim(strata) != 1:
        raise DataError(f"strata has shape {np.shape(strata)}; it must be one label a row")
    return vector("strata", labels_of("strata", pd.Series(strata)))


def column_names(names, exog, d):
    """One name a column of exog: those given, those of a frame as text, or x1, x2, ..."""
    if names is None and hasattr(exog, "columns"):
        names = [str(c) for c in exog.columns]
        if len(set(names)) < d:
            twice = sorted({n for n in names if names.count(n) > 1})
            raise DataError(
                f"exog has more than one column {', '.join(map(repr, twice))}; rename or drop them"
            )
    if names is None:
        return [f"x{j + 1}" for j in range(d)]
    listed = [] if isinstance(names, str) or not np.iterable(names) else list(names)
    if len(listed) != d or not all(isinstance(n, str) for n in listed):
        raise ArgumentError(f"names={names!r} must be {d} strings, one a column of exog")
    if len(set(listed)) < d:
        twice = sorted({n for n in listed if listed.count(n) > 1})
        raise ArgumentError(f"names repeat: {twice}; give each column of exog its own")
    return listed


def same_length(name, array, y):
    """`array`, or DataError where its length is not that of the outcomes."""
    if len(array) != len(y):
        raise DataError(f"{name} has {len(array)} values, the data have {len(y)} rows")
    return array


def check_exposures(exposure):
    """`exposure`, or DataError where it is not positive."""
    if (exposure <= 0).any():
        raise DataError("exposure must be positive")
    return exposure


def check_weights(weights):
    """`weights`, or DataError where they are negative or all zero."""
    if (weights < 0).any() or not weights.any():
        raise DataError("weights must not be negative, nor all zero")
    return weights
