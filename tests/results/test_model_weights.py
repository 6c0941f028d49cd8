"""Stacking and pseudo-BMA weights against ArviZ's, and R^2 against its formula."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.criticism import explained, stacking

FORMULAS = {"x": "y ~ x", "z": "y ~ z", "none": "y ~ 1"}


@pytest.fixture(scope="module")
def data():
    """Neither x nor z alone is true."""
    rng = np.random.default_rng(2)
    df = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "z"])
    return df.assign(y=0.5 * df.x + 0.45 * df.z + rng.normal(size=200), w=rng.integers(1, 4, 200))


@pytest.fixture(scope="module")
def fits(data):
    return {name: sgmc.ols(text, data, seed=1) for name, text in FORMULAS.items()}


@pytest.fixture(scope="module")
def loos(fits):
    return {name: one.loo() for name, one in fits.items()}


@pytest.mark.extended
@pytest.mark.parametrize("method", ["stacking", "pseudo-bma"])
def test_weights_are_arviz(fits, loos, method):
    arviz_stats = pytest.importorskip("arviz_stats")
    pytest.importorskip("arviz_base")
    trees = {name: one.to_arviz(log_likelihood=True) for name, one in fits.items()}
    with warnings.catch_warnings():  # of pandas, by ArviZ
        warnings.simplefilter("ignore")
        wanted = arviz_stats.compare(trees, method=method)["weight"]
    found = sgmc.model_weights(loos, method=method)
    # ArviZ's optimiser stops at 1e-3 or so of a weight
    np.testing.assert_allclose(found, wanted.astype(float)[found.index], atol=5e-3)
    assert found.sum() == pytest.approx(1)


def test_pseudo_bma_plus_is_arviz(fits, loos):
    """The Monte Carlo error of a weight is below .5 / sqrt(1000) = .016 of ArviZ's 1,000 draws and
    .008 of ours: .05 is three of both together.  Plain pseudo-BMA is farther off.
    """
    arviz_stats = pytest.importorskip("arviz_stats")
    pytest.importorskip("arviz_base")
    trees = {name: one.to_arviz(log_likelihood=True) for name, one in fits.items()}
    with warnings.catch_warnings():  # of pandas, by ArviZ
        warnings.simplefilter("ignore")
        wanted = arviz_stats.compare(trees, method="BB-pseudo-BMA")["weight"].astype(float)
    found = sgmc.model_weights(loos, method="pseudo-bma+")
    np.testing.assert_allclose(found, wanted[found.index], atol=0.05)
    assert found.sum() == pytest.approx(1)
    plain = sgmc.model_weights(loos, method="pseudo-bma")
    assert (plain - wanted[plain.index]).abs().max() > 0.1


def test_the_bootstrap_of_two_models_in_closed_form():
    """The difference is normal with variance n var(d): the weight is the mean of the logistic
    function over it.  .025: three Monte Carlo errors of .5 / sqrt(4000) at most.
    """
    rng = np.random.default_rng(3)
    d = rng.normal(size=2000)
    d = (d - d.mean()) / d.std() * 0.05 + 1e-3  # sum 2, standard error 2.2
    scores = np.column_stack([d, np.zeros(2000)])
    found = stacking.bootstrapped(scores.sum(axis=0), scores, np.ones(2000), 2000.0, 1)
    t = 2 + np.sqrt(2000) * 0.05 * rng.normal(size=200_000)
    wanted = np.mean(1 / (1 + np.exp(-t)))
    assert found[0] == pytest.approx(wanted, abs=0.025)
    assert stacking.shares(scores.sum(axis=0))[0] > wanted + 0.05  # what plain pseudo-BMA has
    # a fifth of the rows, each standing for five: the same spread, around the elpd of all
    some = rng.choice(2000, 400, replace=False)
    part = stacking.bootstrapped(scores.sum(axis=0), scores[some], np.full(400, 5.0), 2000.0, 1)
    sd = d[some].std() / 0.05  # of this sample, relative to all
    wanted = np.mean(1 / (1 + np.exp(-(2 + (t - 2) * sd))))
    assert part[0] == pytest.approx(wanted, abs=0.025)
    forgotten = stacking.bootstrapped(scores.sum(axis=0), scores[some], np.ones(400), 2000.0, 1)
    assert abs(forgotten[0] - wanted) > 0.05


def test_frequency_weights_of_the_bootstrap_are_so_many_rows():
    """Of 30 rows, each three times."""
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(30, 2)) * 0.4
    args = 3 * scores.sum(axis=0), np.repeat(scores, 3, axis=0), np.ones(90), 90.0, 2
    each = stacking.bootstrapped(*args)
    weighted = stacking.bootstrapped(args[0], scores, np.full(30, 3.0), 90.0, 5)
    np.testing.assert_allclose(weighted, each, atol=0.035)  # three errors of a difference


@pytest.mark.extended
def test_the_bootstrap_has_a_seed(fits, loos):
    how = dict(method="pseudo-bma+")
    found = sgmc.model_weights(loos, **how)
    assert found.equals(sgmc.model_weights(loos, **how, seed=0))
    assert not found.equals(sgmc.model_weights(loos, **how, seed=3))
    assert sgmc.model_weights(fits, **how).equals(sgmc.model_weights(loos, **how, seed=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacking, "BOOTSTRAP_CELLS", 200 * 300)
        np.testing.assert_allclose(sgmc.model_weights(loos, **how), found, rtol=1e-10)


@pytest.mark.extended
def test_stacking_of_results_is_that_of_their_loos(fits, loos):
    found = sgmc.model_weights(list(fits.values()))
    np.testing.assert_allclose(found, sgmc.model_weights(loos))
    assert list(found.index) == ["model0", "model1", "model2"]
    assert found["model0"] > 0.2 and found["model1"] > 0.2


def score(weights, scores, count):
    return count @ np.log(np.exp(scores) @ weights)


def test_no_other_weights_have_a_better_score():
    rng = np.random.default_rng(5)
    scores, count = rng.normal(size=(60, 3)) - 2, rng.integers(1, 4, 60).astype(float)
    found = stacking.stacked(scores, count)
    others = rng.dirichlet(np.ones(3), 4000)
    best = max(score(one, scores, count) for one in others)
    assert score(found, scores, count) >= best
    forgotten = stacking.stacked(scores, np.ones(60))
    assert score(forgotten, scores, count) < score(found, scores, count) - 1e-3


def test_equal_models_share_and_a_bad_one_has_nothing():
    scores = np.column_stack([np.full(50, -1.0), np.full(50, -1.0), np.full(50, -900.0)])
    found = stacking.stacked(scores, np.ones(50))
    np.testing.assert_allclose(found, [0.5, 0.5, 0], atol=1e-6)


def test_fits_must_be_of_the_same_outcomes(fits, data):
    other = sgmc.ols("z ~ x", data, seed=1)
    with pytest.raises(ArgumentError, match="model_weights: .* not of the same outcomes"):
        sgmc.model_weights([fits["x"], other])
    with pytest.raises(ArgumentError, match="method="):
        sgmc.model_weights(fits, method="bma")
    with pytest.raises(ArgumentError, match="list or dict"):
        sgmc.model_weights(fits["x"])
    with pytest.raises(ArgumentError, match="at least two"):
        sgmc.model_weights({"x": fits["x"]})


def assert_r2(res, data, weights):
    """var(X b) / (var(X b) + sigma^2), draw by draw."""
    mean = res.model.spec.matrix(data) @ res.flat[:, :-1].T
    middle = np.average(mean, axis=0, weights=weights)
    spread = np.average((mean - middle) ** 2, axis=0, weights=weights)
    wanted = spread / (spread + res.flat[:, -1] ** 2)
    found = res.r2()
    assert found["mean"] == pytest.approx(wanted.mean(), rel=1e-9)
    assert found["sd"] == pytest.approx(wanted.std(ddof=1), rel=1e-7)
    assert found["[0.025"] == pytest.approx(np.quantile(wanted, 0.025), rel=1e-9)


def test_r2_of_normal_outcomes(fits, data):
    assert_r2(fits["x"], data, None)
    res = sgmc.ols("y ~ x + z", data, weights="w", seed=1)
    assert_r2(res, data, data.w)
    with pytest.raises(AssertionError):
        assert_r2(res, data, None)  # weights forgotten


@pytest.mark.extended
def test_r2_is_the_classical_one_of_many_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = 2 + 0.75 * x + rng.normal(size=20_000)  # 0.5625 / 1.5625
    found = sgmc.ols("y ~ x", dict(x=x, y=y), seed=1, draws=500).r2()
    assert found["mean"] == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=2e-4)


def test_r2_of_outcomes_0_and_1(data):
    df = data.assign(hit=(data.y > 0).astype(int))
    res = sgmc.logit("hit ~ x + z", df, seed=1)
    p = 1 / (1 + np.exp(-res.model.spec.matrix(df) @ res.flat.T))
    wanted = p.var(axis=0) / (p.var(axis=0) + (p * (1 - p)).mean(axis=0))
    assert res.r2()["mean"] == pytest.approx(wanted.mean(), rel=1e-9)
    rows = res.table_rows()
    np.testing.assert_allclose(explained.explained(rows), wanted, rtol=1e-8)


def test_r2_of_kinds_is_refused(data):
    df = data.assign(kind=np.where(data.y > 0.5, "a", np.where(data.y > -0.5, "b", "c")))
    with pytest.raises(NotSupported, match="r2"):
        sgmc.mnlogit("kind ~ x", df, seed=1).r2()
