"""cov_type="robust": draws have the covariance of the sandwich, which statsmodels' HC0 and plain
numpy know without us.

A covariance agrees if it is within 5 % of the sandwich in Frobenius norm.  Four chains of 4,000
nearly independent draws of five coefficients know it to about sqrt((d + 1) / 16000) = 2 %, of 2,000
to 3 %; at fixed seeds.  Mistakes planted in the fit must be past the same 5 %.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import linalg, sparse, special

import sgmc
from _ext.probes import slope
from sgmc.core.contract import Prior
from sgmc.core.design import design
from sgmc.core.expansion import expand
from sgmc.coordinates.maps import Affine, Scaling, Tempered
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import (
    ArgumentError,
    ConditionWarning,
    DataError,
    NotSupported,
    SGMCWarning,
    ShapeWarning,
    SpreadWarning,
)
from sgmc.models.regression import problem
from sgmc.coordinates import sandwich
from sgmc.coordinates.mode import Mode
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.registry import lookup
from sgmc.subsampling.uniform import Everything

TOLERANCE = 0.05
DRAWS = 4000


@cache
def overdispersed(n=4000, seed=1):
    """Counts with four predictors whose variance is mean + 1.4 mean^2: (y, X)."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
    return rng.poisson(np.exp(X @ [0.5, 0.3, -0.2, 0.1, 0.25]) * rng.gamma(0.7, 1 / 0.7, n)).astype(
        float
    ), X


def hc0(y, X, family=None):
    """statsmodels' fits, robust and not."""
    model = sm.GLM(y, X, family=family or sm.families.Poisson())
    return model.fit(cov_type="HC0"), model.fit()


def error(found, expected):
    """Relative difference in Frobenius norm."""
    return np.linalg.norm(np.asarray(found) - np.asarray(expected)) / np.linalg.norm(
        np.asarray(expected)
    )


def counts_fit(**arguments):
    """A robust fit of the overdispersed counts."""
    y, X = overdispersed()
    return sgmc.Poisson(y, X).fit(**{"cov_type": "robust", "seed": 1, "draws": DRAWS, **arguments})


def misspecified_logit(n=3000, seed=5):
    """A binary outcome that is a coin's where predictors are large, though they matter where they
    are small: (y, X).
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [np.ones(n), rng.normal(size=(n, 2)), rng.normal(size=n) * (rng.random(n) < 0.3)]
    )
    p = np.where(
        np.abs(X[:, 1:3]).max(axis=1) < 1.6, special.expit(X @ [-0.3, 2.5, 1.5, -1.0]), 0.5
    )
    return (rng.random(n) < p).astype(float), X


def by_hand(y, X, weights=None):
    """The sandwich of a logit at its mle, in numpy."""
    w, theta = np.ones(len(y)) if weights is None else weights, np.zeros(X.shape[1])
    for _ in range(50):
        p = special.expit(X @ theta)
        J = (X.T * (w * p * (1 - p))) @ X
        theta = theta + np.linalg.solve(J, X.T @ (w * (y - p)))
    V = (X.T * (w * (y - p) ** 2)) @ X
    return np.linalg.solve(J, np.linalg.solve(J, V).T)


def random_mode(d=4, seed=0):
    """A mode with any curvatures, and any V."""
    rng = np.random.default_rng(seed)
    J, P, V = (A @ A.T + 0.3 * np.eye(d) for A in rng.normal(size=(3, d, d)))
    return Mode(rng.normal(size=d), J, P / 10), V


def stationary(A, H, C):
    """Covariance that the step theta + A (-H theta + noise of covariance C) keeps;
    None where it diverges.
    """
    drift = np.eye(len(H)) - A @ H
    return (
        linalg.solve_discrete_lyapunov(drift, A @ C @ A.T)
        if np.abs(np.linalg.eigvals(drift)).max() < 1
        else None
    )


# ---- the algebra ----


@pytest.mark.parametrize("rotate", [True, False])
def test_coordinates_whiten_the_sandwich_and_make_the_curvature_diagonal(rotate):
    mode, V = random_mode()
    where = sandwich.sandwich_coordinates(mode, np.eye(4), V, rotate)
    inverse = np.linalg.inv(mode.precision)
    assert error(where.white @ where.white.T, inverse @ (V + mode.prior) @ inverse) < 1e-12
    assert (
        error(where.L.T @ mode.precision @ where.L, np.diag(1 / np.asarray(where.map.gamma)))
        < 1e-12
    )
    x = np.random.default_rng(2).normal(size=4)
    pull = where.L.T if rotate else np.eye(4)  # the table of a rotated model brings L itself
    slope = where.map.pulled(x, pull @ -mode.precision @ where.L @ x)
    assert slope == pytest.approx(-x, abs=1e-12), (
        "a sampler must see the gradient of a standard normal"
    )


def test_the_sandwich_of_a_right_model_is_its_posterior():
    mode, _ = random_mode()
    where = sandwich.sandwich_coordinates(mode, np.eye(4), mode.likelihood, True)
    assert error(where.white @ where.white.T, np.linalg.inv(mode.precision)) < 1e-12
    assert np.asarray(where.map.gamma) == pytest.approx(np.ones(4))


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_step_keeps_the_sandwich_and_is_the_whitened_step_for_noise_like_the_scores(
    seed,
):
    mode, V = random_mode(seed=seed)
    H, (_, C) = mode.precision, random_mode(seed=seed + 100)
    where = sandwich.sandwich_coordinates(mode, np.eye(4), V, True)
    S, h = where.white @ where.white.T, 0.7
    step = 2 * S @ H @ np.linalg.inv(C + H @ S @ H)
    assert error(stationary(step, H, C), S) < 1e-9
    assert (
        error(
            2 * S @ H @ np.linalg.inv((4 / h - 1) * H @ S @ H + H @ S @ H), h / 2 * np.linalg.inv(H)
        )
        < 1e-9
    )
    assert error(where.L * np.asarray(where.map.gamma) @ where.L.T, np.linalg.inv(H)) < 1e-9
    # the other order of factors
    script = stationary((S @ H + H @ S) @ np.linalg.inv(C + H @ S @ H), H, C)
    assert script is None or error(script, S) > TOLERANCE


def test_paths_through_a_tempered_map_are_refused():
    y, X = misspecified_logit(50)
    map = Tempered(Scaling(np.zeros(4), np.ones(4)), np.full(4, 2.0))
    gradient = lookup("gradients", "simple", "gradient")(
        BernoulliLogit(design(X), y),
        Prior(4),
        Everything(50),
        Rng(seed_sequence(0, "chain")),
        map=map,
    )
    with pytest.raises(NotSupported, match="do not lead to the sandwich"):
        slope(gradient, np.zeros(4), np.ones(4), Rng(seed_sequence(0, "chain")))


def test_a_tempered_map_multiplies_gradients_alone():
    rng = np.random.default_rng(3)
    gamma, matrix = rng.random(3) + 0.5, rng.normal(size=(3, 3))
    x, g = rng.normal(size=3), rng.normal(size=3)
    for inner in (Scaling(np.ones(3), np.full(3, 2.0)), Affine(np.ones(3), matrix)):
        map = Tempered(inner, gamma)
        assert (map(x) == inner(x)).all() and map.inverse(map(x)) == pytest.approx(x)
        assert map.pulled(x, g) == pytest.approx(gamma * inner.pulled(x, g))
    assert map.jacobian(np.zeros(len(g))).T @ g == pytest.approx(map.pulled(x, g))


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


def swapped(mode, back, V, rotate, logs):
    """Coordinates of V^-1 H V^-1: meat and bread exchanged."""
    return sandwich.sandwich_coordinates(
        Mode(mode.theta, V, 0 * V), back, mode.precision, rotate, logs
    )


def untempered(mode, back, V, rotate, logs):
    """Whitened for the sandwich, with the posterior's own drift."""
    where = sandwich.sandwich_coordinates(mode, back, V, rotate, logs)
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


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_past_the_tolerance(name, monkeypatch):
    monkeypatch.setattr(problem, *MISTAKES[name])
    with warnings.catch_warnings():
        # some mistakes are so gross that they are warned of
        warnings.simplefilter("ignore", SGMCWarning)
        assert (
            error(counts_fit(seed=3).cov_params(), hc0(*overdispersed())[0].cov_params())
            > TOLERANCE
        )


@pytest.mark.parametrize(
    "sampler", ["sgld", "csgld", "sghmc", "baoab", "msgnht", "csgbd", "sglrw", "psgld", "laplace"]
)
def test_any_sampler_without_accept_reject_leads_there(sampler):
    robust, _ = hc0(*overdispersed())
    assert (
        error(counts_fit(sampler=sampler, draws=2000).cov_params(), robust.cov_params()) < TOLERANCE
    )


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
    with pytest.warns(ConditionWarning, match="informed by the prior alone"):
        tight = {"*": sgmc.normal(0, 0.01), "const": sgmc.normal(0, 0.01)}
        res = sgmc.Logit(y, X).fit(prior=tight, cov_type="robust", seed=1, draws=DRAWS)
    assert (np.abs(res.bse / 0.01 - 1) < TOLERANCE).all()


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
    for sampler in ("auto", "laplace"):
        with pytest.warns(ShapeWarning, match="the sandwich is a statement about that Gaussian"):
            sgmc.Poisson(y, X).fit(cov_type="robust", sampler=sampler, seed=1)


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
