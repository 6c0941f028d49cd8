"""Runs that are stopped, killed or saved go on without a bit of difference; files that cannot be
trusted are refused.
"""

import pickle

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

from .cases import FORMULA, FRAME, RUNS, N, fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.mark.cover(0)
@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_resumed_run_is_one_long_run(how, tmp_path):
    whole, part = fit(150, **how), fit(60, **how)
    before = part.draws.copy()
    assert same(part.resume(90), whole) and same(part.resume(20).resume(70), whole)
    assert same(part.resume(), fit(120, **how))  # as many again
    np.testing.assert_array_equal(part.draws, before)  # the part stays as it was
    part.save(tmp_path / "part")
    loaded = sgmc.load(tmp_path / "part")
    assert same(loaded.resume(90, data=FRAME), whole)
    assert same(pickle.loads(pickle.dumps(loaded)).resume(90, FRAME, threads=1), whole)
    assert same(pickle.loads(pickle.dumps(loaded.resume(40, data=FRAME))).resume(50, FRAME), whole)


@pytest.mark.cover(0)
@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_checkpoint_continues_to_more_draws_and_gives_a_prefix_for_fewer(how, tmp_path):
    path = tmp_path / "run"
    first = fit(60, checkpoint=path, **how)
    assert same(first, fit(60, **how)) and same(fit(60, checkpoint=str(path), **how), first)
    assert same(fit(150, checkpoint=path, **how), fit(150, **how))
    np.testing.assert_array_equal(fit(40, checkpoint=path, **how).draws, first.draws[:, :40])
    assert [p.name for p in tmp_path.iterdir()] == ["run"]  # nothing left aside


def test_a_checkpoint_keeps_a_seed_that_was_not_given(tmp_path):
    first = fit(60, seed=None, checkpoint=tmp_path / "run")
    again = fit(150, seed=None, checkpoint=tmp_path / "run")
    assert again.seed == first.seed and same(again, fit(150, seed=first.seed))


def test_models_of_arrays_and_inputs_that_are_no_columns_are_resumed_from_a_model():
    X, y, offset = FRAME[["a", "b"]].to_numpy(), FRAME.y.to_numpy(), np.full(N, 0.1)
    make = lambda: sgmc.Logit(y, X, offset=offset)
    part, whole = make().fit(draws=60, seed=1), make().fit(draws=90, seed=1)
    loaded = pickle.loads(pickle.dumps(part))
    with pytest.raises(
        ArgumentError, match=r"results are of arrays: call resume\(data=sgmc.Logit\(y, X, ...\)\)"
    ):
        loaded.resume(30, data=FRAME)
    assert same(loaded.resume(30, data=make()), whole)
    part = fit(60, offset=offset)
    with pytest.raises(
        ArgumentError, match="an offset, strata or a subset that were no column names"
    ):
        pickle.loads(pickle.dumps(part)).resume(30, data=FRAME)
    again = sgmc.Logit.from_formula(FORMULA, FRAME, offset=offset)
    assert same(pickle.loads(pickle.dumps(part)).resume(30, data=again), fit(90, offset=offset))


@pytest.mark.parametrize(
    "change, text",
    [
        (dict(seed=4), "seed was 3, here it is 4"),
        (dict(sampler="sgld"), r"sampler was 'LMSGLD\(\)', here it is 'SGLD\(\)'"),
        (dict(gradient="cv"), "gradient was 'taylor', here it is 'cv'"),
        (dict(thin=3), "thin was 4, here it is 3"),
        (dict(chains=2), "chains was 4, here it is 2"),
        (dict(prior="laplace"), "prior was"),
        (dict(step_size=0.3), "step_size was"),
        (dict(precondition="diag"), "precondition was 'mode'"),
        (dict(dtype="float32"), "dtype was 'float64'"),
        (dict(batch_size=50), "batch_size was"),
        (dict(warmup=3), "warmup was 20"),
        (dict(init=[0, 0, 0]), "init was None"),
        (dict(subsample="uniform"), "subsample was 'block'"),
        (dict(frame=FRAME[1:]), "rows was 300, here it is 299"),
        (
            dict(frame=FRAME.assign(a=FRAME.a + 1e-9 * (FRAME.index == 7))),
            "was made from other data",
        ),
        (
            dict(frame=FRAME.assign(y=FRAME.y.where(FRAME.index != 7, 1 - FRAME.y))),
            "was made from other data",
        ),
    ],
    ids=lambda v: str(v)[:40] if isinstance(v, dict) and "frame" not in v else "",
)
def test_a_foreign_checkpoint_is_refused_by_name(change, text, tmp_path):
    path = tmp_path / "run"
    fit(20, sampler="lmsgld", checkpoint=path)
    content = path.read_bytes()
    with pytest.raises(ArgumentError, match=f"checkpoint='.*run' .*{text}"):
        fit(**{"draws": 20, "sampler": "lmsgld", "checkpoint": path, **change})
    assert path.read_bytes() == content  # nor is it overwritten


def test_resume_refuses_other_data_and_arguments():
    part = fit(20)
    loaded = pickle.loads(pickle.dumps(part))
    with pytest.raises(
        ArgumentError,
        match=r"loaded from a file, without the data: call resume\(data=<the table of the fit>\)",
    ):
        loaded.resume(10)
    with pytest.raises(ArgumentError, match="was made from other data .*new rows are for update"):
        loaded.resume(10, data=FRAME.assign(a=-FRAME.a))
    moved = pickle.loads(pickle.dumps(sgmc.ols("a ~ y", FRAME, seed=3, draws=20, chains=2)))
    with pytest.raises(ArgumentError, match="prior was .*give the table of the fit, with its rows"):
        moved.resume(10, data=FRAME.assign(a=FRAME.a + 1))  # its intercept is at their mean
    with pytest.raises(ArgumentError, match="resume has no argument 'sampler'"):
        part.resume(10, sampler="mala")
    with pytest.raises(ArgumentError, match="draws=0 must be a whole number"):
        part.resume(0)
    local = fit(20, sampler="sgld", step_size=lambda t: 0.1)
    assert same(local.resume(10), fit(30, sampler="sgld", step_size=lambda t: 0.1))
    with pytest.raises(ArgumentError, match="an argument of the fit cannot be saved"):
        pickle.loads(pickle.dumps(local)).resume(10, FRAME)
