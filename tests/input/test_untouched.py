"""Seeds, copies and files; nothing else is touched."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

import sgmc

from .cases import CASES, FOREIGN, N, X, of_every_kind
from .comparisons import assert_same

# ---- seeds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, np.int64(3), np.uint8(3), np.random.SeedSequence(3)], ids=repr)
def test_kinds_of_one_seed(seed):
    found = CASES[0].fit(seed=seed)
    assert found.seed == 3 and type(found.seed) is int
    assert_same(found, CASES[0].fit(seed=3))


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.random.default_rng(3),
        lambda: np.random.SeedSequence(3).spawn(2)[1],
        lambda: 2**200 + 1,
        lambda: np.random.SeedSequence([1, 2]),
        lambda: np.random.SeedSequence(3, spawn_key=(1, 5)),
    ],
    ids=range(5),
)
def test_seeds_that_results_report_as_numbers(make):
    found = CASES[0].fit(seed=make())
    assert type(found.seed) is int
    assert_same(found, CASES[0].fit(seed=make()))
    assert_same(found, CASES[0].fit(seed=found.seed))


def test_spawned_seeds_differ():
    children = np.random.SeedSequence(3).spawn(3)
    assert (
        len(
            {
                CASES[0].fit(seed=seed).draws.tobytes()
                for seed in [3, *children, children[0].spawn(1)[0]]
            }
        )
        == 5
    )
    assert CASES[0].fit(seed=None).seed != CASES[0].fit(seed=None).seed


# ---- copies --------------------------------------------------------------------------------------


@pytest.mark.extended
@of_every_kind
@pytest.mark.parametrize(
    "again",
    [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_copies_of_models(case, again):
    for model in (
        case.model.from_formula("y ~ x1 + center(x2) + g", case.frame),
        case.model(case.y, X),
        case.model(case.y, sparse.csr_array(X)),
    ):
        before = again(model)
        expected = model.fit(seed=1)
        for one in (before, again(model), model):
            assert_same(one.fit(seed=1), expected)
        assert repr(before) == repr(model)


@of_every_kind
def test_reprs(case):
    model = case.model.from_formula("y ~ x1", case.frame)
    title = model.family.title
    before = repr(model)
    results = model.fit(seed=1)
    assert before == repr(model) == f"<{title} model: 'y ~ x1', 200 rows, 2 coefficients>"
    assert repr(case.model(case.y, X)) == f"<{title} model: 200 rows, 3 coefficients>"
    parameters = 2 + len(case.auxiliary)
    assert (
        repr(results)
        == repr(copy.deepcopy(results))
        == f"<{title} posterior: {parameters} parameters, 4 chains x 1000 draws>"
    )
    with pytest.raises(
        AttributeError, match=f"'{type(model).__name__}' object has no attribute 'nothing'$"
    ):
        model.nothing


# ---- files ---------------------------------------------------------------------------------------


def test_a_bit_flipped_anywhere_in_a_file_is_seen(tmp_path):
    path = tmp_path / "fit.sgmc"
    CASES[0].results.save(path)
    whole = path.read_bytes()
    for at in [0, 5, 20, 50, 100, *np.linspace(200, len(whole) - 1, 20).astype(int)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(sgmc.errors.ArgumentError, match="or it is damaged"):
            sgmc.load(path)
    path.write_bytes(whole)
    assert_same(sgmc.load(path), CASES[0].results)


def test_a_save_that_fails_leaves_the_file_that_was(tmp_path):
    path, frame = tmp_path / "fit.sgmc", CASES[0].frame
    CASES[0].results.save(path)
    before = path.read_bytes()
    results = CASES[0].verb("y ~ x1", frame, seed=1)
    results.warnings = [object()]
    with pytest.raises(sgmc.errors.ArgumentError, match="cannot be saved: warnings.0 is a builtin"):
        results.save(path)
    assert path.read_bytes() == before and FOREIGN.exists()


# ---- nothing else is touched ---------------------------------------------------------------------


@pytest.mark.cover(0)
@of_every_kind
@pytest.mark.parametrize(
    "how",
    [
        {},
        dict(sampler="mala"),
        dict(precondition=None),
        dict(precondition="diag"),
        dict(dtype="float32"),
    ],
    ids=str,
)
def test_inputs_of_every_way_are_unchanged(case, how, inputs_stay_as_they_were):
    outcome, table, offset = case.y.copy(), X.copy(), np.full(N, 0.1)
    weights, start = np.ones(N), np.zeros(case.d)
    start[3:] = 1.0  # of the family's auxiliary parameters, which are positive
    results = case.model(outcome, table, offset=offset, weights=weights).fit(
        seed=1, init=start, draws=2000, **how
    )
    case.verb("y ~ .", case.frame[["y", "x1", "x2"]].copy(), seed=1, offset=offset, **how).predict(
        case.frame, offset=offset
    )
    assert len(results.predict(table, offset=offset)) == N
    assert results.summary()
    assert results.ksd() > 0
    watched = {id(one) for one, _ in inputs_stay_as_they_were}
    assert watched >= {id(one) for one in (outcome, table, offset, weights, start)}


@of_every_kind
def test_global_state_is_unchanged(case):
    np.random.seed(3)
    state = np.random.get_state()[1].copy()
    threads, filters = threadpool_info(), list(warnings.filters)
    errors = np.geterr()
    case.fit(seed=1).summary()
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert [t["num_threads"] for t in threadpool_info()[: len(threads)]] == [
        t["num_threads"] for t in threads
    ]
    assert list(warnings.filters) == filters and np.geterr() == errors


@of_every_kind
def test_a_model_may_be_fitted_again_and_again(case):
    model = case.model(case.y, X)
    first = model.fit(seed=1)
    model.fit(seed=2, sampler="mala", precondition="diag")
    assert_same(model.fit(seed=1), first)


@pytest.mark.extended
@of_every_kind
def test_eight_fits_at_once_are_those_one_by_one(case):
    jobs = [
        partial(
            case.fit,
            seed=seed,
            sampler=sampler,
            precondition="diag" if sampler == "csgbd" else "mode",
        )
        for sampler in ("lmsgld", "mala", "csgbd", "auto")
        for seed in (1, 2)
    ]
    alone = [job() for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = [future.result() for future in [pool.submit(job) for job in jobs]]
    for one, other in zip(alone, together):
        assert_same(one, other)
