"""Estimates and sds against statsmodels, R, the sandwich in numpy, and the truth of made data."""

import numpy as np
import pytest

import sgmc
from sgmc.models.regression.families.quantreg import QuantRegFamily
from sgmc.models.regression.mode import check_loss

from .cases import (
    TAUS,
    by_statsmodels,
    design,
    fitted,
    powell,
    real,
    spreading,
    true_covariance,
    truth,
)

NEAR = 0.1  # standard errors; that of 8,000 draws is .015
# n = 20,000: H is estimated to about 3 %, sds of 16,000 draws to 1 %
LARGE = 0.05
MANY = dict(prior="flat", seed=1, draws=4000)
# bandwidths differ by a factor of two, and f is estimated to 10 % or so from 300 rows
OTHER_BANDWIDTH = 0.25
# sds of summary(rq(foodexp ~ income, tau), se = "nid") in R's quantreg
ENGEL_R = {0.5: (19.25066, 0.02828), 0.9: (22.39538, 0.02849)}


@pytest.mark.extended
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", ["engel", "schools"])
def test_estimates_are_those_of_statsmodels(name, tau):
    mine, other = fitted(name, tau), by_statsmodels(name, tau)
    apart = (mine.params.to_numpy() - other.params) / np.minimum(mine.bse.to_numpy(), other.bse)
    assert np.abs(apart).max() < NEAR


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", ["engel", "schools"])
def test_the_covariance_is_the_sandwich_with_powells_density(name, tau):
    """Draws of its Gaussian, so that nothing but the covariance is compared: 32,000 of them have
    sds to 0.4 %.
    """
    frame, outcome, predictors = real()[name]
    X, y = design(frame, predictors), frame[outcome].to_numpy()
    expected = np.sqrt(np.diag(powell(X, y, tau)))
    found = fitted(name, tau, sampler="laplace", draws=8000).bse.to_numpy()
    assert np.abs(found / expected - 1).max() < 0.03


@pytest.mark.cover(0)
@pytest.mark.parametrize("tau", TAUS)
def test_sds_are_near_those_of_statsmodels_where_it_may_have_one_density(tau):
    """Of the schools, whose errors hardly depend on x; statsmodels has one density for all rows."""
    ratio = fitted("schools", tau).bse.to_numpy() / by_statsmodels("schools", tau).bse
    assert np.abs(ratio - 1).max() < OTHER_BANDWIDTH


@pytest.mark.extended
@pytest.mark.parametrize("tau", ENGEL_R)
def test_sds_of_engels_data_are_near_those_of_r_and_not_of_one_density(tau):
    """R's densities by row (Hendricks & Koenker 1992) see that expenditures spread with income; to
    30 %, as they are differences of fits at other quantiles.
    """
    found = fitted("engel", tau).bse.to_numpy()
    assert found == pytest.approx(np.array(ENGEL_R[tau]), rel=0.3)
    assert (found / by_statsmodels("engel", tau).bse > 1.4).all()


def departures(tau, seed=5, **how):
    """(estimates off, sds off) of 20,000 rows: standard errors, and relative to the truth."""
    frame = spreading(20_000, seed)
    res = sgmc.quantreg("y ~ x + z", frame, tau=tau, **{**MANY, **how})
    sd = np.sqrt(np.diag(true_covariance(frame, tau)))
    X, y = design(frame, ["x", "z"]), frame.y.to_numpy()
    exact = check_loss_minimum(X, y, tau)
    return (
        np.abs((res.params.to_numpy() - exact) / sd).max(),
        np.abs(res.bse.to_numpy() / sd - 1).max(),
    )


def check_loss_minimum(X, y, tau):
    """The coefficients at the minimum, by statsmodels."""
    import statsmodels.api as sm

    return sm.QuantReg(y, X).fit(q=tau).params


@pytest.mark.cover(0)
@pytest.mark.parametrize("tau", TAUS)
def test_many_rows_have_the_sds_of_the_true_density(tau):
    off, wide = departures(tau)
    assert off < NEAR and wide < LARGE


@pytest.mark.extended
def test_estimates_are_near_the_truth():
    """20,000 rows: within 4 standard errors of the coefficients that the data are made with."""
    frame = spreading(20_000, 5)
    for tau in TAUS:
        sd = np.sqrt(np.diag(true_covariance(frame, tau)))
        res = sgmc.quantreg("y ~ x + z", frame, tau=tau, sampler="laplace", seed=1)
        assert np.abs((res.params.to_numpy() - truth(tau)) / sd).max() < 4


# ---- planted mistakes, each past the tolerance that the tests above have ----


def test_the_working_covariance_is_seen():
    frame = spreading(20_000, 5)
    res = sgmc.quantreg("y ~ x + z", frame, tau=0.1, prior="flat", sampler="laplace", seed=1)
    working = np.sqrt(np.diag(res.cov_params(cov_type="nonrobust")))
    sd = np.sqrt(np.diag(true_covariance(frame, 0.1)))
    assert np.abs(working / sd - 1).max() > 2 * LARGE


def test_the_other_quantile_is_seen(monkeypatch):
    monkeypatch.setattr(
        sgmc.QuantReg, "chosen_family", classmethod(lambda cls, tau: QuantRegFamily(1 - tau))
    )
    off, _ = departures(0.1, sampler="laplace")
    assert off > 10 * NEAR


@pytest.mark.extended
def test_scores_without_the_factor_tau_are_seen(monkeypatch):
    """The covariance H^-1 X'X H^-1, without tau (1 - tau)."""
    from sgmc.models.regression import coordinates

    def mistaken(cov_type, model, theta, weight, d, codes=None):
        found = usual(cov_type, model, theta, weight, d, codes)
        return found / (model.tau * (1 - model.tau))

    usual = coordinates.covariance_of_scores
    monkeypatch.setattr(coordinates, "covariance_of_scores", mistaken)
    assert departures(0.1, sampler="laplace")[1] > 10 * LARGE


@pytest.mark.cover(0)
@pytest.mark.parametrize("factor", [5.0, 0.02])
def test_other_bandwidths_are_seen(factor, monkeypatch):
    """Too wide, H is that of other quantiles; too narrow, of a handful of rows."""
    monkeypatch.setattr(check_loss, "SILVERMAN", factor * check_loss.SILVERMAN)
    assert departures(0.5, sampler="laplace")[1] > LARGE
