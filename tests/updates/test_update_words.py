"""What `update` takes, keeps, prints and refuses."""

import warnings

import numpy as np
import pytest

import sgmc
from tests.updates.months import months

FORMULA = "won ~ x1 + g"


@pytest.fixture(scope="module")
def tables():
    return months(7, 300, 3)


@pytest.fixture(scope="module")
def first(tables):
    return sgmc.logit(FORMULA, tables[0], seed=1, draws=1000)


def test_from_a_file_it_is_the_same(first, tables, tmp_path):
    first.save(tmp_path / "first")
    here, there = first.update(tables[1], seed=2), sgmc.load(tmp_path / "first")
    after = there.update(tables[1], seed=2)
    assert np.abs((after.params - here.params) / here.bse).max() < 0.1
    after.save(tmp_path / "second")
    again = sgmc.load(tmp_path / "second")
    assert again.updates == (300, 300) and again.drift == after.drift
    last = again.update(tables[2])
    assert last.nobs == 900 and last.updates == (300, 300, 300)
    assert np.allclose(again.predict(tables[2]), after.predict(tables[2]))
    with pytest.raises(sgmc.errors.ArgumentError, match="own session"):
        again.resume(draws=10)


def test_same_seed_same_bits(first, tables):
    one, two = (first.update(tables[1], seed=5) for _ in range(2))
    assert np.array_equal(one.draws, two.draws)


def test_summary_counts_old_and_new_rows(first, tables):
    text = str(first.update(tables[1]).summary())
    assert "300 old + 300 new" in text and "Update 1 of a posterior" in text
    assert "drift" in text and "neglected" in text


def test_one_row_and_one_outcome_are_enough(first, tables):
    assert first.update(tables[1].head(1)).nobs == 301
    number = sgmc.ols("number ~ x1", tables[0], seed=1, draws=1000)
    assert number.update(tables[1].head(1)).nobs == 301


@pytest.mark.parametrize(
    "verb, formula, given",
    [
        ("logit", FORMULA, {}),
        ("ols", "number ~ x1 + x2", {"weights": "x3"}),
        ("mnlogit", "g ~ x1", {}),
        ("negativebinomial", "count ~ g", {}),
    ],
)
def test_rows_of_the_fit_itself_are_refused(tables, verb, formula, given):
    """They were counted twice, without a warning."""
    df = tables[0].assign(x3=1 + np.arange(300) % 2)
    first = getattr(sgmc, verb)(formula, df, seed=1, draws=500, **given)
    with pytest.raises(sgmc.errors.ArgumentError, match="the 300 rows of the fit itself, which"):
        first.update(df.copy(), seed=2)
    other = df.assign(x1=df.x1.to_numpy()[::-1])
    if "x1" in formula:
        assert first.update(other).nobs == 2 * first.nobs


def test_rows_of_an_update_are_refused_too(first, tables):
    second = first.update(tables[1])
    with pytest.raises(sgmc.errors.ArgumentError, match="the 300 rows of the fit itself"):
        second.update(tables[1])


@pytest.mark.filterwarnings("ignore::sgmc.errors.UpdateWarning")  # of few rows
def test_the_same_few_outcomes_again_are_new_rows(tables):
    few = tables[0][:6]
    assert sgmc.ols("number ~ 1", few, seed=1).update(few).nobs == 12


def test_a_model_of_arrays(tables):
    y, X = (tables[0].won == "yes").astype(int), tables[0][["x1", "x2"]]
    res = sgmc.Logit(y, X).fit(seed=1, draws=1000)
    more = sgmc.Logit((tables[1].won == "yes").astype(int), tables[1][["x1", "x2"]])
    assert res.update(more).nobs == 600
    with pytest.raises(sgmc.errors.ArgumentError, match=r"give sgmc.Logit\(y, X"):
        res.update(tables[1])
    with pytest.raises(sgmc.errors.DataError, match="not of the"):
        res.update(sgmc.Logit((tables[1].won == "yes").astype(int), tables[1][["x1"]]))


def test_weights_by_name_and_as_arrays(tables):
    table = tables[0].assign(w=2)
    res = sgmc.logit(FORMULA, table, weights="w", seed=1, draws=1000)
    assert res.update(tables[1].assign(w=3)).nobs == 1500
    res = sgmc.logit(FORMULA, table, weights=table.w, seed=1, draws=1000)
    with pytest.raises(sgmc.errors.ArgumentError, match="give weights="):
        res.update(tables[1])
    assert res.update(tables[1], weights=np.full(300, 3)).nobs == 1500


def test_several_kinds(tables):
    res = sgmc.mnlogit("g ~ x1", tables[0], seed=1, draws=1000)
    assert res.update(tables[1]).nobs == 600
    with pytest.raises(sgmc.errors.DataError, match="no new row has the outcome 'c'"):
        res.update(tables[1][tables[1].g == "a"])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda t: "~ . + z", "ArgumentError", "needs the table: give data="),
        (lambda t: t.assign(g="z"), "FormulaError", "level 'z'.*fit all rows together"),
        (lambda t: t.drop(columns="x1"), "FormulaError", "no column 'x1'"),
        (lambda t: t.drop(columns="won"), "FormulaError", "'won' is neither"),
        (lambda t: t.assign(won="perhaps"), "FormulaError", "level 'perhaps'"),
        (lambda t: t.head(0), "DataError", "empty"),
        (lambda t: t.assign(x1=np.nan), "DataError", "no row is complete"),
    ],
)
def test_refused_rows(first, tables, change, error, words):
    with pytest.raises(getattr(sgmc.errors, error), match=words):
        first.update(change(tables[1]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prior": "flat"}, "prior does not apply"),
        ({"offset": "x2"}, "offset does not apply"),
        ({"cov_type": "robust"}, "cov_type does not apply"),
    ],
)
def test_refused_arguments(first, tables, given, words):
    with pytest.raises(sgmc.errors.ArgumentError, match=words):
        first.update(tables[1], **given)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    ("formula", "given", "words"),
    [
        ("won ~ x1 + (1 | g)", {}, "effects of groups"),
        (FORMULA, {"prior": sgmc.horseshoe()}, "horseshoe"),
        (FORMULA, {"cov_type": "robust"}, "sandwich"),
    ],
)
def test_refused_fits(tables, formula, given, words, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        res = sgmc.logit(formula, tables[0], seed=1, draws=1000, **given)
    with pytest.raises(sgmc.errors.NotSupported, match=words):
        res.update(tables[1])
    res.save(tmp_path / "it")
    if hasattr(res, "_past"):
        with pytest.raises(sgmc.errors.SGMCError, match="fit all rows together"):
            sgmc.load(tmp_path / "it").update(tables[1])
