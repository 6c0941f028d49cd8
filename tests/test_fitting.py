"""The rooms of a fit one by one: mode, whitening, leverage, lopsided columns and their coordinates,
pilot, BLAS limit.
"""

from functools import partial

import numpy as np
import pytest
from scipy import integrate, optimize, special
from threadpoolctl import threadpool_info

import sgmc
from sgmc import registry
from sgmc.coordinates.approximations import mode as mode_room
from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.identification.separation import lopsided_columns
from sgmc.coordinates.shapes.separation_transform import GRID, Outcomes, SeparatedDensity
from sgmc.coordinates.transforms.maps import Warp
from sgmc.coordinates.whitened.whitening import whitener
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import ModeWarning
from sgmc.fit.noise import SHAPE_PAIRS, draws_of_laplace, pilot
from sgmc.fit.settings import check_settings
from sgmc.models.regression.problem import regression_problem
from sgmc.priors import laplace, normal, student_t
from sgmc.subsampling.uniform import FullBatch

LOGIT, CLOGLOG, PROBIT, CAUCHIT = (
    Outcomes(registry.lookup("families", name, "family").family, usual)
    for name, usual in (("logit", 1), ("cloglog", -1), ("probit", 1), ("cauchit", -1))
)
RAMPS = {
    "separated": SeparatedDensity(normal(7.5, 120), 14, 0, -9.9, LOGIT),
    "one contrary": SeparatedDensity(normal(1.0, 3), 12, 1, -2.3, LOGIT),
    "student": SeparatedDensity(student_t(4, 5.0, 50), 7, 0, -8.0, LOGIT),
    "laplace": SeparatedDensity(laplace(5.0, 20), 30, 2, -2.5, LOGIT),
    "cloglog": SeparatedDensity(normal(7.5, 120), 14, 0, -9.9, CLOGLOG),
    "probit": SeparatedDensity(normal(2.0, 8), 400, 1, -2.8, PROBIT),
    "cauchit": SeparatedDensity(student_t(1, 3.0, 2.5), 50, 0, -8.0, CAUCHIT),
}


def problem(X, y, prior=None, **arguments):
    """The posterior of a logit in sampler coordinates."""
    model = sgmc.Logit(y, X)
    return regression_problem(model.data, model.family, prior, check_settings(seed=1, **arguments))


def simulated(n, d, seed=0):
    """A design with an intercept, and outcomes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(2, 3, (n, d - 1))])
    return X, (rng.random(n) < special.expit(X @ rng.normal(0, 0.3, d))).astype(float)


@pytest.mark.parametrize("rows", [300, 150_000], ids=["all rows", "warm start on a subset"])
def test_the_mode_is_the_maximum(rows):
    X, y = simulated(rows, 3)
    posterior = problem(X, y, prior={"*": normal(0, 2), "const": normal(0, 2)}, sampler="laplace")

    def minus_log_posterior(theta):
        eta = X @ theta
        return -(y @ eta - np.logaddexp(0, eta).sum()) + (theta @ theta) / 8

    found = optimize.minimize(
        minus_log_posterior,
        np.zeros(3),
        jac=lambda t: -X.T @ (y - special.expit(X @ t)) + t / 4,
        tol=1e-12,
    )
    ours = posterior.coordinates.theta(np.zeros(3))
    sd = np.sqrt(np.diag(posterior.coordinates.white @ posterior.coordinates.white.T))
    # Newton stops at 1e-6 sds, the check's minimiser before
    assert (np.abs(ours - found.x) < 1e-4 * sd).all()


def test_whitening_makes_the_precision_one_and_the_prior_diagonal():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(2, 6, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    mode = Mode(np.zeros(6), A.T @ A, B.T @ B)
    L, share = whitener(mode)
    np.testing.assert_allclose(L.T @ mode.precision @ L, np.eye(6), atol=1e-8)
    np.testing.assert_allclose(L.T @ mode.prior @ L, np.diag(share), atol=1e-8)


def test_rare_levels_are_computed_at_every_step():
    rng = np.random.default_rng(2)
    n = 20_000
    rare = np.zeros(n)
    rare[rng.choice(n, 12, replace=False)] = 1
    X = np.column_stack([np.ones(n), rng.normal(size=n), rare])
    y = (rng.random(n) < 0.4).astype(float)
    y[rare == 1] = np.arange(12) % 2  # six of each: skewness is not the point here
    posterior = problem(X, y)
    exact = posterior.table.order[np.asarray(posterior.anchor(("anchor", "curvature")).exact)]
    assert set(np.flatnonzero(rare)) <= set(exact) and len(exact) < 100


def test_lopsided_columns_are_counted_right():
    y = np.array([1, 0, 1, 0, 1, 0, 0, 0, 1, 1], dtype=float)
    X = np.column_stack(
        [
            np.ones(10),
            y * 0 + [1, 0, 0, 0, 1, 0, 0, 0, 1, 0],
            np.linspace(0, 1, 10),
            [5, 5, 3, 5, 3, 5, 5, 5, 5, 5],
        ]
    )
    walls = {w.column: w for w in lopsided_columns(X, y, 1 - y)}
    assert set(walls) == {1, 3}
    one, two = walls[1], walls[3]
    assert (one.rows, one.contrary, one.gap, one.common, one.usual) == (3, 0, 1.0, 0.0, 1)
    assert (two.rows, two.contrary, two.gap, two.common, two.usual) == (2, 0, -2.0, 5.0, 1)


@pytest.mark.parametrize("name", RAMPS)
def test_quantiles_of_a_ramp_are_those_of_its_density(name):
    ramp = RAMPS[name]
    at, log_slope, d_log_slope = ramp.quantiles()
    inside = np.abs(GRID) < 4
    mass = integrate.cumulative_simpson(np.exp(ramp.log(at)[0] + log_slope), x=GRID, initial=0.0)
    np.testing.assert_allclose((mass / mass[-1])[inside], special.ndtr(GRID)[inside], atol=1e-7)
    # second-order differences
    np.testing.assert_allclose(np.gradient(at, GRID)[inside], np.exp(log_slope)[inside], rtol=2e-3)
    # a Laplace prior has a kink there
    smooth = inside & (np.abs(at - ramp.prior.location) > 3 * np.gradient(at))
    np.testing.assert_allclose(np.gradient(log_slope, GRID)[smooth], d_log_slope[smooth], atol=5e-3)


@pytest.mark.parametrize("place", [-9.0, -2.203, 0.0, 1.5, 7.4999, 8.5])
def test_a_warp_is_consistent_with_its_derivatives(place):
    map = Warp(3, GRID, *(np.array(part)[None] for part in RAMPS["separated"].quantiles()))
    x, step = np.array([place, 0.3, -1.0]), 1e-5
    ahead, behind = map(x + [step, 0, 0]), map(x - [step, 0, 0])
    slope = (ahead - behind)[0] / (2 * step)
    np.testing.assert_allclose(map.slopes(x)[0], slope, rtol=1e-4)
    d_log_slope = np.log(map.slopes(x + [step, 0, 0])[0] / map.slopes(x - [step, 0, 0])[0]) / (
        2 * step
    )
    np.testing.assert_allclose(
        map.pulled(x, [2.0, 3.0, 4.0]),
        [2 * map.slopes(x)[0] + d_log_slope, 3.0, 4.0],
        rtol=1e-4,
        atol=1e-4,
    )
    if abs(place) < 7.5:
        np.testing.assert_allclose(map.inverse(map(x)), x, atol=1e-3)


def test_the_pilot_sees_skewness():
    X, y = np.ones((40, 1)), np.r_[np.ones(5), np.zeros(35)]
    posterior = problem(X, y, prior={"const": normal(0, 10)}, sampler="laplace")
    grid = np.linspace(-6, 2, 4001)
    density = special.softmax(5 * grid - 40 * np.logaddexp(0, grid) - grid**2 / 200)
    mean = density @ grid
    mode, sd = posterior.coordinates.theta(np.zeros(1))[0], abs(posterior.coordinates.white[0, 0])
    gradient = posterior.gradient("taylor", FullBatch(40), Rng(seed_sequence(0, "pilot")))
    seen = pilot(gradient, posterior.coordinates, draws_of_laplace(0, 1, SHAPE_PAIRS))
    true_shift = (mean - mode) / sd
    assert abs(true_shift) > 0.15  # skewed enough for the test to mean something
    assert abs(seen.mean_shift[0] - true_shift) < 0.4 * abs(true_shift)  # first order, 128 draws


@pytest.mark.parametrize("name", ["saga", "svrg"])
def test_noise_of_control_values_that_follow_the_chain_is_that_of_cv_twice(name):
    """They are at the mode when the pilot looks;
    in stationarity they are where the chain was, a draw apart.
    """
    posterior, rng = problem(*simulated(300, 3), sampler="sgld"), Rng(seed_sequence(0, "pilot"))
    at_mode, seen = (
        pilot(
            posterior.gradient(g, FullBatch(300), rng),
            posterior.coordinates,
            draws_of_laplace(0, 3),
        )
        for g in ("cv", name)
    )
    np.testing.assert_allclose(seen.noise, 2 * at_mode.noise, rtol=1e-9)
    np.testing.assert_allclose(seen.mean_shift, at_mode.mean_shift, atol=1e-9)


def test_the_blas_limit_nests_and_is_undone():
    def threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    before = threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_a_search_cut_short_of_the_mode_says_so(monkeypatch):
    X, y = simulated(300, 3)
    assert not any(isinstance(w, ModeWarning) for w in problem(X, y).warnings)
    monkeypatch.setattr(mode_room, "newton", partial(mode_room.newton, limit=2))
    assert [w.code for w in problem(X, y).warnings] == ["ModeWarning"]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_chain_that_diverges_keeps_what_came_before():
    X, y = simulated(300, 3)
    ends_badly = dict(sampler="sgld", thin=1, warmup=0, draws=5000, seed=1)
    results = sgmc.Logit(y, X).fit(step_size=lambda t: 0.1 if t < 400 else 50.0, **ends_badly)
    whole = sgmc.Logit(y, X).fit(step_size=lambda t: 0.1, **ends_badly)
    assert "DivergenceWarning" in {w.code for w in results.warnings}
    assert 400 <= results.draws.shape[1] < 5000 and np.isfinite(results.draws).all()
    np.testing.assert_array_equal(results.draws[:, :400], whole.draws[:, :400])
