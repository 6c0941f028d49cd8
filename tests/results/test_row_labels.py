"""Pandas in, pandas out; polars in, polars out; arrays in, arrays out: the numbers are the same."""

import numpy as np
import pandas as pd
import pytest

import sgmc

HOW = dict(seed=1, progress=False)
ROWS = ("fittedvalues", "resid_response", "resid_pearson", "resid_deviance")


def frame(n=200, seed=0):
    """Rows with labels, in no order, of which two lack something."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "g": rng.integers(0, 6, n),
            "k": rng.integers(0, 3, n),
        },
        index=[f"person {i}" for i in rng.permutation(n)],
    )
    made["y"] = (rng.random(n) < 1 / (1 + np.exp(-made.x))).astype(int)
    made["z"] = made.x + rng.normal(size=n)
    made.iloc[[3, 50], 0] = np.nan
    return made


FRAME = frame()
KEPT = FRAME.dropna().index


def test_what_a_row_has_is_labelled_by_its_row():
    res = sgmc.logit("y ~ x", FRAME, **HOW)
    for name in ROWS:
        found = getattr(res, name)
        assert isinstance(found, pd.Series) and found.index.equals(KEPT)
    assert res.residuals("pearson").index.equals(KEPT)
    expected = res.predict(FRAME)  # of new rows: NaN where something is missing
    np.testing.assert_allclose(res.fittedvalues, expected[KEPT], rtol=1e-12)
    np.testing.assert_allclose(FRAME.y[KEPT] - res.fittedvalues, res.resid_response, rtol=1e-12)
    assert res.predict().index.equals(KEPT)
    prediction = res.get_prediction()
    assert prediction.predicted_mean.index.equals(KEPT)
    assert prediction.summary_frame().index.equals(prediction.conf_int().index)
    assert prediction.summary_frame().index.equals(KEPT)
    joined = FRAME.assign(fit=res.fittedvalues)  # aligned by label
    assert joined.fit.isna().sum() == 2


def test_labels_by_position_would_be_seen():
    """Rows that were dropped shift all that come after them."""
    res = sgmc.logit("y ~ x", FRAME, **HOW)
    wrong = pd.Series(np.asarray(res.fittedvalues), FRAME.index[: len(KEPT)])
    right = res.predict(FRAME)
    assert np.abs(wrong - right[wrong.index])[4:].max() > 0.1


@pytest.mark.parametrize("how", [dict(subset="x > 0"), dict(subset=np.arange(200) % 3 == 0)])
def test_rows_of_a_subset_keep_their_labels(how):
    res = sgmc.ols("z ~ x", FRAME, **how, **HOW)
    expected = res.predict(FRAME)[res.fittedvalues.index]
    np.testing.assert_allclose(res.fittedvalues, expected, rtol=1e-12)
    assert len(res.fittedvalues) == res.nobs < 150


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "formula", ["z ~ x + (1 | g)", "z ~ x + (1 | g) + (1 | k)", "z ~ s(x, k=4)"]
)
def test_models_with_effects_label_their_rows(formula):
    res = sgmc.ols(formula, FRAME, **HOW)
    assert res.fittedvalues.index.equals(KEPT)
    np.testing.assert_allclose(res.fittedvalues, res.predict(FRAME)[KEPT], rtol=1e-6)
    assert res.get_prediction().summary_frame().index.equals(KEPT)


def test_arrays_of_numpy_give_arrays_and_series_their_index():
    X = np.column_stack([np.ones(200), FRAME.x.fillna(0)])
    res = sgmc.Logit(FRAME.y.to_numpy(), X).fit(**HOW)
    assert all(type(getattr(res, name)) is np.ndarray for name in ROWS)
    of_series = sgmc.Logit(FRAME.y, pd.DataFrame(X, FRAME.index)).fit(**HOW)
    assert of_series.fittedvalues.index.equals(FRAME.index)
    np.testing.assert_array_equal(of_series.fittedvalues, res.fittedvalues)
    columns = {name: FRAME[name].to_numpy() for name in FRAME}
    assert type(sgmc.logit("y ~ x", columns, **HOW).fittedvalues) is np.ndarray


def test_kinds_are_columns():
    res = sgmc.mnlogit("k ~ x", FRAME, **HOW)
    assert list(res.fittedvalues.columns) == [0, 1, 2] and res.fittedvalues.index.equals(KEPT)
    np.testing.assert_allclose(res.fittedvalues.sum(axis=1), 1.0)


def test_polars_gives_polars(tmp_path):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({name: FRAME[name].to_numpy() for name in FRAME})
    table = table.with_columns(polars.col("x").fill_nan(None))
    ours, theirs = (sgmc.logit("y ~ x", one, **HOW) for one in (table, FRAME))
    for name in ROWS:
        found = getattr(ours, name)
        assert isinstance(found, polars.Series)
        np.testing.assert_array_equal(found.to_numpy(), getattr(theirs, name))
    new = table.drop_nulls().head(5)
    assert isinstance(ours.predict(new), polars.Series)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(FRAME.dropna().head(5)))
    summary = ours.get_prediction(new).summary_frame()
    assert isinstance(summary, polars.DataFrame) and summary.columns[0] == "mean"
    assert ours.get_prediction(new).conf_int().columns == ["0", "1"]
    kinds = sgmc.mnlogit("k ~ x", table, **HOW)
    assert kinds.predict(new).columns == ["0", "1", "2"]
    assert kinds.get_prediction(new).summary_frame().columns[:2] == ["row", "k"]
    for k, res in enumerate((ours, theirs)):
        res.residuals(to=tmp_path / f"{k}.csv")
        res.predict(to=tmp_path / f"fit{k}.csv")
    for name in ("{}.csv", "fit{}.csv"):
        first, second = (pd.read_csv(tmp_path / name.format(k)) for k in (0, 1))
        pd.testing.assert_frame_equal(first, second)


def test_labels_are_not_saved_and_survive_a_resumed_run(tmp_path):
    res = sgmc.logit("y ~ x", FRAME, **HOW)
    more = res.resume(draws=1200)
    assert more.fittedvalues.index.equals(KEPT)
    res.save(tmp_path / "a.sgmc")
    assert b"person 7" not in (tmp_path / "a.sgmc").read_bytes()
    loaded = sgmc.load(tmp_path / "a.sgmc")
    again = loaded.resume(draws=1200, data=FRAME)
    assert again.fittedvalues.index.equals(KEPT)


def test_updated_fits_label_the_new_rows():
    res = sgmc.logit("y ~ x", FRAME, **HOW)
    new = frame(100, 1)
    assert res.update(new).fittedvalues.index.equals(new.dropna().index)


def test_effects_by_row_have_labels():
    """Beside predictions they are assigned by these: missing rows, subsets and other orders move
    nothing; `rowid` is the number of the row in the table.
    """
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"x": rng.normal(size=40), "g": list("abcd") * 10})
    df["y"] = df.x + rng.normal(size=40)
    df.loc[[1, 4, 7], "x"] = np.nan
    res = sgmc.ols("y ~ x + g", df, seed=1, subset="y > -1")
    found = res.predictions()
    np.testing.assert_array_equal(found.index, found.rowid)
    beside = df.assign(a=found.estimate, b=res.fittedvalues).dropna()
    assert len(beside) == len(found) < 37
    np.testing.assert_allclose(beside.a, beside.b)
    new = df.dropna().sample(frac=1, random_state=1)
    beside = new.assign(p=res.predictions(new).estimate)
    np.testing.assert_allclose(beside.p, res.predict(new))
    slopes = res.slopes(data=new)  # a line a row and term
    of_x = slopes[slopes.term == "x"]
    assert of_x.index.equals(new.index) and list(of_x.rowid) == list(range(len(new)))
    np.testing.assert_array_equal(of_x.x, new.x)
