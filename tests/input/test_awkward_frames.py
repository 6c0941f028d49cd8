"""Frames of awkward kinds, names, levels and missing values."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from .cases import N, X, of_every_kind
from .comparisons import assert_same

# ---- frames --------------------------------------------------------------------------------------

FRAMES = {
    "lists": lambda df: df.to_dict("list"),
    "arrays": lambda df: {k: v.to_numpy() for k, v in df.items()},
    "nullable": lambda df: df.convert_dtypes(),
    "another index": lambda df: df.set_index(pd.Index(np.arange(N) * 7)),
    "a column as index": lambda df: df.set_index("w"),
    "columns reversed": lambda df: df[df.columns[::-1]],
    "dates unused": lambda df: df.assign(unused=pd.NaT),
    "MultiIndex rows": lambda df: df.set_index([np.arange(N) // 2, np.arange(N) % 2]),
    "rows of one label": lambda df: df.set_index(np.zeros(N)),
    "float64 as objects": lambda df: df.astype({"x1": object, "x2": object}),
    "Decimal": lambda df: df.assign(x2=[Decimal(v) for v in df.x2]),
    "a list as one cell": lambda df: df.assign(unused=[[1]] * N),
    "text as category": lambda df: df.astype({"g": "category"}),
    "text as objects": lambda df: df.astype({"g": object}),
    "levels unused": lambda df: df.assign(g=pd.Categorical(df.g, categories=list("zabc"))),
    "big-endian": lambda df: df.assign(x1=df.x1.to_numpy().astype(">f8")),
    "Fortran order": lambda df: df.copy(),
    "strided": lambda df: pd.DataFrame(
        {name: np.repeat(df[name].to_numpy(), 2)[::2] for name in df}
    ),
}


@pytest.mark.cover(1)
@of_every_kind
@pytest.mark.parametrize("kind", FRAMES)
def test_kinds_of_frames(case, kind):
    found = case.verb("y ~ x1 + x2 + g", FRAMES[kind](case.frame), seed=1)
    assert found.names == case.results.names
    np.testing.assert_allclose(found.draws, case.results.draws, rtol=1e-9)


@pytest.mark.cover(0)
@of_every_kind
@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "größe",
        "x²",
        "变量",
        "1st",
        "class",
        "x.1",
        "C",
        "",
        "`tick`",
        "a:b",
        "Intercept",
        "\n",
    ],
    ids=repr,
)
def test_awkward_column_names(case, name):
    frame = case.frame[["y", "x1", "x2"]].rename(columns={"x2": name})
    found = case.verb("y ~ .", frame, seed=1)
    assert_same(found, case.verb("y ~ x1 + x2", case.frame, seed=1))
    assert len(set(found.names)) == case.d == len(found.names)
    assert max(map(len, found.summary().as_text().split("\n"))) <= 78
    np.testing.assert_allclose(found.predict(frame), found.predict(), rtol=1e-9)


@pytest.mark.extended
@of_every_kind
def test_missing_values_of_every_kind_are_dropped_and_counted(case):
    gone = np.arange(N) % 10 == 3
    kept = case.verb("y ~ x1 + g", case.frame[~gone], seed=1)
    for values in (
        case.frame.x1.mask(gone),
        case.frame.x1.astype("Float64").mask(gone),
        np.where(gone, None, case.frame.x1),
    ):
        found = case.verb("y ~ x1 + g", case.frame.assign(x1=values), seed=1)
        assert_same(found, kept)
        assert "20 rows with missing values were dropped." in found.summary().as_text()
    levels = case.verb(
        "y ~ x1 + g", case.frame.assign(g=pd.Categorical(case.frame.g.where(~gone))), seed=1
    )
    assert_same(levels, kept)


@of_every_kind
def test_unused_levels_of_new_data(case):
    new = case.frame.assign(g=pd.Categorical(case.frame.g, categories=["z", "b", "a"]))
    np.testing.assert_array_equal(case.results.predict(new), case.results.predict(case.frame))


@pytest.mark.cover(0)
@of_every_kind
def test_without_an_intercept(case):
    slopes = case.verb("y ~ 0 + x1", case.frame, seed=1)
    levels = case.verb("y ~ g - 1", case.frame, seed=1)
    assert slopes.names == ["x1", *case.auxiliary]
    assert levels.names == ["g[a]", "g[b]", *case.auxiliary]
    assert slopes.df_model == 1
    assert_same(slopes, case.model(case.y, X[:, [1]]).fit(seed=1))
    assert case.verb("y ~ 1", case.frame, seed=1).names == ["Intercept", *case.auxiliary]


@of_every_kind
def test_what_is_missing_in_new_data_is_missing_in_predictions(case):
    gaps = case.frame.assign(x1=case.frame.x1.where(np.arange(N) % 3 > 0), x2=None)
    assert case.results.predict(gaps).isna().all()
    assert case.results.predict(gaps.assign(x2=0.5)).isna().tolist() == [
        i % 3 == 0 for i in range(N)
    ]
    rows = np.where(np.arange(N)[:, None] % 3 > 0, X, np.nan)
    assert np.isnan(case.of_arrays.predict(rows)).tolist() == [i % 3 == 0 for i in range(N)]
    offset = np.where(np.arange(N) % 3 > 0, 0.5, np.nan)
    assert np.isnan(case.of_arrays.predict(X, offset=offset)).tolist() == [
        i % 3 == 0 for i in range(N)
    ]


@of_every_kind
def test_kinds_of_new_data(case):
    expected = case.of_arrays.predict(X)
    for new in (
        X.tolist(),
        X.astype(object),
        sparse.csr_array(X),
        pd.DataFrame(X, columns=["one", "a", "b"]),
        pd.DataFrame(X),
        np.asfortranarray(X),
    ):
        np.testing.assert_allclose(case.of_arrays.predict(new), expected, rtol=1e-12)
    assert len(case.results.predict(case.frame.iloc[:0])) == 0
