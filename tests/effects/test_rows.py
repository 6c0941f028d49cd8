"""Where rows come from: arrays, files, groups, smooths, saved fits; grids."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError

from .cases import fitted, means_of, row, table

N = 2000


@pytest.mark.extended
def test_arrays_have_columns_by_name():
    df = table(N)
    X = np.column_stack([np.ones(N), df.x, df.z])
    res = sgmc.Logit(df.hit, X).fit(seed=1)
    found = res.avg_slopes()
    assert list(found.term) == ["x2", "x3"]  # a constant has no slope
    p = 1 / (1 + np.exp(-X @ res.flat.T))
    wanted = (p * (1 - p) * res.flat[:, 1]).mean(axis=0)
    np.testing.assert_allclose(found.draws[0], wanted, rtol=1e-6)
    sparse = sgmc.Logit(df.hit, scipy.sparse.csr_array(X)).fit(seed=1)
    np.testing.assert_allclose(sparse.avg_slopes().estimate, found.estimate, atol=1e-4)
    np.testing.assert_allclose(res.predictions(X[:3]).draws, p[:3], rtol=1e-10)
    grid = sgmc.datagrid(res, x2=[-1, 1])
    assert list(grid.columns) == ["const", "x2", "x3"] and grid.x3[0] == pytest.approx(df.z.mean())
    assert len(res.predictions(grid)) == 2


@pytest.mark.extended
def test_files_are_read_in_pieces(tmp_path, monkeypatch):
    from sgmc.results.effects import places

    res, df = fitted("logit", n=N), table(N)
    df.to_csv(tmp_path / "rows.csv", index=False)
    wanted = res.avg_comparisons(by="g")
    monkeypatch.setattr(places, "CHUNK_ROWS", 300)
    found = res.avg_comparisons(data=tmp_path / "rows.csv", by="g")
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted))
    pd.testing.assert_frame_equal(
        pd.DataFrame(res.predictions(tmp_path / "rows.csv")), pd.DataFrame(res.predictions())
    )


@pytest.mark.extended
def test_saved_fits_need_rows(tmp_path):
    res = fitted("logit", n=N)
    res.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    with pytest.raises(ArgumentError, match="give data="):
        loaded.avg_slopes()
    np.testing.assert_allclose(loaded.avg_slopes(data=table(N)).draws, res.avg_slopes().draws)


def test_rows_that_were_left_out_stay_out():
    df = table(N).copy()
    df.loc[:99, "x"] = np.nan
    res = sgmc.logit("hit ~ x + g", df, seed=1, subset="z < 3")
    used = df[df.x.notna() & (df.z < 3)]
    wanted = means_of(res, used).mean(axis=0)
    np.testing.assert_allclose(res.avg_predictions().draws[0], wanted, rtol=1e-9)
    assert np.isnan(res.predictions(df.head(3)).estimate).all()
    with pytest.raises(DataError, match="row 0 of the data lacks a variable"):
        res.avg_predictions(df)


def test_a_table_that_is_changed_later_does_not_count():
    df = table(N).copy()
    res = sgmc.logit("hit ~ x", df, seed=1)
    before = res.avg_predictions().estimate[0]
    df["x"] = 5.0
    assert res.avg_predictions().estimate[0] == before


def test_groups_are_at_zero_and_smooths_included():
    rng = np.random.default_rng(3)
    df = table(N).assign(u=rng.integers(0, 20, N))
    df["v"] = df.y + rng.normal(size=20)[df.u]
    res = sgmc.ols("v ~ x + g + (1 | u)", df, seed=1)
    found = res.avg_predictions(by="g")
    at_zero = res.predict(df, random=False).groupby(df.g).mean()
    np.testing.assert_allclose(found.estimate, at_zero.loc[found.g], rtol=1e-9)
    np.testing.assert_allclose(res.avg_slopes("x").estimate, res.params["x"], rtol=1e-8)


@pytest.mark.extended
def test_slopes_of_smooths():
    """sin(x) has the slope cos(x)."""
    rng = np.random.default_rng(4)
    df = pd.DataFrame({"x": rng.uniform(0, 6, 3000)})
    df["y"] = np.sin(df.x) + rng.normal(scale=0.1, size=3000)
    res = sgmc.ols("y ~ s(x)", df, seed=1)
    grid = sgmc.datagrid(res, x=np.linspace(0.5, 5.5, 11))
    found = res.slopes("x", grid)
    assert np.abs(found.estimate - np.cos(grid.x)).max() < 0.06


def test_typical_values():
    df = table(N)
    grid = sgmc.datagrid(df, x=[0, 1], g=["c", "a"])
    assert len(grid) == 4 and grid.g.tolist() == ["c", "a", "c", "a"]
    assert grid.z[0] == pytest.approx(df.z.mean()) and grid.b[0] == df.b.mode()[0]
    weighted = sgmc.datagrid(fitted("logit", n=N, weights="w"), x=np.median)
    assert weighted.z[0] == pytest.approx(np.average(df.z, weights=df.w))
    assert weighted.x[0] == df.x.median()
    many = sgmc.datagrid(df[["x", "g"]], g=["a", "b"], grid_type="counterfactual")
    assert len(many) == 2 * N and many.rowidcf.tolist() == [*range(N)] * 2
    assert (many.g[:N] == "a").all() and (many.x[N:].to_numpy() == df.x).all()
    levels = df.assign(g=df.g.astype("category"))
    assert sgmc.datagrid(levels, x=1).g.dtype == levels.g.dtype


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda r, d: r.avg_slopes("xx"), ArgumentError, "'xx' is not a variable.*mean 'x'"),
        (lambda r, d: r.avg_predictions(by="gg"), ArgumentError, "by='gg' is not a column"),
        (lambda r, d: r.avg_predictions(d, by="gg"), DataError, "by='gg' is not a column"),
        (lambda r, d: r.comparisons({"g": ["a", "q"]}), ArgumentError, "no level 'q'"),
        (lambda r, d: r.comparisons({"x": "wide"}), ArgumentError, "one of 'sd', '2sd'"),
        (lambda r, d: r.comparisons({"g": 3}), ArgumentError, "one of 'reference'"),
        (lambda r, d: r.comparisons("x", comparison="ratios"), ArgumentError, "comparison="),
        (
            lambda r, d: r.comparisons("x", comparison="ratio", type="link"),
            ArgumentError,
            "outcomes",
        ),
        (lambda r, d: r.predictions(d[["x"]]), FormulaError, "no column 'z'"),
        (lambda r, d: r.predictions(level=95), ArgumentError, "level=95"),
        (lambda r, d: r.predictions(weights="w"), ArgumentError, "weights belongs to new rows"),
        (lambda r, d: r.avg_predictions(d, weights=-1), DataError, "weights"),
        (lambda r, d: r.slopes({"x": 1}), ArgumentError, "comparisons"),
        (lambda r, d: sgmc.datagrid(r, q=1), ArgumentError, "'q' is not a variable"),
        (lambda r, d: sgmc.datagrid(r, x=[]), ArgumentError, "x has no values"),
        (lambda r, d: r.predictions(variables={"g": "q"}), ArgumentError, "no level 'q'"),
        (lambda r, d: r.avg_predictions(d.assign(h=np.nan), by="h"), DataError, "missing values"),
        (lambda r, d: r.predictions(d.head(0)), DataError, "no rows"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_errors_name_the_argument(call, error, words):
    with pytest.raises(error, match=words):
        call(fitted("logit", n=N), table(N))


@pytest.mark.extended
def test_groups_are_in_order():
    df = table(N)
    levels = df.assign(g=pd.Categorical(df.g, ["c", "a", "b"]))
    res = sgmc.logit("hit ~ x + g", levels, seed=1)
    assert list(res.avg_predictions(by="g").g) == ["c", "a", "b"]
    assert list(res.avg_comparisons("g").contrast) == ["a - c", "b - c"]
    assert len(res.comparisons({"g": "pairwise"}, df.head(2))) == 6
    assert list(res.avg_comparisons({"g": "all"}).contrast)[3:] == ["c - a", "c - b", "a - b"]
    assert list(res.avg_comparisons({"g": ["a", "b"]}).contrast) == ["b - a"]
    estimate, _ = row(res.avg_predictions(by=["g", "b"]), g="a", b=True)
    at = (df.g == "a") & df.b
    assert estimate.estimate == pytest.approx(res.predict(levels)[at].mean())
