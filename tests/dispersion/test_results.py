"""Dispersions with predictors for users: formulas, predictions, files, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported

from .cases import TRUE, fitted, simulated

TABLE = simulated(300)


def of(formula="y ~ x | z", frame=TABLE, **how):
    """A quick fit."""
    return sgmc.negativebinomial(formula, frame, **{"seed": 1, **how})


@pytest.mark.extended
def test_a_bar_outside_parentheses_is_a_dispersion_model():
    assert of().names == ["Intercept", "x", "dispersion:Intercept", "dispersion:z"]
    assert of("y ~ x").names == ["Intercept", "x", "alpha"]
    grouped = sgmc.NegativeBinomial.from_formula("y ~ x + (1 | g)", TABLE)
    assert "sd(1|g)" in grouped.parameter_names() and "alpha" in grouped.parameter_names()
    made = sgmc.NegativeBinomial.from_formula("y ~ x | z", TABLE)
    assert isinstance(made, sgmc.NegativeBinomial)
    same = made.fit(seed=1)
    np.testing.assert_array_equal(same.draws, of().draws)
    glm = sgmc.glm("y ~ x | z", TABLE, family="negativebinomial", seed=1)
    np.testing.assert_array_equal(glm.draws, of().draws)
    assert of("y ~ 0 + x | 0 + z").names == ["x", "dispersion:z"]


@pytest.mark.extended
def test_names_and_priors_of_both_parts():
    results = fitted("simulated")
    assert results.names == list(TRUE) and results.df_model == 4
    table = results.prior_summary()
    both = ["Intercept", "dispersion:Intercept"]
    assert list(table.index[table.note == "at centred predictors"]) == both
    tight = of(prior={"dispersion:z": sgmc.normal(0, 0.05), "*": sgmc.normal(0, 1)})
    assert abs(tight.params["dispersion:z"]) < 0.15 < of().params["dispersion:z"]
    assert tight.prior_summary().specified["x"] == "normal(0, 1)"


@pytest.mark.extended
def test_summaries_and_ratios_say_what_they_are():
    for text in (str(of().summary()), str(of().summary(exponentiate=True))):
        assert "Negative binomial with dispersion model" in text
        flat = " ".join(text.split())
        assert "dispersion:... are of log alpha" in flat
        assert "exp of a slope is a ratio of alphas" in flat
    found = of().summary_frame(exponentiate=True)
    assert found.columns[0] == "ratio"
    middle = np.exp(np.median(of().flat[:, 3]))
    assert found["ratio"]["dispersion:z"] == pytest.approx(middle, rel=1e-6)
    assert "log alpha" not in str(of("y ~ x").summary())


def test_dispersions_of_rows():
    """Averages over draws of exp of the second predictor; the offset is not theirs."""
    results = of(exposure="e")
    g = results.flat[:, 2:]
    right = np.exp(g[:, :1] + g[:, 1:] * TABLE.z.to_numpy()[:9]).mean(axis=0)
    np.testing.assert_allclose(results.dispersion()[:9], right, rtol=1e-9)
    np.testing.assert_allclose(results.dispersion(TABLE[:9]), right, rtol=1e-9)


def test_predictions_of_new_rows_are_those_of_the_fit():
    results, some = of(exposure="e"), TABLE[:40]
    np.testing.assert_allclose(
        results.predict(some, exposure=some.e), results.fittedvalues[:40], rtol=1e-7
    )
    np.testing.assert_allclose(
        results.log_lik(some, endog="y", exposure=some.e), results.log_lik()[:, :40], rtol=1e-6
    )
    drawn = results.posterior_predict(some, exposure=some.e)
    mean = results.predict(some, exposure=some.e)
    assert drawn.mean() == pytest.approx(mean.mean(), rel=0.05)
    missing = some.assign(z=np.where(np.arange(40) == 3, np.nan, some.z))
    assert np.flatnonzero(results.predict(missing, exposure=some.e).isna()).tolist() == [3]
    summary = results.get_prediction(some[:2], exposure=some.e[:2]).summary_frame()
    assert summary.shape == (2, 6)


@pytest.mark.extended
def test_residuals_have_the_rows_own_variance():
    """Pearson's, averaged over draws; those of one dispersion are others."""
    results = of(exposure="e")
    b = results.flat[:, :, None]
    mu = TABLE.e.to_numpy() * np.exp(b[:, 0] + b[:, 1] * TABLE.x.to_numpy())
    alpha = np.exp(b[:, 2] + b[:, 3] * TABLE.z.to_numpy())
    right = ((TABLE.y.to_numpy() - mu) / np.sqrt(mu + alpha * mu**2)).mean(axis=0)
    np.testing.assert_allclose(results.resid_pearson, right, rtol=1e-9, atol=1e-9)
    one = of("y ~ x", exposure="e").resid_pearson
    assert np.abs(results.resid_pearson - one).max() > 0.1


@pytest.mark.extended
def test_rows_without_a_predictor_of_either_part_are_dropped():
    frame = TABLE.assign(
        x=np.where(np.arange(300) < 20, np.nan, TABLE.x),
        z=np.where(np.arange(300) >= 280, np.nan, TABLE.z),
    )
    results = of(frame=frame)
    assert results.nobs == 260 and results.model.dropped == 40
    np.testing.assert_array_equal(results.draws, of(frame=TABLE[20:280]).draws)
    with pytest.raises(DataError, match="missing"):
        of(frame=frame, missing="raise")


@pytest.mark.extended
def test_weights_count_rows_and_offsets_are_logs_of_exposures():
    weighed = of(frame=TABLE.assign(w=2), weights="w")
    twice = of(frame=pd.concat([TABLE, TABLE], ignore_index=True))
    assert np.abs((weighed.params - twice.params) / twice.bse).max() < 0.15
    np.testing.assert_allclose(weighed.bse, twice.bse, rtol=0.1)
    exposed = of(exposure="e")
    for other in (of(offset=np.log(TABLE.e)), of("y ~ x + offset(log(e)) | z")):
        np.testing.assert_allclose(exposed.params, other.params, rtol=1e-6)


@pytest.mark.extended
def test_a_large_offset_does_not_mislead_the_search():
    """The offset is of the mean alone: the search begins at the same dispersion."""
    plain, moved = of(), of(offset=np.full(300, 20.0))
    off = plain.params - moved.params - np.array([20, 0, 0, 0])
    assert np.abs(off[1:] / plain.bse[1:]).max() < 0.15 and moved.verdict.trustworthy


@pytest.mark.extended
def test_single_precision_has_the_same_posterior():
    wide, narrow = of(), of(dtype="float32")
    assert np.abs((wide.params - narrow.params) / wide.bse).max() < 0.1


@pytest.mark.extended
def test_loo_prefers_the_dispersion_model():
    frame = simulated(800)
    both = of("y ~ g + x | g + z", frame, exposure="e")
    table = sgmc.compare(both=both.loo(), one=of("y ~ g + x", frame, exposure="e").loo())
    assert table.index[0] == "both"
    assert 0.01 < both.pp_check().p["sd"] < 0.99
    folds = of().kfold(TABLE, k=2, seed=1)
    assert folds.elpd == pytest.approx(of().loo().elpd, abs=10)


@pytest.mark.extended
def test_files_pickles_and_saved_results(tmp_path):
    results = of()
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_allclose(of(frame=tmp_path / "t.csv").params, results.params, rtol=1e-6)
    results.save(tmp_path / "fit.sgmc")
    for one in (sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(results))):
        np.testing.assert_array_equal(one.predict(TABLE[:9]), results.predict(TABLE[:9]))
        np.testing.assert_array_equal(one.dispersion(TABLE[:9]), results.dispersion(TABLE[:9]))


def draws_of_priors():
    """Of a model with two designs."""
    return sgmc.NegativeBinomial.from_formula("y ~ x | z", TABLE).prior_predict()


REFUSED = {
    "two bars": (FormulaError, "those of the dispersion after it", lambda: of("y ~ x | z | g")),
    "no counts": (DataError, "count", lambda: of(frame=TABLE.assign(y=TABLE.y / 2))),
    "a known alpha": (ArgumentError, "leave one of them out", lambda: of(alpha=0.5)),
    "offset of z": (FormulaError, "belong to the dispersion", lambda: of("y ~ x | offset(z)")),
    "flat": (DataError, "posteriors of negativebinomial", lambda: of(prior="flat")),
    "zigzag": (NotSupported, "two predictors", lambda: of(sampler="zigzag")),
    "a dot": (ArgumentError, "a dot would stand", lambda: of().update("~ . + g", TABLE)),
    "deviance": (NotSupported, "needs a unit deviance", lambda: of().deviance),
    "prior_predict": (NotSupported, "second designs", draws_of_priors),
    "links": (ArgumentError, "several linear", lambda: of().avg_slopes("x", type="link")),
    "unknown": (FormulaError, "'q'", lambda: of("y ~ x | q")),
}


@pytest.mark.extended("a dot", "deviance", "links")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()


def test_prepared_tables_have_both_parts(tmp_path):
    prepared = sgmc.prepare("y ~ x + z", TABLE, tmp_path / "p.sgmc", seed=1)
    with pytest.raises(FormulaError, match="was prepared with the formula 'y ~ x \\+ z', not"):
        of(frame=prepared)
