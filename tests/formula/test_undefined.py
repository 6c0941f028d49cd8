"""Values that are there and for which an expression has none: never dropped without a word."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.errors import DataError, FormulaError, RowsLeftOutWarning

from ..cluster.frames import Frames

N = 400
LIGHT = dict(sampler="laplace", draws=50, seed=1)


def frame_of():
    random = np.random.default_rng(0)
    data = pd.DataFrame({"x": random.exponential(size=N), "z": 1 + random.exponential(size=N)})
    data["y"] = 5 + data.x + random.normal(size=N) / 10
    data["n"], data["k"] = random.poisson(3, N), np.arange(N) % 3
    data["g"], data["e"] = random.choice(list("abcd"), N), 1.0
    return data.set_index(np.arange(N) + 1000)


FRAME = frame_of()
UNKNOWN = [  # formula, and what is changed in row 1007
    ("log(y) ~ x", {"y": -2.5}),
    ("sqrt(y) ~ x", {"y": -2.5}),
    ("y ~ np.log10(z)", {"z": -1.5}),
    ("y ~ np.arcsin(x / 100)", {"x": 101.0}),
    ("y ~ I(z ** 0.5)", {"z": -0.25}),
    ("y ~ I(x / e):k", {"x": 0.0, "e": 0.0}),
    ("y ~ x + center(log(z))", {"z": -1.0}),
    ("y ~ bs(sqrt(z), df=4)", {"z": -1.0}),
    ("y ~ ns(sqrt(z), df=3)", {"z": -1.0}),
    ("y ~ x + offset(log(e))", {"e": -1.0}),
    ("y ~ x + (1 + sqrt(z) | g)", {"z": -1.0}),
    ("y ~ s(sqrt(z))", {"z": -1.0}),
    ("y ~ s(x) + own(z)", {"z": -1.0}),
]


def own(x):
    return np.log(x)


def changed(change, row=1007):
    data = FRAME.copy()
    data.loc[row, list(change)] = list(change.values())
    return data


def said(change, row=1007):
    values = ", ".join(f"{name} = {value!r}" for name, value in change.items())
    return f"is not a number at row {row}, where {values}: change such values"


@pytest.mark.parametrize("text, change", UNKNOWN, ids=lambda one: one if type(one) is str else "")
def test_a_function_outside_its_domain_is_an_error(text, change):
    with pytest.raises(DataError) as error:
        sgmc.ols(text, changed(change), **LIGHT)
    assert said(change) in str(error.value)
    formula.read(text, changed(change), subset=FRAME.index != 1007, outcome="numeric", scope=SCOPE)


SCOPE = {"own": own, "pd": pd}


def test_rows_that_are_not_used_are_not_looked_at():
    gap = changed({"y": -1.0, "x": np.nan})
    assert formula.read("log(y) ~ x", gap, outcome="numeric").dropped == 1
    with pytest.raises(DataError, match=r"row 1007, where y = -1.0: "):
        formula.read("log(y) ~ z", gap, outcome="numeric")


def test_all_such_rows_are_counted():
    data = FRAME.assign(y=np.where(FRAME.k == 1, -FRAME.y, FRAME.y))
    with pytest.raises(DataError, match=rf"\({(FRAME.k == 1).sum()} such rows\)"):
        formula.read("log(y) ~ z", data, outcome="numeric")


def test_second_parts_and_survival_times_too():
    with pytest.raises(DataError, match=r"'sqrt\(z\)' is not a number at row 1007"):
        sgmc.negativebinomial("n ~ x | sqrt(z)", changed({"z": -1.0}), **LIGHT)
    with pytest.raises(DataError, match=r"'Surv\(np.sqrt\(z\), e\)' is not a number at row 1007"):
        sgmc.survreg("Surv(np.sqrt(z), e) ~ x", changed({"z": -1.0}), **LIGHT)


@pytest.mark.parametrize("text", ["log(y) ~ x", "x ~ np.sqrt(y)", "x ~ center(np.sqrt(y))"])
def test_the_same_of_files_prepared_tables_and_partitions(text, tmp_path):
    data, change = changed({"y": -2.0}), {"y": -2.0}
    data.to_parquet(tmp_path / "rows.parquet", index=False)
    for table in (str(tmp_path / "rows.parquet"), data.to_dict("list")):
        with pytest.raises(DataError) as error:
            sgmc.ols(text, table, **LIGHT)
        assert said(change, 7) in str(error.value)
    with pytest.raises(DataError) as error:
        sgmc.prepare(text, data, tmp_path / "table.sgmc")
    assert said(change, 7) in str(error.value)
    with pytest.raises(DataError, match="' is not a number where y = -2.0: change such values"):
        sgmc.ols(text, Frames(data, 3), **LIGHT)


FILLED = [  # statsmodels keeps all rows of these
    ("y ~ x.fillna(0)", "fillna"),
    ("y ~ np.nan_to_num(x)", "nan_to_num"),
    ("y ~ x.isna() + np.where(x.isna(), 0, x)", "isna"),
    ("y ~ k * (pd.notnull(x))", "notnull"),
    ("y ~ np.where(np.isnan(x), 0, x)", "isnan"),
    ("y ~ log(1 + x.ffill())", "ffill"),
    ("y ~ x.replace(np.nan, 0)", "replace"),
    ("y ~ x.combine_first(z)", "combine_first"),
    ("y ~ center(x.fillna(0))", "fillna"),
    ("y ~ z + offset(x.fillna(0))", "fillna"),
    ("y ~ z + (1 + x.fillna(0) | g)", "fillna"),
    ("y ~ s(x.fillna(0))", "fillna"),
    ("x.fillna(0) ~ z", "fillna"),
    ("y ~ . + x.fillna(0)", "fillna"),
]


@pytest.mark.filterwarnings("ignore::sgmc.errors.ColumnsLeftOutWarning")  # of the dot
@pytest.mark.parametrize("text, call", FILLED, ids=[text for text, _ in FILLED])
def test_gaps_that_a_formula_would_fill_are_an_error(text, call):
    """Their rows were left out first, without a word."""
    whole = formula.read(text, FRAME, outcome="numeric", scope=SCOPE | {"np": np})
    assert whole.dropped == 0
    gaps = FRAME.assign(x=FRAME.x.where(FRAME.k != 1))
    count = (FRAME.k == 1).sum()
    with pytest.raises(
        FormulaError, match=rf"{call}\(\) would have no effect, as .* \({count}\) are"
    ):
        sgmc.ols(text, gaps, **LIGHT)
    used = formula.read(text, gaps, subset="k != 1", outcome="numeric", scope=SCOPE | {"np": np})
    assert used.dropped == 0
    if "~ x.fillna" in text:
        with pytest.raises(FormulaError, match="rows in which 'x' is missing"):
            whole.spec.matrix(gaps)


@pytest.mark.parametrize("text", ["y ~ x.fillna(0)", "x.fillna(0) ~ z", "y ~ center(x.fillna(0))"])
def test_such_gaps_of_files_prepared_tables_and_partitions(text, tmp_path):
    data = changed({"x": np.nan})
    data.to_parquet(tmp_path / "rows.parquet", index=False)
    for call in (
        lambda: sgmc.ols(text, str(tmp_path / "rows.parquet"), **LIGHT),
        lambda: sgmc.prepare(text, data, tmp_path / "table.sgmc"),
        lambda: sgmc.ols(text, Frames(data, 3), **LIGHT),
    ):
        with pytest.raises(FormulaError, match=r"rows in which 'x' is missing \(1\) are left out"):
            call()


def test_events_that_a_gap_would_tell():
    """Open ends of intervals have gaps, whose rows are kept."""
    times = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 9, "b": [2.0, np.nan, 4.0, np.nan] * 9})
    assert sgmc.formula.read("Surv(a, b, 'interval2') ~ 1", times, outcome="survival").dropped == 0
    with pytest.raises(
        FormulaError, match=r"notna\(\) would have no effect, as .*'b' is missing \(18\)"
    ):
        sgmc.formula.read("Surv(a, b.notna()) ~ 1", times, outcome="survival")


BINS = "y ~ pd.cut(x, [0, 1, 2])"
OUTSIDE = ((FRAME.x <= 0) | (FRAME.x > 2)).sum()


@pytest.mark.parametrize(
    "text", [BINS, "y ~ np.where(x <= 2, x, np.nan)", "y ~ pd.cut(x, [0, 1, 2], labels=False)"]
)
def test_what_an_expression_leaves_out_by_choice_is_a_warning(text):
    with pytest.warns(RowsLeftOutWarning, match=rf"\({OUTSIDE} such rows\): left out") as caught:
        table = formula.read(text, FRAME, outcome="numeric", scope=SCOPE)
    assert len(caught) == 1 and table.dropped == OUTSIDE and len(table.y) == N - OUTSIDE
    with pytest.raises(DataError, match=f"^{OUTSIDE} rows have missing values"):
        formula.read(text, FRAME, outcome="numeric", scope=SCOPE, missing="raise")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
def test_summaries_repeat_it(tmp_path):
    fits = [sgmc.ols(BINS, FRAME, **LIGHT)]
    prepared = sgmc.prepare(BINS, FRAME, tmp_path / "table.sgmc")
    fits += [sgmc.ols(BINS, prepared, **LIGHT)]
    fits += [sgmc.ols(BINS, sgmc.open(tmp_path / "table.sgmc"), **LIGHT)]
    for fit in fits:
        text = " ".join(str(fit.summary()).split())
        assert "[RowsLeftOutWarning] 'pd.cut(x, [0, 1, 2])' is missing at row " in text
        assert f"({OUTSIDE} such rows)" in text


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.ShapeWarning")
def test_new_rows_without_a_value_are_nan_with_a_warning():
    fit = sgmc.ols("y ~ log(z)", FRAME, **LIGHT)
    with pytest.warns(RowsLeftOutWarning, match="row 'b', where z = -1.0: what follows .* is NaN"):
        found = fit.predict(pd.DataFrame({"z": [1.0, -1.0, np.nan]}, index=list("abc")))
    assert np.isfinite(found["a"]) and found[["b", "c"]].isna().all()
