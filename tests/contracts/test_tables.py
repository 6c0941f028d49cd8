"""Estimators whose control values follow the chain: saga's table and total, svrg's centre."""

import numpy as np
import pytest
from _ext.probes import Probe, Scripted, block, listed
from _ext.toys import MatrixFactorisation

from sgmc.core.engine import evaluate, full
from sgmc.errors import NotSupported

from .cases import (
    SCHEMES,
    stream,
)
from .tables import MODELS, VISIBLE, M, N, drift, gradient_of, rounding, terms, walk

# ---- saga ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_the_total_is_that_of_the_table_after_many_steps(name, scheme):
    model = MODELS[name]
    gradient = gradient_of("saga", model, SCHEMES[scheme](N, M))
    first = gradient.state()["table"]
    walk(gradient, 10_000)
    state = gradient.state()
    assert drift(model, state) < rounding(name)
    assert (np.abs(state["table"] - first).reshape(N, -1).max(axis=1) > 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_total_that_missed_something_is_caught(name):
    """Planted: without the second run of a batch;
    with the change of a row that came twice added once more.
    """
    model, rng = MODELS[name], np.random.default_rng(4)
    for runs, wrong in (
        ((block(N - 3, 3), block(0, 4)), slice(0, 4)),
        ((listed([3, 3, 1]),), slice(3, 4)),
    ):
        gradient = gradient_of("saga", model, Scripted(N, [runs]))
        before = gradient.state()
        evaluate(gradient, rng.normal(size=model.dim), stream(0))
        after = gradient.state()
        assert drift(model, after) < rounding(name)
        change = (terms(model, after["table"]) - terms(model, before["table"]))[wrong].sum(axis=0)
        for factor in (1, -1):
            assert drift(model, {**after, "total": after["total"] + factor * change}) > VISIBLE


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize(
    "runs",
    [
        (block(2, M, scale=N / M),),
        (block(N - 3, 3, scale=N / M), block(0, 4, scale=N / M)),
        (listed([5, 9, 5, 5, 0, 9], scale=N / 6),),
        (listed([8, 8], weight=(0.5, 2.0), scale=3.0),),
    ],
)
@pytest.mark.parametrize("name", MODELS)
def test_an_estimate_reads_the_old_table_and_leaves_the_new_one(name, runs, noise):
    """Against the formula, row by row; a second visit that met the new value (planted)
    gives another estimate.
    """
    model = MODELS[name]
    gradient = gradient_of("saga", model, Scripted(N, [runs]))
    at = walk(gradient, 20)
    evaluate(gradient, at, stream(0))
    at, old = at + 0.3, gradient.state()
    fresh = np.array([Probe(model).gradient(at, listed([i])) for i in range(N)])
    known = terms(model, old["table"])
    expected = full(gradient, at)[1] - fresh.sum(axis=0) + old["total"]  # dlog prior + total
    planted, seen = expected.copy(), known.copy()
    for run in runs:
        for k, i in enumerate(run.rows or range(run.start, run.start + run.m)):
            c = run.scale * (run.weight[k] if run.weight else 1)
            expected += c * (fresh[i] - known[i])
            planted += c * (fresh[i] - seen[i])
            seen[i] = fresh[i]
    g = evaluate(gradient, at, stream(0), noise)[0]
    assert np.abs(g - expected).max() < 10 * rounding(name) * np.abs(expected).max()
    twice = any(run.rows and len(set(run.rows)) < len(run.rows) for run in runs)
    assert (np.abs(g - planted).max() > VISIBLE * np.abs(expected).max()) == twice
    new = gradient.state()
    assert np.abs(terms(model, new["table"]) - seen).max() < 1e-5
    assert drift(model, new) < rounding(name)


def test_a_table_of_row_gradients_that_is_too_large_is_refused():
    rng = np.random.default_rng(5)
    users, ratings = 60_000, 1200  # x 2 factors x 8 bytes: 1.15 GB
    model = MatrixFactorisation(
        rng.integers(0, users, ratings),
        np.zeros(ratings, int),
        rng.normal(size=ratings),
        users,
        1,
        2,
    )
    with pytest.raises(
        NotSupported,
        match="gradient='saga' keeps 120002 numbers for each of 1200 rows.*'cv' or 'simple'",
    ):
        gradient_of("saga", model, SCHEMES["block"](ratings, 10))
    gradient_of("svrg", model, SCHEMES["block"](ratings, 10))


# ---- svrg ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("epoch", [None, 1, 4])
def test_the_centre_moves_at_its_numbers(epoch, name):
    """After `epoch` estimates, one pass by default, it is where the next one is asked for;
    N rows are counted for it.
    """
    model, rng = MODELS[name], np.random.default_rng(6)
    gradient = gradient_of(
        "svrg", model, SCHEMES["block"](N, M), **({} if epoch is None else {"epoch": epoch})
    )
    epoch = epoch or 5  # ceil(31 / 7)
    centre, touched = gradient.state()["centre"], 0
    for k in range(23):
        at = rng.normal(size=model.dim)
        g = evaluate(gradient, at, stream(k))[0]
        touched += gradient.each * M
        if k > 0 and k % epoch == 0:
            centre, touched = at, touched + N
            exact = full(gradient, at)[1]
            gradient.touched -= N
            # no noise at the centre
            assert np.abs(g - exact).max() < rounding(name) * max(1, np.abs(exact).max())
        np.testing.assert_array_equal(gradient.state()["centre"], centre)
        assert gradient.touched == touched


def test_an_epoch_of_no_estimates_is_refused():
    with pytest.raises(ValueError, match="epoch=0 must be at least 1"):
        gradient_of("svrg", MODELS["location"], SCHEMES["block"](N, M), epoch=0)
