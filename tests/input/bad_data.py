"""Rows of the bad-input table: arrays, their keywords, formulas and frames."""

import numpy as np
import pandas as pd
from scipy import sparse

from sgmc.errors import ArgumentError, DataError, FormulaError

from .cases import Entry, N, X, changed, damaged, put, series, shown

# ---- arrays --------------------------------------------------------------------------------------

OF_ARRAYS = [
    Entry(f"model({label})", lambda case, make=make: case.model(*make(case.y)), DataError, text)
    for label, make, text in [
        (
            "endog with NaN",
            lambda y: (changed(y, np.nan), X),
            "endog has missing or infinite values",
        ),
        ("endog of text", lambda y: (y.astype(str), X), "endog must hold numbers, it holds text"),
        (
            "endog of text as objects",
            lambda y: (y.astype(str).astype(object), X),
            "endog must hold numbers, it holds str",
        ),
        (
            "complex endog",
            lambda y: (y.astype(complex), X),
            "endog must hold numbers, it holds complex128",
        ),
        (
            "masked endog",
            lambda y: (np.ma.masked_where(X[:, 1] > 0, y), X),
            "endog has masked values",
        ),
        ("three endogs", lambda y: (np.column_stack([y, y, y]), X), f"endog has shape ({N}, 3)"),
        ("endog too short", lambda y: (y[:-1], X), "endog has 199 values, exog has 200 rows"),
        ("no endog", lambda y: (None, X), "endog is None; it must hold numbers"),
        ("one number as endog", lambda y: (1.0, X), "endog has shape ()"),
        (
            "nullable endog with NA",
            lambda y: (pd.Series(y, dtype="Float64").mask(X[:, 1] > 2), X),
            "endog has missing",
        ),
        (
            "NaN",
            lambda y: (y, changed(X, np.nan)),
            "exog has missing or infinite values (column 'x1', row ",
        ),
        (
            "inf",
            lambda y: (y, changed(X, np.inf, 4)),
            "exog has missing or infinite values (column 'x2', row ",
        ),
        ("-inf", lambda y: (y, changed(X, -np.inf, 5)), "(column 'x3', row "),
        (
            "None",
            lambda y: (y, np.where(X > 2, None, X)),
            "exog has missing or infinite values (column 'x2', row ",
        ),
        (
            "a word",
            lambda y: (y, changed(X, "text")),
            "exog must hold numbers, it holds float and str",
        ),
        (
            "numbers as text among numbers",
            lambda y: (y, changed(X, "1")),
            "exog must hold numbers, it holds float and str",
        ),
        (
            "complex",
            lambda y: (y, X.astype(complex)),
            "exog must hold numbers, it holds complex128",
        ),
        (
            "complex objects",
            lambda y: (y, X.astype(complex).astype(object)),
            "exog must hold numbers, it holds complex",
        ),
        ("text", lambda y: (y, X.astype(str)), "exog must hold numbers, it holds text"),
        (
            "dates",
            lambda y: (y, X.astype("datetime64[s]")),
            "exog must hold numbers, it holds datetime64",
        ),
        (
            "time spans",
            lambda y: (y, X.astype("timedelta64[s]")),
            "exog must hold numbers, it holds timedelta64",
        ),
        (
            "a structured array",
            lambda y: (y, np.zeros(N, [("a", float)])),
            "exog must hold numbers",
        ),
        (
            "masked array",
            lambda y: (y, np.ma.masked_greater(X, 2)),
            "exog has masked values; drop or fill them first",
        ),
        (
            "rows of unequal length",
            lambda y: (y, [[1], [1, 2]] * 100),
            "exog is no array of numbers",
        ),
        (
            "an integer too large",
            lambda y: (y, put(X.astype(object), (3, 1), 10**400)),
            "exog must hold numbers",
        ),
        ("no column", lambda y: (y, X[:, :0]), f"exog has shape ({N}, 0)"),
        ("three axes", lambda y: (y, X[None]), f"exog has shape (1, {N}, 3)"),
        ("no exog", lambda y: (y, None), "exog is None; it must hold numbers"),
        ("one number as exog", lambda y: (y, 3.0), "exog has shape ()"),
        ("a dict", lambda y: (y, {"a": X[:, 1]}), "exog must hold numbers, it holds dict"),
        ("no row", lambda y: (y[:0], X[:0]), "the data are empty"),
        (
            "another index",
            lambda y: (pd.Series(y), pd.DataFrame(X, index=range(1, N + 1))),
            "endog and exog have different indices",
        ),
        (
            "a frame with text",
            lambda y: (y, pd.DataFrame(X).assign(g="a")),
            "exog: column 'g' must hold numbers, it holds str",
        ),
        (
            "a frame with a category",
            lambda y: (y, pd.DataFrame(X).assign(g=pd.Categorical(["a", "b"] * 100))),
            "exog: column 'g' must",
        ),
        (
            "a frame with a date",
            lambda y: (y, pd.DataFrame(X).assign(t=pd.Timestamp("2020"))),
            "exog: column 't' must hold numbers",
        ),
        (
            "a nullable frame with NA",
            lambda y: (y, pd.DataFrame(X).astype({1: "Int64"}).mask(X > 2)),
            "missing or infinite values (column '1', row ",
        ),
        (
            "a frame with a name twice",
            lambda y: (y, pd.DataFrame(X, columns=["a", "b", "a"])),
            "exog has more than one column 'a'",
        ),
        (
            "a frame with 1 and '1'",
            lambda y: (y, pd.DataFrame(X, columns=[1, "1", "a"])),
            "exog has more than one column '1'",
        ),
        (
            "sparse NaN",
            lambda y: (y, sparse.csr_array(changed(X, np.nan))),
            "missing or infinite values (column 'x1', row ",
        ),
        ("sparse complex", lambda y: (y, sparse.csr_array(X * 1j)), "exog must hold numbers"),
        (
            "sparse, column beyond",
            lambda y: (y, damaged(indices=lambda i: put(i, 5, 10**6))),
            "a column index is outside 0 .. 2",
        ),
        (
            "sparse, column below",
            lambda y: (y, damaged(indices=lambda i: put(i, 5, -1))),
            "a column index is outside 0 .. 2",
        ),
        (
            "sparse, rows beyond",
            lambda y: (y, damaged(indptr=lambda i: put(i, -1, 10**6))),
            "its indptr does not ascend",
        ),
        (
            "sparse, rows descend",
            lambda y: (y, damaged(indptr=lambda i: put(i, 3, 500))),
            "its indptr does not ascend",
        ),
    ]
]
OF_KEYWORDS = [
    Entry(f"model({shown(k)})", lambda case, k=k: case.model(case.y, X, **k), error, text)
    for k, error, text in [
        (dict(names=["a", "b"]), ArgumentError, "names=['a', 'b'] must be 3 strings"),
        (
            dict(names=["a", "b", "a"]),
            ArgumentError,
            "names repeat: 'a'; give each column of exog its own",
        ),
        (dict(names=["a", "b", 3]), ArgumentError, "must be 3 strings"),
        (dict(names="abc"), ArgumentError, "names='abc' must be 3 strings"),
        (dict(names=3), ArgumentError, "names=3 must be 3 strings"),
        (dict(weights=np.ones(3)), DataError, "weights has 3 values, the data have 200 rows"),
        (
            dict(weights=series(np.ones(3))),
            DataError,
            "weights has 3 values, the data have 200 rows",
        ),
        (
            dict(weights=-np.ones(N)),
            DataError,
            "weights must be finite numbers, zero or more, with a positive sum",
        ),
        (
            dict(weights=np.zeros(N)),
            DataError,
            "zero or more, with a positive sum: they range from 0 to 0",
        ),
        (
            dict(weights=changed(np.ones(N), np.nan)),
            DataError,
            "weights has missing or infinite values",
        ),
        (dict(weights=["a"] * N), DataError, "weights must hold numbers"),
        (dict(weights=["1"] * N), DataError, "weights must hold numbers"),
        (dict(weights=np.ma.masked_less(np.ones(N), 2)), DataError, "weights has masked values"),
        (dict(weights=1.0), DataError, "weights has shape ()"),
        (dict(offset=np.ones(3)), DataError, "offset has 3 values"),
        (
            dict(offset=changed(np.ones(N), np.inf)),
            DataError,
            "offset has missing or infinite values",
        ),
        (dict(offset=X), DataError, f"offset has shape ({N}, 3)"),
    ]
]
OF_KEYWORDS += [
    Entry(
        f"model(frame, {name} of another index)",
        lambda case, name=name: case.model(case.y, pd.DataFrame(X), **{name: series(np.ones(N))}),
        DataError,
        f"exog and {name} have different indices; align them first, or pass {name}.to_numpy()",
    )
    for name in ("weights", "offset")
]

# ---- formulas and frames -------------------------------------------------------------------------

OF_FORMULAS = [
    Entry(label, call, error, text)
    for label, call, error, text in [
        (
            "y ~ x3",
            lambda c: c.formula("y ~ x3"),
            FormulaError,
            "'x3' is neither a column nor a call of a function; columns are: ",
        ),
        ("z ~ x1", lambda c: c.formula("z ~ x1"), FormulaError, "'z' is neither a column"),
        ("y ~ x1 +", lambda c: c.formula("y ~ x1 +"), FormulaError, "y ~ x1 +"),
        ("y", lambda c: c.formula("y"), FormulaError, "the formula has no response"),
        (
            "y ~ 0",
            lambda c: c.formula("y ~ 0"),
            FormulaError,
            "the right side has no term: write '~ 1' for an intercept alone",
        ),
        ("y ~", lambda c: c.formula("y ~"), FormulaError, "the right side is empty"),
        (
            "a number as formula",
            lambda c: c.formula(3),
            FormulaError,
            "the formula must be text, not int",
        ),
        (
            "missing outcomes",
            lambda c: c.formula("y ~ x1", y=np.nan),
            DataError,
            "no row is complete: values are missing in 'y' (200)",
        ),
        ("x1 infinite", lambda c: c.formula("y ~ x1", x1=np.inf), DataError, "'x1' is not finite"),
        (
            "x1 missing",
            lambda c: c.formula("y ~ x1", x1=np.nan),
            DataError,
            "no row is complete: values are missing in 'x1' (200)",
        ),
        (
            "x1 all None",
            lambda c: c.formula("y ~ x1", x1=None),
            DataError,
            "no row is complete: values are missing in 'x1' (200)",
        ),
        (
            "some missing, missing='raise'",
            lambda c: c.verb(
                "y ~ x1", c.frame.assign(x1=changed(X[:, 1], np.nan)), missing="raise"
            ),
            DataError,
            "1 row has missing values, in 'x1' (1); missing='drop' leaves them out",
        ),
        (
            "x1 complex",
            lambda c: c.formula("y ~ x1", x1=1j),
            FormulaError,
            "column 'x1' is no predictor: it holds complex128",
        ),
        (
            "x1 a date",
            lambda c: c.formula("y ~ x1", x1=pd.Timestamp("2020-01-01")),
            FormulaError,
            "column 'x1' holds dates",
        ),
        (
            "x1 of lists",
            lambda c: c.formula("y ~ x1", x1=pd.Series([[1]] * N)),
            FormulaError,
            "column 'x1' is no predictor: it holds list",
        ),
        (
            "x1 of numbers and text",
            lambda c: c.formula("y ~ x1", x1=pd.Series([1.0, "1"] * 100, dtype=object)),
            FormulaError,
            "it holds float and str, neither real numbers nor text; convert it",
        ),
        (
            "x1 an integer too large",
            lambda c: c.formula("y ~ x1", x1=pd.Series([10**400] + [1] * 199, dtype=object)),
            DataError,
            "column 'x1' holds what is no float64 number",
        ),
        (
            "g of one level",
            lambda c: c.formula("y ~ g", g="a"),
            DataError,
            "'g' has a single level among the rows used; leave it out",
        ),
        (
            "no row",
            lambda c: c.verb("y ~ x1", c.frame.iloc[:0]),
            DataError,
            "the data are empty: 0 rows, 5 columns",
        ),
        (
            "no data",
            lambda c: c.verb("y ~ x1", None),
            DataError,
            "data must be a DataFrame or a dict of arrays, not NoneType",
        ),
        (
            "a dict of tables",
            lambda c: c.verb("y ~ x1", {"a": c.frame, "b": c.frame}),
            DataError,
            "data is a dict of tables: give one of them, or a list of imputed data sets",
        ),
        (
            "an array as data",
            lambda c: c.verb("y ~ x1", c.frame.to_numpy()),
            DataError,
            "data must be a DataFrame",
        ),
        (
            "a name twice",
            lambda c: c.verb("y ~ x1", pd.concat([c.frame, c.frame[["x1"]]], axis=1)),
            DataError,
            "there is more than one column 'x1'; rename or drop one",
        ),
        (
            "a number as name",
            lambda c: c.verb("y ~ x1", c.frame.rename(columns={"w": 3})),
            DataError,
            "column names must be text, not 3: try data.columns = data.columns.astype(str)",
        ),
        (
            "None as name",
            lambda c: c.verb("y ~ x1", c.frame.rename(columns={"w": None})),
            DataError,
            "column names must be text, not ",
        ),
        (
            "MultiIndex columns",
            lambda c: c.verb("y ~ x1", pd.concat({"a": c.frame}, axis=1)),
            DataError,
            (
                "column names must be text, not ('a', 'y'): try data.columns = ['_'.join(map(str, "
                "c)) for c in data.columns]"
            ),
        ),
        (
            "columns of unequal length",
            lambda c: c.verb("y ~ x1", {"y": [0, 1], "x1": [1]}),
            DataError,
            "length",
        ),
    ]
]
