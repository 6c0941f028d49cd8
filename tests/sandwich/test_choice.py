"""What draws a sandwich by default, and where its Gaussian is warned of."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.whitened import score_covariance
from sgmc.errors import LeverageWarning

from .cases import misspecified_logit, overdispersed

QUICK = dict(cov_type="robust", seed=1, draws=300)


def test_the_default_is_independent_draws_of_the_gaussian():
    y, X = misspecified_logit(400)
    res = sgmc.Logit(y, X).fit(**QUICK)
    same = sgmc.Logit(y, X).fit(sampler="laplace", **QUICK)
    assert (res.draws == same.draws).all() and res.verdict.trustworthy
    text = res.summary(details=True).as_text().replace("\n", " ")
    assert "Independent draws taken: the sandwich's Gaussian" in text


@pytest.mark.parametrize(
    "given",
    [
        dict(gradient="saga"),
        dict(batch_size=100),
        dict(step_size=0.5),
        dict(batch_size="adaptive"),
        dict(subsample="uniform"),
    ],
)
def test_arguments_for_mini_batches_are_kept(given):
    y, X = misspecified_logit(400)
    # short chains of few rows: what is warned of is not the subject
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        text = str(sgmc.Logit(y, X).fit(**QUICK, **given).summary(details=True))
    assert "lmsgld" in text and "arguments for mini-batches are given" in text.replace("\n", " ")


def test_a_sampler_that_is_given_is_kept():
    y, X = misspecified_logit(400)
    text = str(sgmc.Logit(y, X).fit(**QUICK, sampler="laplace").summary(details=True))
    assert "Independent draws taken" not in text
    text = str(sgmc.Logit(y, X).fit(**{**QUICK, "draws": 2000}, sampler="baoab").summary())
    assert "baoab" in text and "Gaussian at its mode" not in text


def far_out(n=200, seed=5):
    """Normal outcomes whose noise is larger in the few rows that lie far out."""
    rng = np.random.default_rng(seed)
    x = rng.standard_t(2, n)
    return pd.DataFrame({"x": x, "y": 1 + 0.5 * x + np.sqrt(0.3 + np.abs(x)) * rng.normal(size=n)})


def both_by_hand(df):
    """sds of the slope by HC0 and HC3 in numpy, and the largest leverage."""
    X = np.column_stack([np.ones(len(df)), df.x])
    bread = np.linalg.inv(X.T @ X)
    h = np.einsum("ij,jk,ik->i", X, bread, X)
    residual = df.y.to_numpy() - X @ bread @ X.T @ df.y.to_numpy()
    sds = [
        np.sqrt(np.diag(bread @ (X.T * (residual / by) ** 2) @ X @ bread)) for by in (1.0, 1 - h)
    ]
    return (sds[1] / sds[0]).max() - 1, h.max()


def test_high_leverages_are_warned_of_and_not_trusted():
    df = far_out()
    wider, largest = both_by_hand(df)
    assert wider > score_covariance.NARROW
    said = f"leverages of rows are up to {largest:.2g}.*up to {100 * wider:.0f} % wider"
    with pytest.warns(LeverageWarning, match=said):
        res = sgmc.ols("y ~ x", df, prior="flat", **QUICK)
    assert not res.verdict.trustworthy and "high leverage" in str(res.verdict)
    assert "LeverageWarning" in str(res.summary()) and "cov_type='HC3'" in str(res.verdict)
    followed = sgmc.ols("y ~ x", df, prior="flat", **{**QUICK, "cov_type": "HC3"})
    assert followed.verdict.trustworthy
    assert followed.bse["x"] / res.bse["x"] - 1 == pytest.approx(wider, abs=0.05)  # of 1,200 draws


def test_leverages_without_much_effect_are_not():
    df = far_out()
    df["y"] = 1 + 0.5 * df.x + np.random.default_rng(1).normal(size=len(df)) / (1 + df.x**2)
    wider, largest = both_by_hand(df)
    # so large that scores are looked at, which are small there
    assert wider < score_covariance.NARROW < largest
    assert sgmc.ols("y ~ x", df, prior="flat", **QUICK).verdict.trustworthy


def test_copies_share_a_leverage():
    df = far_out(60)
    copies = df.loc[np.repeat(df.index, 2)]
    wider, largest = both_by_hand(copies)
    assert wider > score_covariance.NARROW
    for frame, more in ((df, {"weights": np.full(60, 2)}), (copies, {})):
        said = f"leverages of rows are up to {largest:.2g}.*up to {100 * wider:.0f} % wider"
        with pytest.warns(LeverageWarning, match=said):
            sgmc.ols("y ~ x", frame, prior="flat", **QUICK, **more)


def test_a_row_with_a_coefficient_of_its_own_is_named():
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"x": rng.normal(size=80), "own": np.arange(80) == 7})
    df["y"] = rng.poisson(np.exp(0.5 + 0.3 * df.x))
    with pytest.warns(LeverageWarning, match="1 rows have leverage one"):
        sgmc.poisson("y ~ x + own", df.assign(own=df.own.astype(float)), **QUICK)


@pytest.mark.parametrize("n", [500])
def test_fits_of_overdispersed_counts_are_trusted(n):
    """Ten data sets, at the default draws."""
    for seed in range(10):
        y, X = overdispersed(n, seed)
        res = sgmc.Poisson(y, X).fit(cov_type="robust", seed=seed)
        assert res.verdict.trustworthy, str(res.verdict)
