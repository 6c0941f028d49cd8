"""Runs in continuous time that are resumed, stopped or in threads."""

import itertools
import pickle

import numpy as np
import pytest

import sgmc
from sgmc.core.targets.bounds import Bounds
from sgmc.errors import InterruptedWarning

from .cases import DRAWS, FRAME, NAMES, fit

# ---- the same bits -------------------------------------------------------------------------------


def same(one, other):
    """Whether two results have the same draws, paths and facts but for seconds."""
    paths = [pickle.dumps([(p.turns, p.positions) for p in r._paths]) for r in (one, other)]
    facts = [
        [pair for side in r.header[:2] for pair in side if pair[0] != "Time (s)"]
        for r in (one, other)
    ]
    return np.array_equal(one.draws, other.draws) and paths[0] == paths[1] and facts[0] == facts[1]


RUNS = [
    dict(sampler=name, precondition=p)
    for name, p in itertools.product(NAMES, ("mode", None))
    if name not in DRAWS or p
] + [dict(sampler="zzcv", batch_size=3, subsample="uniform")]


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_resumed_run_is_one_long_run(how, tmp_path):
    part, whole = fit(draws=30, **how), fit(draws=75, **how)
    assert same(part.resume(45), whole) and same(part.resume(20).resume(25), whole)
    part.save(tmp_path / "part")
    assert same(sgmc.load(tmp_path / "part").resume(45, data=FRAME), whole)
    first = fit(draws=30, checkpoint=tmp_path / "run", **how)
    assert same(first, part) and same(fit(draws=75, checkpoint=tmp_path / "run", **how), whole)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_matter(name):
    one = fit(name, threads=1)
    assert same(one, fit(name, threads=2)) and same(one, fit(name, threads=4))
    assert np.array_equal(one.draws[:2], fit(name, chains=2).draws)
    assert not np.array_equal(one.draws, fit(name, seed=4).draws)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # few draws of zzcv
@pytest.mark.parametrize("name", ["zigzag", "zzcv"])
def test_a_run_that_is_stopped_is_a_prefix(name, time_limit_after):
    with pytest.warns(InterruptedWarning, match="time limit"):
        part = sgmc.logit(
            "y ~ a + b",
            FRAME,
            sampler=name,
            draws=200_000,
            seed=3,
            warmup=2000,
            **time_limit_after(100),
        )
    assert np.array_equal(part.draws[:, :100], fit(name, 100, warmup=2000).draws)
    assert part.draws.shape[1] < 200_000


@pytest.mark.parametrize("name", ["bps", "zzcv"])
def test_a_budget_of_rows_is_kept(name):
    results = fit(name, 5000, max_data_passes=400, warmup=2000 if name == "zzcv" else 20)
    assert results.draws.shape[1] < 5000
    assert 390 < results.chain_diagnostics().data_passes.sum() < 405
    assert np.array_equal(
        results.draws[:, :5], fit(name, 5, warmup=2000 if name == "zzcv" else 20).draws
    )


def test_bounds_are_made_once_for_all_chains(monkeypatch):
    made = []
    monkeypatch.setattr("sgmc.fit.problem.Bounds", lambda *given: made.append(1) or Bounds(*given))
    fit("zigzag")
    assert len(made) == 1
