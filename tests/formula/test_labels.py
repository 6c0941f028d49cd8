"""Text that is no factor: numbers stored as text, free text, identifiers."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, FormulaError, SGMCWarning, TextNumbersWarning
from sgmc.formula import read
from sgmc.formula.data import labels

N = 600


def frame(**columns):
    random = np.random.default_rng(1)
    return pd.DataFrame({"y": random.integers(0, 2, N), "x": random.normal(size=N), **columns})


def prices(values):
    return [f"{value:.2f}" for value in np.random.default_rng(2).choice(values, N)]


SENTENCES = [f"row {k} of a table that nobody has read" for k in range(N)]
IDENTIFIERS = [f"u{k:05d}" for k in range(N)]


@pytest.mark.parametrize(
    "column, said",
    [
        (
            prices([3.5, 4.25]),
            r"numbers stored as text, such as '3.50', '4.25': convert them first",
        ),
        (prices(np.linspace(0, 9, 200)), r"pd.to_numeric\(df\['p q'\]\), or write C\(`p q`\)"),
        (
            [*prices(np.linspace(0, 9, 200))[:-2], "?", "n/a"],
            r"and '\?', 'n/a': convert them first, pd.to_numeric\(df\['p q'\], errors='coerce'\)",
        ),
        ([" 1e-3", "+.5 "] * (N // 2), "numbers stored as text"),
        (SENTENCES, r"600 different values in 600 rows, such as 'row 0 .*': free text, no factor"),
        (SENTENCES[:150] * 4, "150 different values in 600 rows, .* free text"),
        (IDENTIFIERS, r"an identifier, no factor; leave it out, join levels"),
        (IDENTIFIERS[:301] * 2, None),
        (pd.Categorical(IDENTIFIERS), "an identifier, no factor"),
    ],
    ids=["two", "all", "mostly", "spaces", "text", "texts", "ids", "pairs", "category"],
)
def test_what_is_no_factor_is_refused_by_name(column, said, monkeypatch):
    def no_design(*arguments):
        raise AssertionError("a design was built")

    if said is None:
        column, said = column[:N], "301 different values in 600 rows"
    monkeypatch.setattr("patsy.design_matrix_builders", no_design)
    with pytest.raises(DataError, match=f"column 'p q' (holds|has) .*{said}|{said}"):
        read("y ~ x + `p q`", frame(**{"p q": column}))


@pytest.mark.parametrize(
    "column",
    [
        ["01234", "56789"] * (N // 2),  # postal codes
        ["18-24", "25-34", "35+"] * (N // 3),
        ["1", "2", "3 or more"] * (N // 3),
        ["a", "7"] * (N // 2),
        [f"store {k} in the old town of Bern" for k in range(120)] * 5,
        IDENTIFIERS[:300] * 2,
        IDENTIFIERS[:50] + ["other"] * (N - 50),
        pd.Categorical(["1", "2"] * (N // 2)),
        pd.Categorical(np.repeat(np.arange(60.0), 10)),
        [True, False] * (N // 2),
    ],
    ids="codes ranges top mixed places pairs few category numbers bool".split(),
)
def test_a_factor_is_one(column):
    table = read("y ~ g", frame(g=column))
    assert len(table.spec.exog_names) == len(set(column))


def test_a_large_factor_is_one():
    g = np.random.default_rng(3).permutation(np.repeat([f"u{k}" for k in range(20_000)], 10))
    column = pd.Series(g, name="g")
    for found in ("text", "category"):
        assert labels.refuse_levels("g", found, len(column), tuple(sorted(set(g)))) is None


def test_meant_as_categories():
    table = read("y ~ C(p)", frame(p=["1", "2", "3"] * (N // 3)))
    assert table.spec.exog_names == ["Intercept", "C(p)[T.2]", "C(p)[T.3]"]


def test_the_dot_loses_no_number():
    for values in ([3.5, 4.25], np.linspace(0, 9, 200)):
        with pytest.raises(DataError, match="'p' holds numbers stored as text"):
            read("y ~ .", frame(p=prices(values)))
    assert read("y ~ . - p", frame(p=prices([3.5, 4.25]))).spec.exog_names == ["Intercept", "x"]


@pytest.mark.parametrize(
    "how, said",
    [
        (dict(formula="p ~ x"), "the response 'p' must be numeric"),
        (dict(formula="x ~ y", weights="p"), "weights must be numeric"),
    ],
)
def test_other_places_name_the_cure(how, said):
    with pytest.raises(DataError, match=rf"{said}.*pd.to_numeric\(df\['p'\]\)"):
        sgmc.ols(data=frame(p=prices([3.5, 4.25])), **how)


@pytest.mark.parametrize(
    "column, said",
    [
        (["$5", "$1,234"], "df['p'].str.replace('[$,]', '', regex=True))"),
        (["5%", "12.5 %", "-3%"], "df['p'].str.replace('[%]', '', regex=True))"),
        (["1,234", "12,345,678.5"], "df['p'].str.replace('[,]', '', regex=True))"),
        (["€3", "-£2", "nan"], "replace('[£€]', '', regex=True), errors='coerce')"),
        (["3,5", "12,25"], "pd.to_numeric(df['p'].str.replace(',', '.'))"),
        ([f"{k}" for k in range(51)], "pd.to_numeric(df['p'])"),  # too many levels for codes
        ([f"{k}" for k in range(40)] + ["1"] * 10, "pd.to_numeric(df['p'])"),  # too few rows
    ],
    ids=str,
)
def test_numbers_with_signs_and_many_digits_are_refused(column, said):
    rows = len(column) if len(column) == 50 else 600
    data = frame(p=(column * N)[:N]).iloc[:rows]
    for text in ("y ~ p", "y ~ ."):
        with pytest.raises(DataError, match="column 'p' holds numbers stored as text") as error:
            read(text, data)
        assert said in str(error.value) and "or write C(p)" in str(error.value)
    with pytest.raises(DataError, match="the response 'p' must be numeric") as error:
        read("p ~ x", data, outcome="numeric")
    assert said in str(error.value)
    values = eval(str(error.value).partition("first, ")[2], {"df": data, "pd": pd})  # it is a cure
    assert np.isfinite(values[data.p != "nan"]).all() and values.dtype.kind in "if"


DIGITS = [("1", "2", "3"), ("1.0", "2.0", "10.0"), ("-1", "0", "1"), ("1", "2", "nan")]


@pytest.mark.parametrize("levels", DIGITS, ids=str)
@pytest.mark.parametrize("text", ["y ~ p", "y ~ ."])
def test_few_digits_are_a_factor_with_a_warning(levels, text):
    data = frame(p=np.resize(levels, N))
    with pytest.warns(TextNumbersWarning, match="column 'p' holds digits as text") as caught:
        table = read(text, data)
    assert len(caught) == 1 and table.notes == (caught[0].message,)
    assert ("'nan' is also a level" in str(table.notes[0])) == ("nan" in levels)
    assert [name for name in table.spec.exog_names if name[0] == "p"] == [
        f"p[T.{level}]" for level in sorted(levels)[1:]
    ]
    assert read("y ~ C(p)", data).notes == ()  # which says what is meant


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.ShapeWarning")
def test_the_note_is_kept_and_new_rows_are_read_alike(tmp_path):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    data = frame(p=np.resize(["1", "2", "3"], N))
    data.to_parquet(tmp_path / "rows.parquet")
    tables = [data, data.to_dict("list"), polars.DataFrame(data.to_dict("list"))]
    tables += [pyarrow.Table.from_pandas(data), str(tmp_path / "rows.parquet")]
    how, means = dict(sampler="laplace", draws=100, seed=1), []
    with pytest.warns(TextNumbersWarning):
        tables.append(sgmc.prepare("x ~ p", data, tmp_path / "table.sgmc"))
    opened = sgmc.open(tmp_path / "table.sgmc")
    assert [str(one) for one in opened.notes] == [str(one) for one in tables[-1].notes]
    for table in [*tables, opened]:
        prepared = hasattr(table, "notes")
        with pytest.warns(SGMCWarning if prepared else TextNumbersWarning):
            fit = sgmc.ols("x ~ p", table, **how)
        text = " ".join(str(fit.summary()).split())
        assert (
            "[TextNumbersWarning] column 'p' holds digits as text and is read as a factor" in text
        )
        means.append(np.asarray(fit.predict({"p": np.array(["3", "1"])})))
    np.testing.assert_allclose(means, np.broadcast_to(means[0], np.shape(means)), atol=0.1)


@pytest.mark.parametrize(
    "column, cure",
    [
        (
            pd.to_timedelta(np.arange(N), unit="D"),
            "durations: use a number of it, e.g. `p`.dt.days",
        ),
        (list(pd.to_timedelta(np.arange(N), unit="D").to_pytimedelta()), "`p`.dt.days"),
        (pd.date_range("2020", periods=N), "dates: use a number of it, e.g. `p`.dt.year"),
        (pd.period_range("2020-01", periods=N, freq="M"), "`p`.dt.year"),
        (list(pd.date_range("2020", periods=N).date), "pd.to_datetime(df['p']).dt.year"),
        (list(pd.date_range("2020", periods=N, freq="h").time), "times of a day: use a number"),
    ],
    ids=["durations", "timedelta", "dates", "periods", "days", "times"],
)
def test_durations_and_dates_name_a_number_that_works(column, cure):
    data = frame(p=column)
    for text in ("y ~ p", "p ~ x"):
        with pytest.raises((DataError, FormulaError)) as error:
            read(text, data, outcome="numeric")
        assert cure in str(error.value)
    if "e.g. " in (said := str(error.value)):
        line = said.partition("e.g. ")[2]
        assert eval(line.replace("`p`", "df.p"), {"df": data, "pd": pd}).notna().all()
