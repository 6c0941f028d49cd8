"""What passes over chunks find is what reading all rows in memory finds."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sgmc import formula as front
from sgmc.errors import SGMCError
from sgmc.formula.syntax import parser
from sgmc.prepared.first_pass.scan import Options, Scan
from tests.prepared.sources import Chunked

N = 997


def frame_of(seed=0):
    """Columns of all kinds, with gaps in some, sorted so that chunks differ."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, N),
            "text": np.where(rng.random(N) < 0.5, "yes", "no"),
            "count": rng.poisson(3, N),
            "other": rng.poisson(2, N),
            "positive": rng.gamma(2.0, size=N),
            "x": rng.normal(3, 2, N),
            "z": rng.normal(size=N),
            "k": rng.integers(-3, 4, N),
            "flag": rng.random(N) < 0.3,
            "g": np.sort(rng.choice(list("abcdefg"), N)),
            "h": [f"l{i}" for i in rng.integers(0, 60, N)],
            "c": pd.Categorical(rng.choice(["lo", "mid"], N), categories=["mid", "hi", "lo"]),
            "one": 1.0,
            "nearly": np.where(np.arange(N) == 700, 2.0, 1.0),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D"),
            "name": [f"person {i}" for i in range(N)],
            "w": rng.integers(1, 5, N).astype(float),
            "t": rng.gamma(3.0, size=N),
        }
    )
    for name, share in (("x", 0.05), ("g", 0.03), ("c", 0.02), ("w", 0.02), ("text", 0.01)):
        frame.loc[rng.random(N) < share, name] = None
    frame.loc[700, "x"] = np.nan  # "nearly" is constant among complete rows
    return frame


FRAME = frame_of()
CASES = [
    dict(formula="y ~ x + g"),
    dict(formula="y ~ x*g + c", weights="w"),
    dict(formula="text ~ x + h + g:c"),
    dict(formula="flag ~ x"),
    dict(formula="c ~ x + C(k)"),
    dict(formula="y ~ ."),
    dict(formula="text ~ . - name", subset="k > -2"),
    dict(formula="count ~ center(x) + standardize(positive)", outcome="numeric", exposure="t"),
    dict(formula="np.where(x > 0, x, np.nan) ~ z + np.log(positive)", outcome="numeric"),
    dict(formula="y ~ np.where(x > 0, x, np.nan) + g", subset="z > -1"),
    dict(formula="y ~ np.where(z > 0, z, np.nan) + C(k) + standardize(x)"),
    dict(formula="y ~ x + bs(z, df=4)"),
    dict(formula="y ~ x + bs(z, knots=[-1, 0, 0.5]) + cr(positive, df=3)"),
    dict(formula="count + other ~ x + flag"),
    dict(formula="cbind(count, count + other) ~ x + flag"),
    dict(formula="y ~ poly(x, 3) + relevel(g, ref='b') + factor(k) + log(positive)"),
    dict(formula="y ~ ns(z, 3) + poly(x, 2, raw=TRUE) + offset(t)"),
    dict(formula="positive > 2 ~ x", subset=lambda d: d["flag"]),
    dict(formula="positive ~ x + c", outcome="numeric", se="t", strata="g"),
    dict(formula="h ~ z", outcome="category"),
    dict(formula="k ~ z", outcome="category", strata="k"),
]


def scanned(formula, frame, size, missing="drop", subset=None, **vectors):
    source = Chunked(frame, size)
    parsed = parser.parse(formula, source.columns, {})
    return Scan(parsed, source, vectors, subset, Options(missing), iter).found()[0], source


@pytest.mark.cover(0)
@pytest.mark.parametrize("size", [64, 250, 2000])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["formula"])
def test_scan_finds_what_the_reader_finds(case, size):
    how = dict(case)
    formula, outcome = how.pop("formula"), how.pop("outcome", "binary")
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        found, source = scanned(formula, FRAME, size, **how)
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        table = front.read(formula, FRAME, **how, outcome=outcome, scope={})
    assert [str(one.message) for one in ours] == [str(one.message) for one in theirs]
    assert found.spec.exog_names == table.spec.exog_names
    assert found.spec.expanded == table.spec.expanded
    assert found.facts.missing == table.dropped
    assert found.left_out == table.left_out
    if outcome != "numeric" and table.spec.levels and found.levels:
        assert found.levels == table.spec.levels
    rows, designs, start = [], [], 0
    for chunk in source.chunks():
        among = found.selection.gaps(chunk)[0].complete()
        rows.append(start + among)
        if len(among):
            designs += [block.copy() for _, block in found.spec.blocks(chunk, among)]
        start += len(chunk)
    np.testing.assert_array_equal(np.concatenate(rows), table.rows)
    expected = np.empty((len(table.rows), len(table.spec.exog_names)))
    table.fill(expected)
    got = np.concatenate(designs)
    if any(word in formula for word in ("center", "standardize", "bs(", "poly(", "ns(")):
        # moments are merged in another order
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.filterwarnings("ignore::sgmc.errors.ColumnsLeftOutWarning")
@pytest.mark.parametrize("name", ["Unnamed: 0", ""])
def test_an_index_without_a_name_is_no_predictor(name):
    """What `to_csv` writes first was one, without a word."""
    rows = FRAME[["y", "x", "z"]]
    written = rows.copy()
    written.insert(0, name, np.arange(len(rows)))
    table = front.read("y ~ .", written, scope={})
    found, _ = scanned("y ~ .", written, 250)
    assert found.left_out == table.left_out == {name: "an index without a name"}
    assert found.spec.exog_names == table.spec.exog_names == ["Intercept", "x", "z"]
    named = front.read("y ~ .", written.rename(columns={name: "row"}), scope={})
    assert named.spec.exog_names == ["Intercept", "row", "x", "z"]
    other = front.read("y ~ .", written.assign(**{name: written.x**2}), scope={})
    assert other.left_out == {}


BAD = [
    dict(formula="y ~ x", missing="raise"),
    dict(formula="y ~ day"),
    dict(formula="y ~ name"),
    dict(formula="y ~ x", subset="k > 100"),
    dict(formula="positive ~ x", weights="z"),
    dict(formula="positive ~ x", se="k"),
    dict(formula="count ~ x", exposure="k"),
    dict(formula="y ~ x", offset="g"),
    dict(formula="y ~ x", subset="k + 1"),
    dict(formula="y ~ y"),
    dict(formula="y ~ unknown"),
    dict(formula="y ~ bs(g)"),
]


@pytest.mark.parametrize("case", BAD, ids=str)
def test_scan_refuses_what_the_reader_refuses(case):
    how = dict(case)
    formula = how.pop("formula")
    outcome = "binary" if formula.startswith("y") else "numeric"
    with pytest.raises(SGMCError) as theirs:
        front.read(formula, FRAME, **how, outcome=outcome, scope={})
    with pytest.raises(SGMCError) as ours:
        scanned(formula, FRAME, 100, **how)
    if "se" not in how:  # the first bad one there, the smallest here
        assert str(ours.value) == str(theirs.value)
    assert type(ours.value) is type(theirs.value)


@pytest.mark.parametrize(
    "formula, subset",
    [
        ("y ~ I(z - z.mean())", None),
        ("z - np.mean(z) ~ k", None),
        ("y ~ z", "z > z.mean()"),
        ("y ~ z", lambda frame: frame["z"].rank() > 10),
    ],
)
def test_what_looks_at_other_rows_is_refused(formula, subset):
    with pytest.raises(SGMCError, match="in a row depends on other rows"):
        scanned(formula, FRAME, 200, subset=subset)


@pytest.mark.parametrize("spline, held", [("bs(z, df=4)", 1), ("te(cr(z, df=3), cc(x, df=3))", 3)])
def test_splines_that_hold_too_much_are_refused(spline, held):
    """Each call holds the values of a column, and those of `te` of its own."""
    source = Chunked(FRAME, 100)

    def found(formula, limit):
        parsed = parser.parse(formula, source.columns, {})
        return Scan(parsed, source, {}, None, Options(limit=limit), iter).found()

    assert found(f"y ~ {spline}", 16 * N * held)
    with pytest.raises(SGMCError, match=r"places its knots by all values at once, which takes"):
        found(f"y ~ {spline}", 14 * N * held)
    assert found("y ~ bs(z, knots=[0])", 1)


def test_types_that_change_are_refused():
    frame = pd.DataFrame({"y": [0, 1] * 50, "x": pd.Series([1.0] * 50 + ["a"] * 50, dtype=object)})

    class Changing(Chunked):
        def chunks(self, start=0, columns=None):
            return (part.infer_objects() for part in super().chunks(start, columns))

    source = Changing(frame, 50)
    parsed = parser.parse("y ~ x", source.columns, {})
    with pytest.raises(SGMCError, match="column 'x' holds float64 first and str in later rows"):
        Scan(parsed, source, {}, None, Options(), iter).found()
