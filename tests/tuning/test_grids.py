"""Grids, schedules and progress."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError
from sgmc.registry import room
from sgmc.tuning import race as racing
from sgmc.tuning import scores

from .races import without_seconds

# short fits, and steps that are known to be long
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def test_the_default_grid_is_around_the_derived_default(model):
    default = sgmc.tune(model, method="default", budget_steps=100, seed=1)
    arms = sgmc.tune(model, budget_steps=100, seed=1).arms
    h, m = default.best["step_size"], default.best["batch_size"]
    assert len(default.arms) == 1
    assert np.allclose(np.unique(arms.step_size), h * 10 ** np.arange(-2, 2.1, 0.5))
    assert sorted(set(arms.batch_size)) == [round(m / 3), m, 3 * m]
    kept = model.fit(sampler="sgld", seed=1, draws=10)._fit.plan
    assert (kept.schedule(0), kept.batch) == (h, m)


def test_any_declared_parameter_is_an_axis(model):
    result = sgmc.tune(
        model,
        sampler="sghmc",
        grid={"leapfrog": [2, 8], "friction": [1.0, 2.0, 4.0], "step_size": np.array([0.1, 0.5])},
        batch_size=50,
        budget_steps=200,
        seed=1,
    )
    assert len(result.arms) == 12
    assert list(result.arms.columns) == [
        "step_size",
        "batch_size",
        "leapfrog",
        "friction",
        "diverged",
    ]
    chosen = result.arms.loc[result.winner]
    assert result.best["sampler"] == sgmc.SGHMC(
        leapfrog=int(chosen.leapfrog), friction=chosen.friction
    )


RACING = sorted(
    name
    for name, cls in room("samplers").items()
    if name != "laplace"
    and not (cls.independent or cls.direct or cls.continuous or cls.probabilities)
)


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", RACING)
def test_every_sampler_races(model, sampler):
    result = sgmc.tune(model, sampler=sampler, budget_steps=120, seed=1)
    assert len(result.arms) in (9, 18, 27)
    assert np.isfinite(result.history[result.history.arm == result.winner].metric).all()
    assert len(model.fit(**result.best, draws=10, chains=1, seed=1).draws) == 1


def test_a_recipe_races_over_given_steps(model):
    """Nothing is known of its errors, so that there is no default step; its other parameters are
    axes like those of others.
    """
    recipe = sgmc.Recipe(np.eye(3))
    result = sgmc.tune(
        model,
        sampler=recipe,
        grid={"step_size": [0.01, 0.2], "corrected": [False, True]},
        budget_steps=100,
        seed=1,
    )
    assert len(result.arms) == 12
    assert set(result.arms.corrected) == {False, True}
    assert set(result.arms.step_size) == {0.01, 0.2}
    with pytest.raises(ArgumentError, match="step_size: recipe has no default"):
        sgmc.tune(model, sampler=recipe, budget_steps=100, seed=1)


def test_a_grid_runs_every_arm_to_the_end(model):
    result = sgmc.tune(model, method="grid", batch_size=50, budget_steps=200, seed=1)
    assert (result.history.rung == 0).all()
    assert (result.history.steps == 200).all()
    assert len(result.history) == 9
    assert result.winner == result.history.set_index("arm").metric.idxmin()


def test_the_heuristic_is_one_over_n_in_raw_coordinates(model):
    best = sgmc.tune(model, method="heuristic", budget_steps=100, seed=1).best
    assert best["step_size"] == 1 / 2000
    assert best["batch_size"] == 200
    assert best["precondition"] is None


VARYING = sgmc.Polynomial.between(1.0, 0.1, 2000)


def test_schedules_are_arms(model):
    """Of numbers far off, the schedule wins; it goes on as it is in the fit,
    whose draws are weighted by it.
    """
    grid = {"step_size": [1e-4, VARYING, 3.5, sgmc.Constant(1e-3), slow]}
    result = sgmc.tune(model, grid=grid, batch_size=100, eta=2, budget_steps=2000, seed=1)
    steps = result.arms.step_size.tolist()
    assert steps[:4] == [1e-4, VARYING, 3.5, 1e-3]
    assert repr(steps[1:]) == "[Polynomial(6.59515, 30.8674, 0.55), 3.5, 0.001, Function(slow)]"
    assert result.winner == 1 and result.best["step_size"] is VARYING
    again = sgmc.tune(model, grid=grid, batch_size=100, eta=2, budget_steps=2000, seed=1, threads=3)
    pd.testing.assert_frame_equal(without_seconds(again), without_seconds(result), check_exact=True)
    fit = model.fit(tune=pickle.loads(pickle.dumps(result)), draws=20, warmup=0, thin=1, seed=1)
    assert np.array_equal(fit.weights, [VARYING(t) for t in range(20)])
    assert fit._fit.plan.batch == 100


def slow(t):
    """Steps that do not move, as a function of users."""
    return 1e-5 / (1 + t)


@pytest.mark.parametrize("method", ["mamba", "default", "grid"])
def test_a_schedule_that_is_given_stays(model, method):
    result = sgmc.tune(model, method=method, step_size=VARYING, budget_steps=200, seed=1)
    assert result.best["step_size"] is VARYING and set(result.arms.step_size) == {VARYING}


def times_seen(model):
    """How often a metric of users gets each draw of a chain whose steps are 0.35 and 0.1 in
    turn.
    """
    seen = []
    sgmc.tune(
        model,
        grid={"step_size": [lambda t: 0.1 if t % 2 else 0.35]},
        batch_size=50,
        method="grid",
        budget_steps=200,
        seed=1,
        metric=lambda theta: seen.append(theta) or 0.0,
    )
    return np.unique(seen[0][:, 0], return_counts=True)[1]


def test_draws_of_schedules_count_by_their_steps(model, monkeypatch):
    """Those of 0.35 stand for 14/9 draws each, the others for 4/9: with two for each pair, twice
    and never; planted: no weights.
    """
    assert times_seen(model).tolist() == [2] * 100
    monkeypatch.setattr(racing.Runner, "weights", None)
    assert times_seen(model).tolist() == [1] * 200


@pytest.mark.parametrize("metric", ["ksd", "fssd"])
def test_discrepancies_of_schedules_are_weighted(model, metric):
    """That of N(0, I) with weights which make it of draws of N(0, 4) is less than without; equal
    weights change nothing.
    """
    score = scores.metric_of(metric, model.fit(draws=20, seed=1)._fit.problem, model.family, 1)
    x = 2 * np.random.default_rng(1).normal(size=(1000, 3))
    towards = np.exp(-0.375 * (x * x).sum(axis=1))
    assert score(x, towards) < 0.5 * score(x)
    assert score(x, np.full(1000, 3.0)) == pytest.approx(score(x), rel=1e-9)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how, total", [(dict(budget_steps=650), 27 * 50 * 3), (dict(time_limit=0.4), 0.4)]
)
def test_progress_of_a_race(model, how, total, clock_of_steps):
    """In steps of the median arm, 50 in the first of three rungs of 650; or in seconds."""
    seen, how = [], dict(how, threads=1)
    plain = sgmc.tune(model, seed=1, **how)
    told = sgmc.tune(
        model, seed=1, **how, progress=lambda *now: seen.append((*now, threading.get_ident()))
    )
    done = [one[0] for one in seen]
    assert done == sorted(done)
    assert done[0] < done[-1] == seen[0][1] == pytest.approx(total, rel=1e-9)
    assert {one[1:] for one in seen} == {(done[-1], threading.get_ident())}
    if told.reproducible:
        assert told.best == plain.best and without_seconds(told).equals(without_seconds(plain))


def test_what_progress_raises_ends_the_race(model):
    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sgmc.tune(model, seed=1, budget_steps=10**9, progress=enough)


@pytest.mark.extended
def test_progress_of_a_fit_that_tunes(model):
    """The race is told of first, then the fit; what is checked before the race draws no bar."""
    seen = []
    model.fit(
        sampler="sgld",
        step_size=0.01,
        batch_size=100,
        thin=2000,
        draws=100,
        tune="default",
        seed=1,
        progress=lambda *now: seen.append(now),
    )
    totals = list(dict.fromkeys(total for _, total in seen))
    assert totals[0] == 5000 and len(totals) == 2 and totals[1] >= 4 * 100 * 2000


def test_exact_samplers_race_without_minibatches(model):
    result = sgmc.tune(model, sampler="mala", budget_steps=200, seed=1)
    assert list(result.arms.columns) == ["step_size", "diverged"]
    assert "batch_size" not in result.best
