"""Rows of the bad-input table: calls of results, and what is warned of."""

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import (
    ArgumentError,
    ColumnsLeftOutWarning,
    ConditionWarning,
    DataError,
    FormulaError,
)

from .cases import FOREIGN, Entry, N, X, series

# ---- results -------------------------------------------------------------------------------------

OF_RESULTS = [
    Entry(label, call, error, text)
    for label, call, error, text in [
        (
            "predict without a column",
            lambda c: c.results.predict(c.frame.drop(columns="x2")),
            FormulaError,
            "the data have no column 'x2', which the design needs; its columns are: ",
        ),
        (
            "predict an unseen level",
            lambda c: c.results.predict(c.frame.assign(g="z")),
            FormulaError,
            "column 'g' has the level 'z'; known are 'a', 'b'",
        ),
        (
            "predict an unseen level of a category",
            lambda c: c.results.predict(c.frame.assign(g=pd.Categorical(["a", "z"] * 100))),
            FormulaError,
            "column 'g' has the level 'z'; known are 'a', 'b'",
        ),
        (
            "predict text for a number",
            lambda c: c.results.predict(c.frame.assign(x1="a")),
            FormulaError,
            "column 'x1' held numbers in the fit and holds text in the new data",
        ),
        (
            "predict an array for a table",
            lambda c: c.results.predict(X),
            DataError,
            "data must be a DataFrame or a dict of arrays",
        ),
        (
            "predict infinite rows",
            lambda c: c.results.predict(c.frame.assign(x1=np.inf)),
            DataError,
            "the new data are infinite in 'x1' at row 0; leave such rows out",
        ),
        (
            "predict with a name as offset",
            lambda c: c.results.predict(c.frame, offset="ww"),
            ArgumentError,
            "offset='ww' is not a column of the new data",
        ),
        (
            "predict with a short offset",
            lambda c: c.results.predict(c.frame, offset=[1, 2]),
            DataError,
            "offset has 2 values, the new data have 200 rows",
        ),
        (
            "predict with an offset of another index",
            lambda c: c.results.predict(c.frame, offset=series(np.ones(N))),
            DataError,
            "exog and offset have different indices",
        ),
        (
            "predict with an infinite offset",
            lambda c: c.results.predict(c.frame, offset=np.inf),
            DataError,
            "offset has infinite values",
        ),
        (
            "predict two offsets",
            lambda c: c.results.predict(c.frame, offset=np.ones((N, 2))),
            DataError,
            "offset has shape (200, 2)",
        ),
        (
            "predict too few columns",
            lambda c: c.of_arrays.predict(X[:, :2]),
            DataError,
            "it must have 3 columns: one, a, b",
        ),
        (
            "predict text",
            lambda c: c.of_arrays.predict(X.astype(str)),
            DataError,
            "exog must hold numbers, it holds text",
        ),
        (
            "predict complex numbers",
            lambda c: c.of_arrays.predict(X * 1j),
            DataError,
            "exog must hold numbers, it holds complex128",
        ),
        (
            "predict masked numbers",
            lambda c: c.of_arrays.predict(np.ma.masked_greater(X, 2)),
            DataError,
            "exog has masked values",
        ),
        (
            "predict a frame in another order",
            lambda c: c.of_arrays.predict(pd.DataFrame(X, columns=["one", "b", "a"])),
            DataError,
            "exog is labelled one, b, a; it must be one, a, b, in this order",
        ),
        (
            "get_prediction of bad rows",
            lambda c: c.of_arrays.get_prediction(X[:, :2]),
            DataError,
            "it must have 3 columns",
        ),
        (
            "hypothesis, a name near",
            lambda c: c.results.hypothesis("Intercpt > 0"),
            ArgumentError,
            "'Intercpt' is not a parameter; did you mean 'Intercept'?",
        ),
        (
            "hypothesis, no such name",
            lambda c: c.results.hypothesis("zzz > 0"),
            ArgumentError,
            "they are: Intercept, g[T.b], x1, x2",
        ),
        (
            "hypothesis, a number",
            lambda c: c.results.hypothesis(3),
            ArgumentError,
            "hypothesis 3 must be text, such as 'x1 > 0'",
        ),
        (
            "hypothesis, one side",
            lambda c: c.results.hypothesis("x1 >"),
            ArgumentError,
            "cannot read 'x1 >', one side is empty",
        ),
        (
            "hypothesis, an equality",
            lambda c: c.results.hypothesis("x1 = 0"),
            ArgumentError,
            "an exact equality has probability zero",
        ),
        (
            "hypothesis, a backtick too few",
            lambda c: c.results.hypothesis("`g[T.b] > 0"),
            ArgumentError,
            "cannot read '`g[T.b]'",
        ),
        (
            "hypothesis, a number too large",
            lambda c: c.results.hypothesis("x1 > 1e400"),
            ArgumentError,
            "'1e400' is too large, or infinite",
        ),
        *[
            (
                f"conf_int(alpha={v!r})",
                lambda c, v=v: c.results.conf_int(v),
                ArgumentError,
                f"alpha={v!r} must be a number between 0 and 1; give e.g. 0.05",
            )
            for v in ("a", None, [0.1], 1, -0.1, np.array([0.1, 0.2]))
        ],
        (
            "conf_int(cols='x3')",
            lambda c: c.results.conf_int(cols="x3"),
            ArgumentError,
            "cols: 'x3' is not a parameter; they are: Intercept, g[T.b]",
        ),
        (
            "conf_int(cols=[0])",
            lambda c: c.results.conf_int(cols=[0]),
            ArgumentError,
            "cols: 0 is not a parameter; they are: Intercept",
        ),
        (
            "conf_int(cols=3)",
            lambda c: c.results.conf_int(cols=3),
            ArgumentError,
            "cols=3 must be a list of parameters",
        ),
        (
            "ess(method='bulky')",
            lambda c: c.results.ess("bulky"),
            ArgumentError,
            "method='bulky' must be one of 'bulk', 'tail', 'mean', 'sd'; did you mean 'bulk'?",
        ),
        (
            "summary(xname=['a'])",
            lambda c: c.results.summary(xname=["a"]),
            ArgumentError,
            lambda case: f"xname=['a'] must be {case.d + 1} names, one for each parameter",
        ),
        (
            "pvalues",
            lambda c: c.results.pvalues,
            AttributeError,
            "pvalues has no meaning for a posterior; use prob_positive",
        ),
        (
            "predict before a fit",
            lambda c: c.model(c.y, X).predict(X),
            AttributeError,
            "object has no attribute 'predict': fit() returns the results, which have it",
        ),
        (
            "save to a folder that is not",
            lambda c: c.results.save("no/such/folder/fit.sgmc"),
            ArgumentError,
            "path='no/such/folder/fit.sgmc' must be a file in a folder that exists",
        ),
        (
            "load a file that is not",
            lambda c: sgmc.load("no/such/file"),
            FileNotFoundError,
            "no/such/file",
        ),
        (
            "load a file of another kind",
            lambda c: sgmc.load(FOREIGN),
            ArgumentError,
            "is not a file written by Results.save, or it is damaged",
        ),
    ]
]

# ---- warned of -----------------------------------------------------------------------------------

OF_DOUBT = [
    Entry(label, call, warning, text)
    for label, call, warning, text in [
        (
            "more coefficients than rows",
            lambda c: c.arrays(c.y[:20], np.random.default_rng(1).normal(size=(20, 25))),
            ConditionWarning,
            ": there are only 20 rows",
        ),
        (
            "a constant column",
            lambda c: c.formula("y ~ x1 + w"),
            ConditionWarning,
            "the coefficient of w: collinear predictors or almost constant columns",
        ),
        (
            "a column of zeros",
            lambda c: c.arrays(c.y, np.column_stack([X, np.zeros(N)])),
            ConditionWarning,
            "the coefficient of x4",
        ),
        (
            "a column twice",
            lambda c: c.formula("y ~ x1 + twin", twin=X[:, 1]),
            ConditionWarning,
            "1 combination of the coefficients of x1, twin",
        ),
        (
            "an intercept twice",
            lambda c: c.arrays(c.y, np.column_stack([X, np.ones(N)])),
            ConditionWarning,
            "the coefficient of x4",
        ),
        (
            "the dot and a date",
            lambda c: c.verb("y ~ .", c.frame[["y", "x1"]].assign(t=pd.Timestamp("2020")), seed=1),
            ColumnsLeftOutWarning,
            "the dot leaves out 't' (dates)",
        ),
    ]
]
