"""Zero-inflated and hurdle counts for their users: formulas, predictions, files, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported
from sgmc.formula.parts import split

from .cases import fitted, simulated

TABLE = simulated("zeroinflated", "poisson", n=300)


def of(formula="y ~ x | z", frame=TABLE, **how):
    """A quick fit."""
    return sgmc.zeroinflated(formula, frame, **{"seed": 1, **how})


@pytest.mark.parametrize(
    "formula, first, second",
    [
        ("y ~ x | z + w", "y ~ x ", "y ~ z + w"),
        ("y ~ x", "y ~ x", "y ~ 1"),
        ("y ~ x + (1 | g) | z", "y ~ x + (1 | g) ", "y ~ z"),
        ("y ~ `a|b` + f('|') + d['|'] | `c|d`", "y ~ `a|b` + f('|') + d['|'] ", "y ~ `c|d`"),
    ],
)
def test_formulas_are_split_at_a_bar_outside_parentheses(formula, first, second):
    assert [" ".join(one.split()) for one in split(formula, "zero:")] == [
        " ".join(one.split()) for one in (first, second)
    ]


@pytest.mark.parametrize("formula", ["y ~ x | z | w", "y ~ | z", "y ~ x |"])
def test_other_bars_are_refused(formula):
    with pytest.raises(FormulaError, match=r"write 'y ~ x \| z'"):
        of(formula)


@pytest.mark.extended
def test_names_and_priors_of_both_parts():
    results = fitted("zinb")
    assert results.names == ["Intercept", "g[T.v]", "x", "zero:Intercept", "zero:z", "alpha"]
    assert results.model.formula == "y ~ g + x | z" and results.df_model == 3
    table = results.prior_summary()
    both = ["Intercept", "zero:Intercept"]
    assert list(table.index[table.note == "at centred predictors"]) == both
    text = str(results.summary())
    assert "Zero-inflated negative binomial" in text and "zero:z" in text
    tight = of(prior={"zero:z": sgmc.normal(0, 0.1), "*": sgmc.normal(0, 1)})
    assert abs(tight.params["zero:z"]) < 0.3 < abs(of().params["zero:z"])
    assert tight.prior_summary().specified["x"] == "normal(0, 1)"


def test_without_a_bar_the_probability_is_the_same_for_all():
    results = of("y ~ x")
    assert results.names == ["Intercept", "x", "zero:Intercept"]
    own = results.zero_probability(own=True)
    np.testing.assert_allclose(own, own[0], rtol=1e-12)


def test_parts_without_an_intercept():
    results = of("y ~ 0 + x | z")
    assert results.names == ["x", "zero:Intercept", "zero:z"]
    assert of("y ~ x | 0 + z").names == ["Intercept", "x", "zero:z"]
    assert results.verdict.trustworthy


@pytest.mark.extended
def test_predictions_of_new_rows_are_those_of_the_fit():
    results, frame = fitted("hurdle"), simulated("hurdle", "poisson")
    some = frame[:40]
    np.testing.assert_allclose(
        results.predict(some, exposure=some.e), results.fittedvalues[:40], rtol=1e-7
    )
    np.testing.assert_allclose(
        results.zero_probability(some, exposure=some.e), results.zero_probability()[:40], rtol=1e-7
    )
    np.testing.assert_allclose(
        results.log_lik(some, endog="y", exposure=some.e), results.log_lik()[:, :40], rtol=1e-6
    )
    drawn = results.posterior_predict(some, exposure=some.e)
    mean = results.predict(some, exposure=some.e)
    assert drawn.mean() == pytest.approx(mean.mean(), rel=0.05)
    share = results.zero_probability(some, exposure=some.e).mean()
    assert (drawn == 0).mean() == pytest.approx(share, abs=0.02)
    missing = some.assign(z=np.where(np.arange(40) == 3, np.nan, some.z))
    assert np.flatnonzero(results.predict(missing, exposure=some.e).isna()).tolist() == [3]
    summary = results.get_prediction(some[:2], exposure=some.e[:2]).summary_frame()
    assert summary.shape == (2, 6)


@pytest.mark.extended
def test_rows_without_a_predictor_of_either_part_are_dropped():
    frame = TABLE.assign(
        x=np.where(np.arange(300) < 20, np.nan, TABLE.x),
        z=np.where(np.arange(300) >= 280, np.nan, TABLE.z),
    )
    results = of(frame=frame)
    assert results.nobs == 260 and results.model.dropped == 40
    same = of(frame=TABLE[20:280])
    np.testing.assert_array_equal(results.draws, same.draws)
    with pytest.raises(DataError, match="missing"):
        of(frame=frame, missing="raise")
    some = of(frame=frame, subset="x > 0")
    assert some.nobs == ((frame.x > 0) & frame.z.notna()).sum()


def test_weights_count_rows():
    weighed = of(frame=TABLE.assign(w=2), weights="w")
    twice = of(frame=pd.concat([TABLE, TABLE], ignore_index=True))
    assert np.abs((weighed.params - twice.params) / twice.bse).max() < 0.15
    np.testing.assert_allclose(weighed.bse, twice.bse, rtol=0.1)


@pytest.mark.extended
def test_loo_tells_zeros_of_their_own_from_none():
    table = sgmc.compare(
        zip=of().loo(), poisson=sgmc.poisson("y ~ x", TABLE, seed=1).loo(),
        hurdle=sgmc.hurdle("y ~ x | z", TABLE, seed=1).loo(),
    )  # fmt: skip
    assert table.index[-1] == "poisson"
    check = of().pp_check()
    assert 0.01 < check.p["sd"] < 0.99


def test_files_pickles_and_saved_results(tmp_path):
    results = of()
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    from_file = of(frame=tmp_path / "t.csv")
    np.testing.assert_allclose(from_file.params, results.params, rtol=1e-6)
    results.save(tmp_path / "fit.sgmc")
    for one in (sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(results))):
        np.testing.assert_array_equal(one.predict(TABLE[:9]), results.predict(TABLE[:9]))
        np.testing.assert_array_equal(
            one.zero_probability(TABLE[:9]), results.zero_probability(TABLE[:9])
        )


def wide():
    """A factor of 40 levels."""
    return TABLE.assign(f=[f"l{k % 40}" for k in range(300)])


REFUSED = {
    "no zero": (DataError, "has no 0 in the rows", lambda: of(frame=TABLE[TABLE.y > 0])),
    "only zeros": (DataError, "is 0 in every row used", lambda: of(frame=TABLE.assign(y=0))),
    "no counts": (DataError, "count", lambda: of(frame=TABLE.assign(y=TABLE.y / 2))),
    "offset": (FormulaError, r"offset\(z\) after the bar", lambda: of("y ~ x | x + offset(z)")),
    "flat": (DataError, "under which posteriors of zeroinflated", lambda: of(prior="flat")),
    "dist": (ArgumentError, "dist='normal' must be one of", lambda: of(dist="normal")),
    "zigzag": (NotSupported, "two predictors", lambda: of(sampler="zigzag")),
    "arrays": (NotSupported, "from_formula", lambda: sgmc.Hurdle(TABLE.y, TABLE[["x"]])),
    "deviance": (NotSupported, "needs a unit deviance", lambda: of().deviance),
    "wide": (DataError, "'f' has 39 columns", lambda: of("y ~ f | z", wide())),
    "unknown": (FormulaError, "'q'", lambda: of("y ~ x | q")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()


def test_prepared_tables_have_both_parts(tmp_path):
    prepared = sgmc.prepare("y ~ x + z", TABLE, tmp_path / "p.sgmc", seed=1)
    with pytest.raises(FormulaError, match="was prepared with the formula 'y ~ x \\+ z', not"):
        of(frame=prepared)


@pytest.mark.extended
def test_a_weak_table_is_not_trusted_too_far():
    """300 rows with negative binomial zeros, which hardly tell the two kinds of zero apart: long
    tails, which the verdict reports.
    """
    frame = simulated("zeroinflated", "negativebinomial", n=300)
    with pytest.warns(sgmc.errors.SGMCWarning):
        results = of("y ~ g + x | z", frame, dist="negativebinomial", exposure="e")
    assert not results.verdict.trustworthy


def test_marginal_effects_are_of_both_parts():
    """Columns that stand in one part have the effects of their variables."""
    res = of("y ~ x | z", seed=1)
    found = res.get_margeff().summary_frame()["dy/dx"]
    slopes = res.avg_slopes().set_index("term")["estimate"]
    assert list(found.index) == ["x", "zero:z"]
    np.testing.assert_allclose(found.to_numpy(), slopes[["x", "z"]].to_numpy(), rtol=1e-4)


def test_priors_of_both_parts_count():
    """The prior of a sum of the zeros' intercept and slope, and of single ones, in closed form."""
    res = of("y ~ x | z", seed=1)
    point = round(res.params["zero:z"], 2)
    found = res.bayes_factor(f"`zero:z` = {point}")
    scale = 2.5 / TABLE.z.std()
    assert found["log_prior"] == pytest.approx(stats.norm.logpdf(point, 0, scale), abs=1e-9)
    table = res.sensitivity()
    assert list(table.index) == res.names and (table["likelihood"] > table["prior"]).all()
