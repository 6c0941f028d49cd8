"""Signs of sds of effects, which mean nothing: draws in the place of others of the same density."""

import numpy as np
import pytest

import sgmc
from sgmc.core.engine import density
from sgmc.models.regression.latent.integrated.coordinates import with_signs

from .tables import published

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
SHORT = dict(sampler="hmc", draws=100, warmup=100, seed=1)


def moved(problem, x, free):
    """Draws with other signs, where the mode is elsewhere and some signs are random."""
    mode = problem.mode.theta.copy()
    fold = problem.coordinates.report.signs
    mode[fold.first] *= -1
    sds = slice(fold.first, fold.first + fold.loading.q)
    return with_signs(problem.coordinates, fold, x, mode, free, 3), sds


@pytest.mark.parametrize("free", [[], [1]])
def test_turned_draws_have_the_same_density_and_mean_the_same(free):
    results = sgmc.ols("Reaction ~ Days + (Days | Subject)", published("sleepstudy"), **SHORT)
    fit, rows = results._fit, results._fit.problem.all_rows()
    x, sds = moved(fit.problem, fit.x, free)
    where = fit.problem.coordinates
    signs = np.sign(where.natural(x)[..., sds])
    assert (signs[..., 0] == -np.sign(fit.problem.mode.theta[sds][0])).all()
    assert np.ptp(signs[..., 1]) == (2 if free else 0)
    assert np.allclose(where.reported(x), results.draws, rtol=1e-8, atol=1e-8)
    some = [(0, 3), (1, 50), (3, 99)]
    assert np.allclose([density(rows, x[k]) for k in some], [density(rows, fit.x[k]) for k in some])


def test_draws_of_a_fit_have_the_sign_of_the_mode():
    results = sgmc.ols("Reaction ~ Days + (Days | Subject)", published("sleepstudy"), **SHORT)
    problem = results._fit.problem
    sds = problem.coordinates.natural(results._fit.x)[..., 2:4]
    assert not problem.own.near_zero and (sds * problem.mode.theta[2:4] > 0).all()


def test_where_an_sd_may_be_zero_scores_are_not_asked_for_its_error():
    rng = np.random.default_rng(1)
    g = np.repeat(np.arange(15), 6)
    frame = {"g": g, "x": rng.normal(size=90), "y": rng.normal(size=90)}
    results = sgmc.ols("y ~ x + (1 | g)", frame, **SHORT)
    assert results._fit.problem.own.near_zero == [0]
    assert np.isinf(results.accuracy().loc["sd(1|g)", "departure"])
    assert np.isfinite(results.accuracy().loc["x", "departure"])
