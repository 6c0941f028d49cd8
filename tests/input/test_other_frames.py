"""Polars and pyarrow tables give the draws of the same pandas table, bit for bit."""

import datetime
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ColumnsLeftOutWarning, DataError, FormulaError
from sgmc.formula.data.frames import as_frame

N = 600
LEVELS = ["low", "mid", "high"]
RANDOM = np.random.default_rng(3)
COLUMNS = {
    "y": (RANDOM.random(N) < 0.4).tolist(),
    "i": [None if k % 17 == 3 else int(v) for k, v in enumerate(RANDOM.integers(-5, 6, N))],
    "f": [
        None if k % 23 == 5 else v for k, v in enumerate(RANDOM.normal(size=N).round(3).tolist())
    ],
    "b": [None if k % 29 == 7 else bool(v) for k, v in enumerate(RANDOM.random(N) < 0.5)],
    "s": [None if k % 31 == 2 else "zyx"[v] for k, v in enumerate(RANDOM.integers(0, 3, N))],
    "c": [LEVELS[v] for v in RANDOM.integers(0, 3, N)],
    "e": [None if k % 37 == 8 else LEVELS[v] for k, v in enumerate(RANDOM.integers(0, 3, N))],
    "day": [datetime.date(2020 + k % 3, 1, 1 + k % 28) for k in range(N)],
    "at": [datetime.datetime(2021, 1, 1, k % 24, tzinfo=datetime.UTC) for k in range(N)],
    "m": [Decimal(int(v)).scaleb(-2) for v in RANDOM.integers(-300, 300, N)],
    "w": [int(v) for v in RANDOM.integers(1, 4, N)],
    "o": RANDOM.normal(size=N).round(2).tolist(),
    "small": RANDOM.integers(0, 100, N).tolist(),
    "none": [None] * N,
    "list": [[1, 2]] * N,
    "record": [{"a": 1}] * N,
    "time": [datetime.time(k % 24) for k in range(N)],
}
PANDAS = pd.DataFrame(COLUMNS).assign(
    c=lambda df: df.c.astype("category"),
    e=lambda df: pd.Categorical(df.e, categories=LEVELS),
    day=lambda df: pd.to_datetime(df.day),
    at=lambda df: df["at"].dt.tz_convert("Asia/Tokyo"),
    small=lambda df: df.small.astype(np.uint8),
)


def in_polars(columns):
    """A polars table: c a Categorical, e an Enum, in two chunks."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    # codes of Categoricals depend on what else was read
    pl.Series(["mid", "zzz", "low"], dtype=pl.Categorical)
    frame = pl.DataFrame(columns).with_columns(
        pl.col("c").cast(pl.Categorical),
        pl.col("e").cast(pl.Enum(LEVELS)),
        pl.col("at").dt.convert_time_zone("Asia/Tokyo"),
        pl.col("small").cast(pl.UInt8),
    )
    return pl.concat([frame[:50], frame[50:]], rechunk=False)


def in_pyarrow(columns):
    """A pyarrow table: c and e dictionaries, in two chunks."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    at = pa.array(columns["at"], pa.timestamp("us", "Asia/Tokyo"))
    table = pa.table({**columns, "small": pa.array(columns["small"], pa.uint8()), "at": at})
    for name, levels in (("c", sorted(LEVELS)), ("e", LEVELS)):
        codes = pa.array([None if v is None else levels.index(v) for v in columns[name]], pa.int8())
        coded = pa.DictionaryArray.from_arrays(codes, pa.array(levels))
        table = table.set_column(table.column_names.index(name), name, coded)
    return pa.concat_tables([table.slice(0, 50), table.slice(50)])


LIBRARIES = pytest.mark.parametrize("other", [in_polars, in_pyarrow])
FORMULAS = {
    "numbers": "y ~ i + f + m + small",
    "text, truths and levels": "y ~ s + b + C(c) + e",
    "dates": "y ~ day.dt.year + at.dt.hour",
    "an interaction": "y ~ c:f + np.log(small + 1)",
    "levels as outcome": "c == 'mid' ~ f",
    "truths with gaps as outcome": "b ~ f",
}


def assert_same(one, other):
    """Equal draws and names, bit for bit."""
    assert one.names == other.names and one.nobs == other.nobs
    np.testing.assert_array_equal(one.draws, other.draws)


@pytest.mark.cover(0)
@LIBRARIES
@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_draws_are_those_of_pandas(other, formula):
    found = sgmc.logit(formula, other(COLUMNS), seed=1)
    expected = sgmc.logit(formula, PANDAS, seed=1)
    assert_same(found, expected)
    new = {name: values[:20] for name, values in COLUMNS.items()}
    np.testing.assert_array_equal(
        found.predict(other(new)), expected.predict(PANDAS[:20]).to_numpy()
    )
    home = type(found.predict(other(new))).__module__.partition(".")[0]
    assert home == ("polars" if type(other(new)).__module__.startswith("polars") else "numpy")


@pytest.mark.cover(0)
@LIBRARIES
@pytest.mark.parametrize(
    "verb, formula",
    [
        (sgmc.ols, "f ~ i + o"),
        (sgmc.ols, "m ~ f"),
        (sgmc.ols, "small ~ f + c"),
        (sgmc.ols, "b ~ f"),
        (sgmc.ols, "np.log(small + 1) ~ f"),
        (sgmc.mnlogit, "e ~ f"),
        (sgmc.mnlogit, "c ~ f"),
        (sgmc.mnlogit, "s ~ f + o"),
        (sgmc.mnlogit, "w ~ f"),
        (sgmc.mnlogit, "day.dt.year ~ f"),
    ],
    ids=lambda v: v if isinstance(v, str) else v.__name__,
)
def test_outcomes_of_other_kinds(other, verb, formula):
    found, expected = (verb(formula, data, seed=1) for data in (other(COLUMNS), PANDAS))
    assert_same(found, expected)
    assert found.model.levels == expected.model.levels
    new = {name: values[:20] for name, values in COLUMNS.items()}
    np.testing.assert_array_equal(
        found.predict(other(new)), expected.predict(PANDAS[:20]).to_numpy()
    )


@pytest.mark.cover(0)
@LIBRARIES
def test_single_columns_as_real_outcomes(other):
    data, X = other(COLUMNS), PANDAS[["o"]].to_numpy()
    for name in ("small", "m", "w"):
        assert_same(sgmc.OLS(data[name], X).fit(seed=1), sgmc.OLS(PANDAS[name], X).fit(seed=1))
    with pytest.raises(DataError, match="endog has missing or infinite values"):
        sgmc.OLS(data["f"], X)
    with pytest.raises(DataError, match="endog must hold numbers"):
        sgmc.OLS(data["c"], X)


@pytest.mark.cover(0)
@LIBRARIES
def test_the_dot_and_what_it_leaves_out(other):
    reasons = []
    for data in (other(COLUMNS), PANDAS):
        with pytest.warns(ColumnsLeftOutWarning) as caught:
            reasons.append((sgmc.logit("y ~ .", data, seed=1), str(caught[0].message)))
    assert_same(reasons[0][0], reasons[1][0])
    assert reasons[0][1] == reasons[1][1]
    assert all(
        f"'{name}'" in reasons[0][1] for name in ("day", "at", "none", "list", "record", "time")
    )


@pytest.mark.extended
@LIBRARIES
def test_columns_and_arrays_as_arguments(other):
    data = other(COLUMNS)
    how = dict(seed=1, subsample="stratified", sampler="sgld")
    named = dict(weights="w", offset="o", strata="c", subset="small > 20")
    expected = sgmc.logit("y ~ f", PANDAS, **named, **how)
    assert_same(sgmc.logit("y ~ f", data, **named, **how), expected)
    mask = other({**COLUMNS, "b": [v > 20 for v in COLUMNS["small"]]})["b"]
    theirs = dict(
        weights=data["w"], offset=data["o"], strata=data["s"].fill_null("none"), subset=mask
    )
    ours = dict(
        weights=PANDAS.w, offset=PANDAS.o, strata=PANDAS.s.fillna("none"), subset=PANDAS.small > 20
    )
    assert_same(
        sgmc.logit("y ~ f", data, **theirs, **how), sgmc.logit("y ~ f", PANDAS, **ours, **how)
    )
    np.testing.assert_array_equal(
        expected.predict(data, offset=data["o"]), expected.predict(PANDAS, offset=PANDAS.o)
    )


@pytest.mark.cover(0)
@LIBRARIES
def test_a_design_as_a_table(other):
    names = ["f", "small", "o"]
    values = {name: [0.5 if v is None else v for v in COLUMNS[name]] for name in names}
    design, plain = other({**COLUMNS, **values}).select(names), pd.DataFrame(values)
    found, expected = (sgmc.Logit(PANDAS.y.to_numpy(), X).fit(seed=1) for X in (design, plain))
    assert_same(found, expected)
    assert found.names == names
    np.testing.assert_array_equal(found.predict(design), expected.predict(plain))
    with pytest.raises(DataError, match="exog is labelled o, f, small"):
        found.predict(design.select(["o", "f", "small"]))
    outcome = other({**COLUMNS, "b": COLUMNS["y"]})["b"]
    assert_same(sgmc.Logit(outcome, design).fit(seed=1), expected)


@LIBRARIES
def test_what_is_wrong_is_named(other):
    data = other(COLUMNS)
    with pytest.raises(FormulaError, match="'day' holds dates"):
        sgmc.logit("y ~ day", data)
    with pytest.raises(FormulaError, match="has the level 'w'"):
        sgmc.logit("y ~ s", data, seed=1).predict(other({**COLUMNS, "s": ["w"] * N}))
    with pytest.raises(FormulaError, match="no column 's'"):
        sgmc.logit("y ~ s", data, seed=1).predict(
            data.drop(["s"]) if other is in_polars else data.drop_columns("s")
        )
    with pytest.raises(DataError, match="exog: column 's' must hold numbers"):
        sgmc.Logit(PANDAS.y.to_numpy(), data.select(["small", "s"]))


def test_lazy_tables_of_verbs_are_collected():
    """Anywhere else they are to be collected by the user."""
    data = in_polars(COLUMNS)
    found = sgmc.logit("y ~ f", data.lazy(), seed=1)
    assert_same(found, sgmc.logit("y ~ f", data, seed=1))
    with pytest.raises(DataError, match=r"not LazyFrame: call its \.collect\(\) first"):
        found.model.spec.matrix(data.lazy())


def test_numbers_are_not_copied():
    frame = pytest.importorskip("polars", reason="polars is not installed").DataFrame(
        {"x": np.arange(1000.0)}
    )
    assert np.shares_memory(as_frame(frame)["x"].to_numpy(), frame["x"].to_numpy(allow_copy=False))
    table = pytest.importorskip("pyarrow", reason="pyarrow is not installed").table(
        {"x": np.arange(1000.0)}
    )
    assert np.shares_memory(
        as_frame(table)["x"].to_numpy(), table["x"].chunk(0).to_numpy(zero_copy_only=True)
    )


def test_the_index_of_a_table_made_from_pandas_is_no_predictor():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = PANDAS[["y", "f", "c"]].set_axis(np.arange(N) * 2.5)
    assert_same(
        *(sgmc.logit("y ~ .", data, seed=1) for data in (frame, pa.Table.from_pandas(frame)))
    )


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("count", [3, 255, 256, 300, 70_000])
def test_an_enum_keeps_its_levels(count, gaps):
    """Its physical codes are unsigned, of one, two or four bytes."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    levels = [f"level {k}" for k in range(count)][::-1]
    values = [levels[0], None if gaps else levels[1], levels[-1], levels[1]]
    found = as_frame(pl.DataFrame({"e": pl.Series(values, dtype=pl.Enum(levels))})).e
    pd.testing.assert_series_equal(
        found, pd.Series(pd.Categorical(values, categories=levels), name="e")
    )


@pytest.mark.extended
def test_polars_does_without_pyarrow():
    pytest.importorskip("polars", reason="polars is not installed")
    code = (
        "import sys; sys.modules['pyarrow'] = None; import polars as pl, sgmc; df = "
        "pl.DataFrame({'y': [0, 1, 1, 0] * 9, 'g': ['a', 'b', None] * 12, 'b': [True, None, False, "
        "True] * 9}); print(sgmc.logit('y ~ .', df, seed=1).names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['Intercept', 'g[T.b]', 'b[T.True]']", done.stderr
