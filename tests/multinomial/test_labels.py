"""Labels of any kind and library, missing ones, and those that are refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.errors import DataError

from .cases import CODES, COUNT, FRAME, ORDER, WORDS, coded, in_equations


@pytest.mark.extended
def test_labels_of_any_kind_from_formulas_and_arrays():
    frame = pd.DataFrame({"x": np.random.default_rng(1).normal(size=300)})
    frame["kind"] = np.array(["red", "blue", "green"])[np.random.default_rng(2).integers(0, 3, 300)]
    one = sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500)
    two = sgmc.MNLogit(frame.kind, sm.add_constant(frame[["x"]])).fit(seed=1, draws=500)
    assert one.names == ["green:Intercept", "green:x", "red:Intercept", "red:x"]
    assert "Each equation compares a level of kind with 'blue'" in str(one.summary())
    np.testing.assert_array_equal(one.draws, two.draws)
    other = pd.Categorical(frame.kind, categories=["red", "green", "blue"])
    turned = sgmc.mnlogit("kind ~ x", frame.assign(kind=other), seed=1, prior="flat")
    assert turned.names[0] == "green:Intercept"
    assert turned.params["blue:x"] == pytest.approx(
        -sgmc.mnlogit("kind ~ x", frame, seed=1, prior="flat").params["red:x"], abs=0.02
    )
    assert one.hypothesis("`green:x` > `red:x`").prob == pytest.approx(
        (one.flat[:, 1] > one.flat[:, 3]).mean()
    )


LABELS = {  # name: (labels, levels in their order)
    "text": (WORDS, ("blue", "green", "red")),
    "a list": (list(WORDS), ("blue", "green", "red")),
    "objects": (WORDS.astype(object), ("blue", "green", "red")),
    "string": (pd.array(WORDS, dtype="string"), ("blue", "green", "red")),
    "bytes": (WORDS.astype("S"), (b"blue", b"green", b"red")),
    "an empty text": (np.where(CODES == 0, "", WORDS), ("", "blue", "green")),
    "categories": (pd.Categorical(WORDS, categories=ORDER), ("red", "green", "blue")),
    "ordered, one unused": (
        pd.Categorical(WORDS, categories=["pink", *ORDER], ordered=True),
        ("red", "green", "blue"),
    ),
    "int64": (CODES, (0, 1, 2)),
    "int8": (CODES.astype(np.int8), (0, 1, 2)),
    "big-endian": (CODES.astype(">i4"), (0, 1, 2)),
    "big-endian floats": (CODES.astype(">f8") / 2, (0.0, 0.5, 1.0)),
    "Int64": (pd.array(CODES, dtype="Int64"), (0, 1, 2)),
    "negative numbers": (1.5 * CODES - 2, (-2.0, -0.5, 1.0)),
    "dates": (
        pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])[CODES],
        tuple(pd.to_datetime(["2020", "2021", "2022"])),
    ),
    "mixed": (np.array(["a", 1, False], dtype=object)[CODES], (False, 1, "a")),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", LABELS)
def test_kinds_of_labels(kind):
    """Bit for bit the fit of 0, 1, 2 in the levels' order, from formulas and arrays."""
    labels, levels = LABELS[kind]
    frame, listed = FRAME.assign(kind=labels), pd.Series(labels).tolist()
    expected, names = in_equations(coded(tuple(CODES[listed.index(level)] for level in levels)))
    found = sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500)
    arrays = sgmc.MNLogit(labels, sm.add_constant(frame[["x"]])).fit(seed=1, draws=500)
    for one in (found, arrays):
        assert one.model.levels == levels
        assert one.names[::2] == [f"{k}:{one.model.exog_names[0]}" for k in levels[1:]]
        np.testing.assert_array_equal(one.draws, expected)
    assert list(found.predict(frame[:2]).columns) == list(levels)
    assert found.predict(frame[:0]).shape == (0, 3)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "make",
    [
        lambda v: v[:, None],
        lambda v: pd.DataFrame({"y": v}),
        lambda v: pd.Series(v).astype("category"),
    ],
    ids=["a column", "a frame of one column", "categories in a Series"],
)
def test_labels_in_one_column(make):
    design = sm.add_constant(FRAME[["x"]])
    one, two = (
        sgmc.MNLogit(labels, design).fit(seed=1, draws=500) for labels in (make(WORDS), WORDS)
    )
    np.testing.assert_array_equal(one.draws, two.draws)


@pytest.mark.extended
def test_indices_are_compared_where_both_have_one():
    design = sm.add_constant(FRAME[["x"]])
    expected = sgmc.MNLogit(WORDS[50:], design.to_numpy()[50:]).fit(seed=1, draws=500)
    for labels in (
        WORDS[50:],
        list(WORDS[50:]),
        pd.Categorical(WORDS[50:]),
        FRAME.kind[50:],
        FRAME[["kind"]][50:],
    ):
        np.testing.assert_array_equal(
            sgmc.MNLogit(labels, design[50:]).fit(seed=1, draws=500).draws, expected.draws
        )
    assert sgmc.MNLogit(FRAME.kind, design).endog_names == "kind"
    assert sgmc.MNLogit(WORDS, design).endog_names == "y"
    with pytest.raises(DataError, match="endog and exog have different indices"):
        sgmc.MNLogit(FRAME.kind.reset_index(drop=True)[:250], design[50:])


def polars_tables():
    """Tables of polars, and the levels in their order."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    in_order = "blue", "green", "red"
    for dtype, levels in (
        (pl.String, in_order),
        (pl.Categorical, in_order),
        (pl.Enum(ORDER), tuple(ORDER)),
    ):
        yield (
            pl.DataFrame({"kind": pl.Series(WORDS.tolist(), dtype=dtype), "x": FRAME.x.to_numpy()}),
            levels,
        )


def pyarrow_tables():
    """The same of pyarrow, in two chunks."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    codes = pa.array([ORDER.index(word) for word in WORDS], pa.int8())
    for kind, levels in (
        (pa.array(WORDS.tolist()), ("blue", "green", "red")),
        (pa.DictionaryArray.from_arrays(codes, pa.array(ORDER)), tuple(ORDER)),
    ):
        table = pa.table({"kind": kind, "x": FRAME.x.to_numpy()})
        yield pa.concat_tables([table.slice(0, 50), table.slice(50)]), levels


@pytest.mark.extended
@pytest.mark.parametrize("tables", [polars_tables, pyarrow_tables])
def test_labels_of_other_libraries(tables):
    """The order of levels is that of their type, in tables as in single columns."""
    for table, levels in tables():
        expected = sgmc.mnlogit(
            "kind ~ x",
            FRAME.assign(kind=pd.Categorical(WORDS, categories=levels)),
            seed=1,
            draws=500,
        )
        found = sgmc.mnlogit("kind ~ x", table, seed=1, draws=500)
        column = sgmc.MNLogit(table["kind"], sm.add_constant(FRAME[["x"]])).fit(seed=1, draws=500)
        assert found.model.levels == column.model.levels == levels
        assert column.model.endog_names == ("kind" if tables is polars_tables else "y")
        np.testing.assert_array_equal(found.draws, expected.draws)
        np.testing.assert_array_equal(column.draws, expected.draws)
        np.testing.assert_array_equal(found.predict(table), expected.predict(FRAME).to_numpy())


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "make",
    [
        lambda v, gone: np.where(gone, None, v),
        lambda v, gone: pd.Categorical(np.where(gone, None, v)),
        lambda v, gone: pd.Series(v, dtype="string").mask(gone),
        lambda v, gone: pd.Series(CODES, dtype="Int64").mask(gone),
    ],
    ids=["None", "categories", "NA", "numbers"],
)
def test_rows_without_a_label_are_dropped_and_counted(make):
    gone = np.arange(COUNT) % 7 == 0
    found = sgmc.mnlogit("kind ~ x", FRAME.assign(kind=make(WORDS, gone)), seed=1, draws=500)
    kept = sgmc.mnlogit(
        "kind ~ x", FRAME.assign(kind=make(WORDS, np.zeros(COUNT, bool)))[~gone], seed=1, draws=500
    )
    np.testing.assert_array_equal(found.draws, kept.draws)
    assert f"{gone.sum()} rows with missing values were dropped." in str(found.summary())


def test_a_level_that_only_missing_rows_have_is_none():
    frame = FRAME.assign(
        kind=np.where(np.arange(COUNT) < 5, "pink", WORDS), x=FRAME.x.mask(np.arange(COUNT) < 5)
    )
    assert sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500).model.levels == (
        "blue",
        "green",
        "red",
    )


BAD_LABELS = {
    "bool": (
        CODES > 0,
        "has 2 kinds in the rows used; mnlogit is for three or more, use logit for two",
    ),
    "one": (["a"] * COUNT, "has 1 kind in the rows used"),
    "numbers": (
        1.5 * np.arange(COUNT),
        "has 300 kinds; mnlogit takes at most 50: join some of them, or use ols",
    ),
    "alike in print": (
        np.array(["1", 1, 2.5], dtype=object)[CODES],
        "there is more than one coefficient '1:",
    ),
    "lists": ([[1], [2], [3]] * 100, r"holds list, which are no labels|endog has shape \(300, 1\)"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_labels_that_do_not_suit(kind):
    labels, message = BAD_LABELS[kind]
    with pytest.raises(DataError, match=message):
        sgmc.mnlogit("kind ~ x", FRAME.assign(kind=labels))
    if kind != "lists":  # an array of one column of numbers
        with pytest.raises(DataError, match=message):
            sgmc.MNLogit(labels, sm.add_constant(FRAME[["x"]]))


@pytest.mark.parametrize(
    "endog, message",
    [
        (None, r"endog has shape \(\)"),
        (1.0, r"endog has shape \(\)"),
        ({"a": 1}, r"endog has shape \(\)"),
        (np.column_stack([WORDS, WORDS]), r"endog has shape \(300, 2\)"),
        (WORDS[1:], "endog has 299 values, exog has 300 rows"),
        (np.ma.masked_equal(CODES, 2), "endog has missing values"),
        (np.where(CODES == 2, np.nan, CODES), "endog has missing values"),
        (pd.Series(WORDS, range(1, COUNT + 1)), "endog and exog have different indices"),
    ],
    ids=range(8),
)
def test_labels_of_arrays_that_are_refused(endog, message):
    with pytest.raises(DataError, match=message):
        sgmc.MNLogit(endog, sm.add_constant(FRAME[["x"]]))


def test_kinds_without_weight_do_not_count():
    with pytest.raises(DataError, match="has 2 kinds in the rows used"):
        sgmc.mnlogit("kind ~ x", FRAME.assign(w=np.where(CODES == 2, 0, 1)), weights="w")
