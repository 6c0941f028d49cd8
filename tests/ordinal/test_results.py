"""Ordinal regression for its users: names, predictions, comparisons, arrays, files, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from .cases import fitted, small

NAMES = ["no", "low", "mid", "high"]
HMC = sgmc.HMC(target_accept=0.95)


def of(frame=None, formula="y ~ g + x", **how):
    """A quick fit."""
    how = {"seed": 1, "draws": 1000, **how}
    return sgmc.ordinal(formula, small() if frame is None else frame, **how)


def test_thresholds_follow_the_coefficients_under_their_names():
    results = fitted("small")
    assert results.names == ["g[T.v]", "x", "no|low", "low|mid", "mid|high"]
    cuts = results.draws[..., 2:]
    assert (np.diff(cuts, axis=-1) > 0).all()
    text = str(results.summary())
    assert "no|low" in text and "no < low < mid < high" in text and "Ordinal (probit link)" in text
    table = results.prior_summary()
    assert list(table.index) == ["Intercept", "g[T.v]", "x", "gap[low]", "gap[mid]"]
    assert table.specified["gap[low]"] == "exponential(scale=2.5)"
    assert set(results.accuracy().index) == set(results.names)


@pytest.mark.extended
def test_numbers_are_levels_in_their_order():
    frame = small()
    codes = frame.assign(y=frame.y.cat.codes * 2.5 - 1)
    results = of(codes, link="probit")
    assert results.names[2:] == ["-1|1.5", "1.5|4", "4|6.5"]
    np.testing.assert_array_equal(results.draws, of(link="probit").draws)


def test_predictions_are_probabilities_of_levels():
    results, frame = fitted("small"), small()
    p = results.predict(frame[:7])
    assert list(p.columns) == NAMES and list(p.index) == list(range(7))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p, results.fittedvalues[:7], rtol=1e-8)
    drawn = results.posterior_predict(frame[:7])
    np.testing.assert_allclose(drawn.mean(axis=0), p @ np.arange(4), atol=0.08)  # 4 errors
    lines = results.get_prediction(frame[:2]).summary_frame()
    assert lines.index.names == ["row", "y"]
    np.testing.assert_allclose(lines["mean"].to_numpy().reshape(2, 4), p[:2], rtol=1e-8)
    assert list(results.pp_check().index) == [f"share of {name}" for name in NAMES]


def test_likelihoods_are_those_of_the_probabilities():
    results, frame = fitted("small"), small()
    of_fit, of_new = results.log_lik(), results.log_lik(frame, endog="y")
    np.testing.assert_allclose(of_fit, of_new, rtol=1e-7)
    flat, X = results.flat, np.column_stack([frame.g == "v", frame.x]).astype(float)
    cuts = np.column_stack([np.full(len(flat), -np.inf), flat[:, 2:], np.full(len(flat), np.inf)])
    F, y = ndtr(cuts[:, None] - (flat[:, :2] @ X.T)[:, :, None]), frame.y.cat.codes
    p = np.take_along_axis(np.diff(F), y.to_numpy(int)[None, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(of_fit, np.log(p), rtol=1e-6)
    assert results.llf == pytest.approx(-results.deviance / 2)
    assert results.null_deviance > results.deviance


@pytest.mark.extended
def test_loo_compares_with_models_of_unordered_levels():
    loo = fitted("small").loo()
    other = sgmc.mnlogit("y ~ g + x", small(), seed=1).loo()
    table = sgmc.compare(ordinal=loo, mnlogit=other)
    assert set(table.index) == {"ordinal", "mnlogit"}
    assert 3 < loo.p < 8  # five parameters


@pytest.mark.extended
def test_arrays_and_weights_are_the_same_model():
    frame = small()
    X = np.column_stack([np.ones(120), frame.g == "v", frame.x]).astype(float)
    arrays = sgmc.Ordinal(frame.y, X, names=["Intercept", "g[T.v]", "x"], link="probit")
    np.testing.assert_array_equal(arrays.fit(seed=1).draws, fitted("small").draws)
    twice = of(pd.concat([frame, frame]), link="probit", draws=1000)
    weighed = of(frame.assign(w=2), weights="w", link="probit", draws=1000)
    np.testing.assert_allclose(weighed.params, twice.params, atol=0.1 * twice.bse.max())
    with pytest.raises(DataError, match="column of ones in exog"):
        sgmc.Ordinal(frame.y, X[:, 1:])


@pytest.mark.extended
def test_an_offset_moves_the_predictor():
    """One that is a predictor with coefficient 1 beside it: what is left of its coefficient."""
    frame = small()
    moved, plain = of(offset="x", link="probit"), of(link="probit")
    assert moved.params["x"] == pytest.approx(plain.params["x"] - 1, abs=0.2 * plain.bse["x"])
    with pytest.raises(NotSupported, match="null_deviance: the best shares"):
        moved.null_deviance
    assert np.isfinite(moved.predict(frame[:2], offset=frame.x[:2])).all(axis=None)


def test_exact_samplers_and_starts():
    hmc = of(sampler="hmc", link="probit", init=[0.5, 1.0, -1.0, 0.0, 1.0])
    assert np.abs((hmc.params - fitted("small").params) / hmc.bse).max() < 0.15
    with pytest.raises(ArgumentError, match=r"thresholds must increase, no\|low, low\|mid"):
        of(init=[0.5, 1.0, 1.0, 0.0, -1.0])


@pytest.mark.extended
def test_saved_results_predict(tmp_path):
    results = fitted("small")
    results.save(tmp_path / "fit.sgmc")
    loaded, copied = sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(results))
    for one in (loaded, copied):
        assert one.names == results.names
        np.testing.assert_array_equal(one.predict(small()), results.predict(small()))


def test_prepared_tables_have_numbers(tmp_path):
    frame = small()
    codes = frame.assign(y=frame.y.cat.codes + 1)
    prepared = sgmc.prepare("y ~ g + x", codes, tmp_path / "p.sgmc", seed=1)
    found = of(prepared, link="probit")
    assert found.names[2:] == ["1|2", "2|3", "3|4"]
    np.testing.assert_allclose(found.params, fitted("small").params, atol=0.05)
    labels = sgmc.prepare("y ~ g + x", frame, tmp_path / "q.sgmc", seed=1)
    with pytest.raises(DataError, match="prepare it with numbers in their place"):
        of(labels)


def test_a_level_without_weight_is_named():
    frame = small()
    with pytest.raises(DataError, match="no row of weight above 0 with the level mid"):
        of(frame.assign(w=(frame.y != "mid").astype(float)), weights="w")
    fewer = of(frame, subset="y != 'mid'", link="probit")
    assert fewer.names[2:] == ["no|low", "low|high"]


TEXT = small().assign(y=small().y.astype(str), p=small().y.cat.codes * 1.0)
TWO, BOTH = TEXT.assign(y=np.where(TEXT.x > 0, "a", "b")), TEXT.assign(y=TEXT.x > 0)
REFUSED = {
    "text": (DataError, "whose order is unknown: make it an ordered cat", lambda: of(TEXT)),
    "unordered": (DataError, "order is unknown", lambda: of(TEXT.astype({"y": "category"}))),
    "many numbers": (DataError, "120 distinct numbers; ordinal takes", lambda: of(formula="x ~ g")),
    "two levels": (DataError, "ordinal is for three or more", lambda: of(formula="I(x > 0)*1 ~ g")),
    "two labels": (DataError, "has two levels, .*use logit for two", lambda: of(TWO)),
    "true or false": (DataError, "has two levels, .*use logit for two", lambda: of(BOTH)),
    "no intercept": (DataError, "thresholds of ordinal stand for", lambda: of(formula="y ~ 0 + x")),
    "flat gaps": (ArgumentError, r"a flat one of 'gap\[low\]' may make", lambda: of(prior="flat")),
    "link": (ArgumentError, "link='log' must be one of 'logit', 'probit'", lambda: of(link="log")),
    "zigzag": (NotSupported, "gaps between thresholds", lambda: of(sampler="zigzag")),
    "exposure": (ArgumentError, "exposure does not apply to ordinal", lambda: of(exposure="x")),
    "residuals": (NotSupported, "are kinds", lambda: fitted("small").resid_response),
    "logit": (
        DataError,
        "or use mnlogit for all levels, ordinal where they are ordered",
        lambda: sgmc.logit("p ~ x", TEXT),
    ),
    "logit of labels": (
        DataError,
        "compare with one of them, or use mnlogit for all levels, ordinal",
        lambda: sgmc.probit("y ~ x", TEXT),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.extended
def test_separated_levels_are_fitted_under_the_priors():
    """x tells the levels without error: means are those of exact steps, or are not trusted."""
    x = np.linspace(-2, 2, 60)
    frame = pd.DataFrame({"x": x, "y": np.searchsorted([-1, 0.5], x)})
    results = sgmc.ordinal("y ~ x", frame, seed=1)
    exact = sgmc.ordinal("y ~ x", frame, seed=2, sampler=HMC, draws=4000)
    off = np.abs((results.params - exact.params) / exact.bse).max()
    assert off < 0.1 or not results.verdict.trustworthy
