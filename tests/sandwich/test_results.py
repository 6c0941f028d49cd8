"""Fits with cov_type="robust": results, files and what they go with."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import sgmc
from sgmc.errors import (
    ArgumentError,
    DataError,
    NotSupported,
    ShapeWarning,
)

from .cases import DRAWS, TOLERANCE, by_hand, counts_fit, error, misspecified_logit, overdispersed

# ---- the house ----


def test_both_covariances_are_in_the_results_and_the_summary():
    res = counts_fit(draws=1000)
    text = res.summary().as_text()
    assert "robust (sandwich)" in text and "sd robust" in text and "sd model" in text
    assert max(map(len, text.splitlines())) <= 78
    frame = res.summary_frame()
    assert frame["sd_nonrobust"].to_numpy() == pytest.approx(
        np.sqrt(np.diag(res.cov_params(cov_type="nonrobust")))
    )
    assert (frame["sd"] == res.bse).all() and res.cov_type == "robust"
    assert (res.cov_params(cov_type="robust") == res.cov_params()).all(axis=None)
    assert res.ksd() is None and "cov_type" not in res.summary_frame()
    with pytest.raises(ArgumentError, match="'HC3'.*'nonrobust' and 'robust'"):
        res.cov_params(cov_type="HC3")


def test_results_of_the_model_have_its_covariance_alone():
    y, X = misspecified_logit(300)
    res = sgmc.Logit(y, X).fit(seed=1)
    assert (res.cov_params(cov_type="nonrobust") == res.cov_params()).all(axis=None)
    assert "sd robust" not in res.summary().as_text() and "sd_nonrobust" not in res.summary_frame()
    with pytest.raises(ArgumentError, match="fit with cov_type='robust'"):
        res.cov_params(cov_type="robust")


LEFT_OUT = {
    "loo": lambda res: res.loo(),
    "loo_pit": lambda res: res.loo_pit(),
    "compare": lambda res: sgmc.compare(res, res),
    "to_arviz": lambda res: res.to_arviz(log_likelihood=True),
    "kfold": lambda res: res.kfold(2),
}


@pytest.mark.parametrize("cov_type", ["robust", "HC3", "cluster"])
@pytest.mark.parametrize("way", LEFT_OUT)
def test_rows_are_not_left_out_of_draws_that_are_of_no_posterior(way, cov_type):
    frame = pd.DataFrame({"x": np.arange(200.0), "g": np.arange(200) % 50})
    frame["y"] = np.random.default_rng(2).poisson(2 + frame.x / 100)
    groups = "g" if cov_type == "cluster" else None
    res = sgmc.poisson("y ~ x", frame, cov_type=cov_type, groups=groups, seed=1, draws=200)
    with pytest.raises(NotSupported, match="does not apply to cov_type=.*'nonrobust'") as refused:
        LEFT_OUT[way](res)
    assert refused.value.because == "mathematics"


def test_calibration_of_draws_with_a_sandwich_takes_all_rows():
    y, X = misspecified_logit(300)
    res = sgmc.Logit(y, X).fit(seed=1, cov_type="HC3")
    with pytest.raises(NotSupported, match="or give loo=False"):
        res.calibration()
    assert 0 < res.calibration(loo=False).brier < 0.25


def frame_of(n=1200):
    """The misspecified logit as a table."""
    y, X = misspecified_logit(n)
    return pd.DataFrame(X[:, 1:], columns=["a", "b", "c"]).assign(y=y)


def test_runs_go_on_bit_by_bit(tmp_path):
    df, how = frame_of(), dict(cov_type="robust", seed=4, chains=2)
    whole = sgmc.logit("y ~ .", df, draws=1600, **how)
    part = sgmc.logit("y ~ .", df, draws=800, **how)
    assert (part.resume(800).draws == whole.draws).all()
    part.save(tmp_path / "part")
    loaded = sgmc.load(tmp_path / "part")
    assert (loaded.cov_params(cov_type="nonrobust") == part.cov_params(cov_type="nonrobust")).all(
        axis=None
    )
    assert (loaded.resume(800, data=df).draws == whole.draws).all()
    assert (sgmc.logit("y ~ .", df, draws=1600, threads=1, **how).draws == whole.draws).all()


def test_a_checkpoint_of_the_posterior_is_not_one_of_the_sandwich(tmp_path):
    how = dict(
        seed=4,
        chains=2,
        draws=800,
        sampler="lmsgld",
        step_size=0.5,
        batch_size=100,
        checkpoint=tmp_path / "run",
    )
    sgmc.logit("y ~ .", frame_of(), **how)
    with pytest.raises(ArgumentError, match="cov_type was 'nonrobust', here it is 'robust'"):
        sgmc.logit("y ~ .", frame_of(), cov_type="robust", **how)


@pytest.mark.extended("more0", "more1", "more3")
@pytest.mark.parametrize(
    "more",
    [
        dict(subsample="preferential"),
        dict(subsample="stratified"),
        dict(batch_size="adaptive"),
        dict(gradient="saga"),
        dict(dtype="float32"),
        dict(prior="cauchy"),
    ],
)
def test_it_goes_with_what_else_there_is(more):
    y, X = misspecified_logit(1500)
    res = sgmc.Logit(y, X).fit(cov_type="robust", seed=1, draws=DRAWS, **more)
    # other priors, and noise of up to 1 % of the variance
    assert error(res.cov_params(), by_hand(y, X)) < 2 * TOLERANCE


def test_few_rows_and_much_dispersion_are_warned_of():
    y, X = overdispersed(60)
    for sampler in ("auto", "lmsgld"):
        with pytest.warns(ShapeWarning, match="the sandwich is a statement about that Gaussian"):
            res = sgmc.Poisson(y, X).fit(cov_type="HC3", sampler=sampler, seed=1)
        assert not res.verdict.trustworthy and "ShapeWarning" in str(res.summary())


@pytest.mark.extended
def test_a_wide_table_of_sds_is_in_blocks():
    rng = np.random.default_rng(7)
    X = np.column_stack([np.ones(3000), rng.normal(size=(3000, 220)) / 15])
    y = rng.integers(0, 2, 3000)
    text = sgmc.Logit(y, X).fit(cov_type="robust", sampler="laplace", seed=1).summary().as_text()
    assert "min ratio" in text and max(map(len, text.splitlines())) <= 78


def test_rows_with_coefficients_of_their_own_are_refused():
    X = np.column_stack([np.ones(40), np.eye(40)[:, 0]])
    y = np.random.default_rng(0).poisson(3.0, 40).astype(float)
    with pytest.raises(DataError, match="residuals leave no variance in 1 of 2 directions"):
        sgmc.Poisson(y, X).fit(prior="flat", cov_type="robust")


def test_a_factor_equal_to_the_clusters_comes_off_both_sides():
    rng = np.random.default_rng(3)
    firm = np.repeat(np.arange(40), 6)
    df = pd.DataFrame({"x": rng.normal(size=240) + rng.normal(size=40)[firm]})
    df["y"] = 0.5 * df.x + rng.normal(size=40)[firm] + rng.normal(size=240)
    how = dict(prior="flat", seed=1, cov_type="cluster", groups=firm)
    with pytest.raises(DataError, match="equal to the clusters, take the mean of each cluster off"):
        sgmc.ols("y ~ x + C(firm)", df.assign(firm=firm), **how)
    within = df - df.groupby(firm).transform("mean")
    found = sgmc.ols("y ~ x - 1", within, **how, draws=4000)
    # the slope beside all dummies, and the errors of clusters of the same rows: within four Monte
    # Carlo errors of 16,000 independent draws, 1 / sqrt(16000) sds of the mean and a share of
    # 1 / sqrt(32000) of the sd
    slope = smf.ols("y ~ x + C(firm)", df.assign(firm=firm)).fit().params["x"]
    expected = smf.ols("y ~ x - 1", within).fit(cov_type="cluster", cov_kwds={"groups": firm})
    assert abs(found.params["x"] - slope) < 4 / np.sqrt(16000) * found.bse["x"]
    assert found.bse["x"] == pytest.approx(expected.bse["x"], rel=4 / np.sqrt(32000))
