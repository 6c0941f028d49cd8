"""Rows of the bad-input table: of two classes only, and of real outcomes only."""

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import ArgumentError, DataError, SeparationWarning

from .cases import Entry, N, X, changed

# ---- of two classes only -------------------------------------------------------------------------

OF_CLASSES = [
    Entry(label, call, error, text)
    for label, call, error, text in [
        (
            "a batch of fewer rows than strata",
            lambda c: c.fit(sampler="sgld", subsample="stratified", batch_size=1),
            ArgumentError,
            (
                "batch_size=1 is less than the 2 strata of subsample='stratified'; a batch has a "
                "row of each"
            ),
        ),
        ("exposure", lambda c: c.fit(exposure="w"), ArgumentError, "exposure does not apply to"),
        (
            "all 0",
            lambda c: c.arrays(np.zeros(N), X),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "all 1",
            lambda c: c.arrays(np.ones(N), X),
            SeparationWarning,
            "all outcomes are the same",
        ),
        ("1 and 2", lambda c: c.model(c.y + 1, X), DataError, "the outcome 'y' must be 0 or 1"),
        ("0 and 0.5", lambda c: c.model(c.y / 2, X), DataError, "the outcome 'y' must be 0 or 1"),
        (
            "-1 and 1",
            lambda c: c.model(2 * c.y - 1, X),
            DataError,
            "the outcome 'y' must be 0 or 1",
        ),
        (
            "counts below 0",
            lambda c: c.formula("n + m ~ x1", n=3, m=-c.y),
            DataError,
            "column 'm' must hold counts, 0, 1, 2, ..; it has -1",
        ),
        (
            "shares as counts",
            lambda c: c.formula("n + m ~ x1", n=c.y / 2, m=1),
            DataError,
            "column 'n' must hold counts, 0, 1, 2, ..; it has 0.5",
        ),
        (
            "counts that are text",
            lambda c: c.formula("y + g ~ x1"),
            DataError,
            "column 'g' of the response 'y + g' must hold counts",
        ),
        (
            "counts without trials",
            lambda c: c.formula("y + m ~ x1", y=0, m=0),
            DataError,
            "the counts 'y + m' are 0 in every row used: there is nothing to explain",
        ),
        (
            "endogs below 0",
            lambda c: c.model(np.column_stack([c.y, -c.y]), X),
            DataError,
            "endog: column 'failures' must hold counts",
        ),
        (
            "y ~ x1, y constant",
            lambda c: c.formula("y ~ x1", y=1),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "y ~ x1, one class in the subset",
            lambda c: c.verb("y ~ x1", c.frame, subset="y > 0", seed=1),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "y ~ x1, one class among complete rows",
            lambda c: c.formula("y ~ x1", x1=np.where(c.y > 0, X[:, 1], np.nan)),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "y ~ x1, y of 0 .. 199",
            lambda c: c.formula("y ~ x1", y=np.arange(N)),
            DataError,
            "the response 'y' must be 0 or 1",
        ),
        (
            "y ~ x1, y of three words",
            lambda c: c.formula("y ~ x1", y=list("abc" * 66 + "ab")),
            DataError,
            "the response 'y' has 3 levels, 'a', 'b', 'c': compare with one of them",
        ),
        (
            "one row",
            lambda c: c.verb("y ~ x1", c.frame.iloc[:1], seed=1),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "one row of arrays",
            lambda c: c.arrays(c.y[:1], X[:1]),
            SeparationWarning,
            "all outcomes are the same",
        ),
        (
            "y ~ x1, y of one word",
            lambda c: c.formula("y ~ x1", y="a"),
            SeparationWarning,
            "the response 'y' is 'a' in every row used, which is taken as success",
        ),
        (
            "complete separation",
            lambda c: c.formula("y ~ x1", x1=2 * c.y + X[:, 2] / 10),
            SeparationWarning,
            "the predictors separate the outcomes completely",
        ),
        (
            "quasi-separation",
            lambda c: c.formula("y ~ x1 + q", q=((c.y == 1) & (X[:, 1] > 0)).astype(int)),
            SeparationWarning,
            "some values of q have only one outcome (quasi-complete separation)",
        ),
        (
            "quasi-separation by a level",
            lambda c: c.formula("y ~ x1 + q", q=np.where((c.y == 1) & (X[:, 1] > 0), "u", "v")),
            SeparationWarning,
            "some values of q[T.v] have only one outcome",
        ),
        (
            "separation with more coefficients than rows",
            lambda c: c.arrays(c.y[:20], np.random.default_rng(1).normal(size=(20, 25))),
            SeparationWarning,
            "the predictors separate the outcomes completely",
        ),
    ]
]

# ---- of real outcomes only -----------------------------------------------------------------------

OF_REALS = [
    Entry(label, call, error, text)
    for label, call, error, text in [
        ("exposure", lambda c: c.fit(exposure="w"), ArgumentError, "exposure does not apply to"),
        (
            "all alike",
            lambda c: c.model(np.full(N, 2.5), X),
            DataError,
            "the outcome 'y' is 2.5 in every row used",
        ),
        (
            "y ~ x1, y constant",
            lambda c: c.formula("y ~ x1", y=2.5),
            DataError,
            "the outcome 'y' is 2.5 in every row used",
        ),
        (
            "y ~ x1, one value in the subset",
            lambda c: c.verb("y ~ x1", c.frame.assign(y=np.arange(N) // 100), subset="y > 0"),
            DataError,
            "the outcome 'y' is 1 in every row used",
        ),
        (
            "y ~ x1, one value among complete rows",
            lambda c: c.formula(
                "y ~ x1", y=np.arange(N) % 2, x1=np.where(np.arange(N) % 2, 1.5, np.nan)
            ),
            DataError,
            "the outcome 'y' is 1 in every row used",
        ),
        (
            "one value among rows with weight",
            lambda c: c.model(c.y, X, weights=np.arange(N) == 3),
            DataError,
            "in every row used",
        ),
        (
            "y ~ x1, one value among rows with weight",
            lambda c: c.verb(
                "y ~ x1", c.frame.assign(y=np.arange(N) // 100, w=np.arange(N) // 100), weights="w"
            ),
            DataError,
            "is 1 in every row used",
        ),
        ("one row", lambda c: c.verb("y ~ x1", c.frame.iloc[:1]), DataError, "in every row used"),
        ("one row of arrays", lambda c: c.model(c.y[:1], X[:1]), DataError, "in every row used"),
        (
            "y infinite in a row",
            lambda c: c.model(changed(c.y, np.inf), X),
            DataError,
            "endog has missing or infinite values",
        ),
        (
            "y ~ x1, y infinite in a row",
            lambda c: c.formula("y ~ x1", y=changed(c.y, -np.inf)),
            DataError,
            "the response 'y' is infinite",
        ),
        (
            "y ~ x1, log of zeros",
            lambda c: c.formula("np.log(y) ~ x1", y=np.zeros(N)),
            DataError,
            "'np.log(y)' is infinite",
        ),
        (
            "y too large to square",
            lambda c: c.model(1e160 * c.y, X),
            DataError,
            "the outcome 'y' has an sd of",
        ),
        (
            "y ~ x1, y too small to square",
            lambda c: c.formula("y ~ x1", y=1e-160 * c.y),
            DataError,
            "rescale the column",
        ),
        (
            "y ~ x1, y of words",
            lambda c: c.formula("y ~ x1", y="a"),
            DataError,
            "the response 'y' must be numeric, it holds 'a'",
        ),
        (
            "y ~ x1, y of numbers as text",
            lambda c: c.formula("y ~ x1", y=c.y.astype(str)),
            DataError,
            "the response 'y' must be numeric, it holds '",
        ),
        (
            "y ~ x1, y a category of numbers",
            lambda c: c.formula("y ~ x1", y=pd.Categorical(np.rint(c.y))),
            DataError,
            "the response 'y' must be numeric",
        ),
        (
            "y ~ x1, y a date",
            lambda c: c.formula("y ~ x1", y=pd.Timestamp("2020-01-01")),
            DataError,
            "the response 'y' must be numeric",
        ),
        (
            "y ~ x1, y complex",
            lambda c: c.formula("y ~ x1", y=1j * c.y),
            DataError,
            "the response 'y' must be numeric",
        ),
        (
            "a prior for none of the parameters",
            lambda c: c.fit(prior={"sigmaa": sgmc.exponential(1.0)}),
            ArgumentError,
            "prior: 'sigmaa' is neither a term nor a column of the design; did you mean 'sigma'?",
        ),
        (
            "a prior of correlations for a coefficient",
            lambda c: c.fit(prior={"x1": sgmc.lkj(1.0)}),
            ArgumentError,
            "is for correlations of a group's effects, 'x1' is none",
        ),
        (
            "hypothesis of sigm",
            lambda c: c.results.hypothesis("sigm > 1"),
            ArgumentError,
            "'sigm' is not a parameter; did you mean 'sigma'?",
        ),
        (
            "init without sigma",
            lambda c: c.fit(init=np.zeros(3)),
            ArgumentError,
            "init has shape (3,); it must be (4,) or (4, 4); give one number for each parameter, "
            "sigma last",
        ),
        (
            "init of sigma 0",
            lambda c: c.fit(init=np.zeros(4)),
            ArgumentError,
            "init: 'sigma' is 0; it must be positive",
        ),
        (
            "init of sigma -1 in a chain",
            lambda c: c.fit(init=np.ones((4, 4)) - 2 * (np.arange(16).reshape(4, 4) == 11)),
            ArgumentError,
            "init: 'sigma' is -1; it must be positive",
        ),
    ]
]
