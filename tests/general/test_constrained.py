"""Posteriors of constrained parameters against known ones, by several samplers;
a forgotten Jacobian is seen.
"""

import numpy as np
import pytest
from _ext import mistakes

from sgmc.coordinates.transforms.layout import Layout

from .models import CONJUGATE, Mirrored, Poissons, departures

SAMPLERS = {"mala": dict(draws=4000), "hmc": dict(draws=2000), "barker": dict(draws=8000)}
# five standard errors of 5,000 effective draws; in posterior sds, and relative
MEAN, SD = 0.07, 0.06


# of skewed posteriors, for samplers without accept-reject
@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", CONJUGATE)
def test_constrained_posteriors_are_right(name, sampler):
    mean, sd = departures(CONJUGATE[name](), sampler=sampler, **SAMPLERS[sampler])
    assert mean < MEAN and sd < SD


@pytest.mark.extended("vsgbd")
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("sampler", ["lmsgld", "sghmc", "vsgbd"])
def test_minibatches_of_constrained_models(sampler):
    mean, sd = departures(
        Poissons(),
        sampler=sampler,
        draws=2000,
        step_size=0.2,
        precondition="dense" if sampler != "vsgbd" else "diag",
    )
    # the step's own bias is about as large as the Monte Carlo error
    assert mean < 2 * MEAN and sd < 2 * SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_mirrored_langevin_dynamics():
    """Steps of 0.01 in log-ratios: their bias of the sd, about h/8 of the largest precision there
    (5), is below Monte Carlo's error.
    """
    mean, sd = departures(
        Mirrored(),
        sampler="sgld",
        precondition=None,
        step_size=0.01,
        gradient="simple",
        batch_size=9,
        thin=40,
        draws=2000,
        warmup=2000,
    )
    assert mean < 2 * MEAN and sd < 2 * SD


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", CONJUGATE)
def test_a_forgotten_jacobian_is_seen(name, monkeypatch):
    right = Layout.map
    monkeypatch.setattr(Layout, "map", property(lambda self: mistakes.NoJacobian(right.fget(self))))
    mean, sd = departures(CONJUGATE[name](), sampler="mala", draws=4000, precondition=None)
    assert mean > 2 * MEAN or sd > 2 * SD


@pytest.mark.parametrize("precondition", ["mode", "dense", "diag", None])
@pytest.mark.parametrize("name", CONJUGATE)
def test_coordinates_there_and_back(name, precondition):
    from sgmc.fit.settings import check_settings

    model = CONJUGATE[name]()
    problem = model.problem(
        None, check_settings(seed=1, precondition=precondition, subsample="uniform")
    )
    where, z = problem.coordinates, np.random.default_rng(0).normal(size=problem.dim)
    x = where.from_white(z)
    assert where.from_reported(where.reported(x)) == pytest.approx(x, abs=1e-9)
    assert where.white @ where.white.T == pytest.approx(np.linalg.inv(where.precision))
    assert (where.theta(x) - where.centre) == pytest.approx(where.white @ z, abs=1e-9)
    slope = where.spread(x)
    expected = slope.T @ (
        where.map.pulled(x, np.ones(where.map.size)) if where.map else np.ones(problem.dim)
    )
    assert where.pull_white(x, np.ones(len(problem.priors.names))) == pytest.approx(
        expected, abs=1e-9
    )
