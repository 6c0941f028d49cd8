"""Chunks, pickles and new data: what a formula has memorized."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sgmc import formula
from sgmc.errors import ArgumentError, FormulaError, RowsLeftOutWarning

from .designs import N, design


@pytest.mark.extended("1-y ~ (.)^2 + bs(x1, df=4) + C(g, Sum)")
@pytest.mark.parametrize(
    "text", ["y ~ .", "y ~ (.)^2 + bs(x1, df=4) + C(g, Sum)", "y ~ 1", "y ~ 0 + g"]
)
@pytest.mark.parametrize("chunk", [1, 7, N, 1000])
def test_fill_by_chunks_and_positions(frame, rng, text, chunk):
    frame.loc[[0, 11, 12, 59], "x1"] = np.nan
    table = formula.read(text, frame)
    whole = design(table)
    position = rng.permutation(len(table.rows))
    permuted = design(table, position=position, chunk=chunk)
    np.testing.assert_array_equal(permuted[position], whole)
    np.testing.assert_array_equal(design(table, chunk=chunk), whole)
    np.testing.assert_array_equal(design(table, np.float32, chunk=chunk), whole.astype(np.float32))


def test_fill_checks_the_shape(frame):
    with pytest.raises(ArgumentError, match=r"\(60, 2\)"):
        formula.read("y ~ x1", frame).fill(np.empty((N, 3)))


def test_memorizing_in_chunks_equals_memorizing_at_once(frame, monkeypatch):
    text = "y ~ standardize(x1) + center(x2) + C(g) + bs(x1, df=4) + np.where(x1 > 0, 'p', 'n')"
    whole = design(formula.read(text, frame))
    monkeypatch.setattr(formula.reader, "CHUNK_ROWS", 7)
    np.testing.assert_allclose(design(formula.read(text, frame)), whole, rtol=1e-12, atol=1e-12)


def test_data_are_not_changed(frame):
    frame["i"] = pd.array([1, None, 3] * 20, dtype="Int64")
    frame["c"] = frame.g.astype("category")
    before = frame.copy(deep=True)
    design(formula.read("y ~ . + C(g)", frame, subset="x1 < 2", weights="x2"))
    pd.testing.assert_frame_equal(frame, before)
    data = {"y": np.array([0, 1]), "x": np.array([1.0, 2.0])}
    formula.read("y ~ x", data).fill(np.empty((2, 2)))
    assert list(data) == ["y", "x"] and type(data["x"]) is np.ndarray


STATEFUL = (
    "y ~ standardize(x1) + center(x2) + bs(x1, df=5) + cr(x2, df=3) + C(g, Sum):flag + np.log(x2)"
)
STATEFUL += " + te(cr(x1, df=3), cr(x2, df=3))"


def test_stateful_transforms_remember_through_a_pickle(frame):
    table = formula.read(STATEFUL, frame)
    text = pickle.dumps(table.spec)
    assert len(text) < 20_000
    again = pickle.loads(text)
    new = frame.iloc[10:30].sample(frac=1, random_state=1).reset_index(drop=True)
    whole = design(table)
    expected = whole[frame.iloc[10:30].sample(frac=1, random_state=1).index]
    np.testing.assert_allclose(table.spec.matrix(new), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again.matrix(new), table.spec.matrix(new))
    for name in (
        "formula",
        "expanded",
        "endog_name",
        "exog_names",
        "term_slices",
        "levels",
        "has_intercept",
        "columns",
    ):
        assert getattr(again, name) == getattr(table.spec, name)


def test_pickle_holds_no_data(rng):
    n = 20_000
    data = pd.DataFrame(
        {"y": np.arange(n) % 2, "x1": rng.normal(size=n), "x2": rng.uniform(1, 2, n)}
    )
    data["g"] = rng.choice(list("abcd"), n)
    assert len(pickle.dumps(formula.read(STATEFUL, data.assign(flag=data.x1 > 0)).spec)) < 20_000
    assert len(pickle.dumps(formula.read("y ~ .", data).spec)) < 3_000


def test_new_data(frame):
    table = formula.read("y ~ x1 + g + C(y) + np.log(x2)", frame)
    new = pd.DataFrame(
        {
            "x1": [1, np.nan, 2, 3],
            "g": ["c", "a", None, "b"],
            "y": [1, 0, 1, 0],
            "x2": [1.0, 1, 1, -1],
        }
    )
    with pytest.warns(
        RowsLeftOutWarning, match=r"'np.log\(x2\)' .* row 3, where x2 = -1.0: .* NaN"
    ):
        built = table.spec.matrix(new)
    np.testing.assert_array_equal(built[0], [1, 0, 1, 1, 1, 0])
    assert np.isnan(built[1:]).all()
    known = new.iloc[:3]
    np.testing.assert_array_equal(table.spec.matrix(known.to_dict("list"))[0], built[0])
    assert table.spec.matrix(new.iloc[:0]).shape == (0, 6)
    assert formula.read("y ~ 1", frame).spec.matrix(new).tolist() == [[1.0]] * 4
    category = new.iloc[:1].assign(g=pd.Categorical(["c"], categories=["c", "z"]))
    np.testing.assert_array_equal(table.spec.matrix(category), built[:1])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"g": ["z"] * 4}, ["'g'", "'z'", "'a', 'b', 'c'"]),
        ({"g": pd.Categorical(["a", "z", "a", "a"])}, ["'g'", "'z'", "'a', 'b', 'c'"]),
        ({"y": [0, 1, 2, 0]}, ["'y'", "2", "known are 0, 1"]),
        ({"x1": ["1.5"] * 4}, ["'x1' held numbers", "holds text", "pd.to_numeric(df['x1'])"]),
        ({"x1": pd.Timestamp("2020-01-01")}, ["'x1' held numbers", "holds date", "`x1`.dt.year"]),
        ({"x1": None}, ["'x1'", "no column"]),
        ({"x2": "text"}, ["'np.log(x2)'"]),
    ],
)
def test_new_data_that_do_not_fit(frame, change, words):
    spec = formula.read("y ~ x1 + g + C(y) + np.log(x2)", frame).spec
    new = frame.iloc[:4].assign(**change)
    if change.get("x1", 1) is None:
        new = new.drop(columns="x1")
    with pytest.raises(FormulaError) as error:
        spec.matrix(new)
    assert all(word in str(error.value) for word in words), error.value
