"""cov_type="robust": draws have the covariance of the sandwich, which statsmodels' HC0 and plain
numpy know without us.

A covariance agrees if it is within 5 % of the sandwich in Frobenius norm.  Four chains of 4,000
nearly independent draws of five coefficients know it to about sqrt((d + 1) / 16000) = 2 %, of 2,000
to 3 %; at fixed seeds.  Mistakes planted in the fit must be past the same 5 %.
"""

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse

import sgmc
from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.transforms.maps import Tempered
from sgmc.coordinates.whitened import sandwich, score_covariance
from sgmc.core.expansion import expand
from sgmc.errors import (
    SGMCWarning,
    SpreadWarning,
)
from sgmc.models.regression import coordinates as problem

from .cases import (
    DRAWS,
    TOLERANCE,
    by_hand,
    counts_fit,
    error,
    hc0,
    misspecified_logit,
    overdispersed,
)

# ---- against HC0 ----


def test_overdispersed_counts_have_the_covariance_of_hc0():
    robust, model = hc0(*overdispersed())
    res = counts_fit()
    assert error(res.cov_params(), robust.cov_params()) < TOLERANCE
    assert (np.abs(res.params - robust.params) < 0.1 * robust.bse).all()
    assert (res.bse / np.sqrt(np.diag(res.cov_params(cov_type="nonrobust"))) > 1.6).all(), (
        "the model's sds are far off"
    )
    # the prior's share
    assert error(res.cov_params(cov_type="nonrobust"), model.cov_params()) < 1e-3


def swapped(mode, back, V, rotate, log_params):
    """Coordinates of V^-1 H V^-1: meat and bread exchanged."""
    return sandwich.sandwich_coordinates(
        Mode(mode.theta, V, 0 * V), back, mode.precision, rotate, log_params
    )


def untempered(mode, back, V, rotate, log_params):
    """Whitened for the sandwich, with the posterior's own drift."""
    where = sandwich.sandwich_coordinates(mode, back, V, rotate, log_params)
    return type(where)(**{**vars(where), "map": Tempered(where.map.inner, np.ones(len(V)))})


MISTAKES = {
    "V and J swapped": ("sandwich_coordinates", swapped),
    "drift not tempered": ("sandwich_coordinates", untempered),
    "the scale N/n of a batch of a quarter": (
        "score_covariance",
        lambda *a: 4 * sandwich.score_covariance(*a),
    ),
    "noise of all rows, without its scale": (
        "score_covariance",
        lambda *a: sandwich.score_covariance(*a) / a[0].n,
    ),
    "curvature in the place of the scores": (
        "score_covariance",
        lambda m, theta, w: expand(m, theta)[2],
    ),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_past_the_tolerance(name, monkeypatch):
    what, mistake = MISTAKES[name]
    module = score_covariance if what == "score_covariance" else problem
    monkeypatch.setattr(module, what, mistake)
    with warnings.catch_warnings():
        # some mistakes are so gross that they are warned of
        warnings.simplefilter("ignore", SGMCWarning)
        assert (
            error(
                counts_fit(seed=3, sampler="lmsgld").cov_params(),
                hc0(*overdispersed())[0].cov_params(),
            )
            > TOLERANCE
        )


@pytest.mark.extended
@pytest.mark.parametrize(
    "sampler", ["lmsgld", "sgld", "csgld", "sghmc", "baoab", "msgnht", "csgbd", "sglrw", "psgld"]
)
def test_any_sampler_without_accept_reject_leads_there(sampler):
    robust, _ = hc0(*overdispersed())
    assert (
        error(counts_fit(sampler=sampler, draws=2000).cov_params(), robust.cov_params()) < TOLERANCE
    )


@pytest.mark.extended
@pytest.mark.parametrize("n", [40, 400])
def test_plain_sgd_of_simple_samples_leads_there_by_its_own_noise(n):
    rows, (robust, _) = 4000, hc0(*overdispersed())
    how = dict(sampler="sgd-simple", subsample="uniform", batch_size=n, seed=2, draws=2000)
    with pytest.warns(SpreadWarning):
        assert (
            error(counts_fit(step_size=4 * n / rows, **how).cov_params(), robust.cov_params())
            < TOLERANCE
        )
    with pytest.warns(SpreadWarning):  # the finite-population factor forgotten, or the scale N/n
        assert (
            error(counts_fit(step_size=8 * n / rows, **how).cov_params(), robust.cov_params())
            > TOLERANCE
        )


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_a_misspecified_logit_has_the_covariance_of_hc0(storage):
    y, X = misspecified_logit()
    robust, model = hc0(y, X, sm.families.Binomial())
    assert error(robust.cov_params(), model.cov_params()) > 2 * TOLERANCE
    assert error(by_hand(y, X), robust.cov_params()) < 1e-6
    res = sgmc.Logit(y, storage(X)).fit(prior="flat", cov_type="robust", seed=1, draws=DRAWS)
    assert error(res.cov_params(), robust.cov_params()) < TOLERANCE


def test_frequency_weights_are_equal_rows():
    y, X = misspecified_logit(800)
    w = np.random.default_rng(0).integers(0, 4, len(y))
    again = by_hand(np.repeat(y, w), np.repeat(X, w, axis=0))
    assert error(by_hand(y, X, w.astype(float)), again) < 1e-6
    res = sgmc.Logit(y, X, weights=w).fit(
        prior="flat", cov_type="robust", sampler="laplace", seed=1, draws=DRAWS
    )
    assert error(res.cov_params(), again) < TOLERANCE


def test_a_strong_prior_has_its_say():
    y, X = misspecified_logit(60)
    tight = {"*": sgmc.normal(0, 0.01), "const": sgmc.normal(0, 0.01)}
    res = sgmc.Logit(y, X).fit(prior=tight, cov_type="robust", seed=1, draws=DRAWS)
    assert (np.abs(res.bse / 0.01 - 1) < TOLERANCE).all()
