"""Estimators whose control values follow the chain: saga's table and total, svrg's centre."""

import pickle

import numpy as np
import pytest

from _ext.probes import Probe, Scripted, block, listed, slope
from _ext.toys import GaussianLocation, MatrixFactorisation, TanhNetwork
from sgmc.core.engine import Chain, evaluate, full
from sgmc.core.expansion import block_effect, row_noise
from sgmc.core.schedules import Constant
from sgmc.errors import NotSupported
from sgmc.subsampling.uniform import Everything

from .cases import (
    GRADIENTS,
    SAMPLERS,
    SCHEMES,
    estimates,
    estimator,
    law,
    make_map,
    normal_prior,
    regression,
    stream,
    table,
)

N, D, M = 31, 3, 7
X = table(N, D)


def models(n=N):
    """With and without scores, of one and of several numbers a row."""
    rng = np.random.default_rng(1)
    return {
        **{
            f"logit {s}": regression("logit", table(n, D), s) for s in ("dense64", "dense32", "csr")
        },
        "location": GaussianLocation(rng.normal(size=(n, D)), 0.7),
        "ratings": MatrixFactorisation(
            rng.integers(0, 4, n), rng.integers(0, 3, n), rng.normal(size=n), 4, 3, 2
        ),
        "network": TanhNetwork(rng.normal(size=(n, 2)), rng.integers(0, 3, n), 2, 3),
    }


MODELS, SMALL = models(), models(6)
FOLLOWING = [name for name, cls in GRADIENTS.items() if cls.staleness > 1]
VISIBLE = 1e-3


def rounding(name):
    """Relative: of sums over many steps; a float32 table rounds those of every tile."""
    return 1e-5 if "32" in name else 1e-9


def gradient_of(name, model, rows, **options):
    """An estimator with its anchor at a point of its own."""
    centre = np.random.default_rng(2).normal(size=model.dim) / 3
    return estimator(
        GRADIENTS[name],
        model,
        rows,
        stream(0),
        prior=normal_prior(model.dim),
        centre=centre,
        **options,
    )


def walk(gradient, steps, h=0.01, seed=3):
    """Follow a chain for some steps; returns where it ends."""
    chain = Chain(
        np.full(gradient.dim, 0.4),
        SAMPLERS["sgld"]().build(gradient.dim, h),
        gradient,
        stream(seed),
        Constant(h),
    )
    assert chain.run(steps, False) == 0
    return np.array(chain.x)


def terms(model, scores):
    """J_i' t_i of every row of a table, (n, dim)."""
    if model.width == 0:
        return scores.reshape(model.n, model.dim)
    rows = scores.reshape(model.n, model.width)
    return np.array([Probe(model).add_scores(listed([i]), rows[i]) for i in range(model.n)])


def drift(model, state):
    """Largest departure of the total from the table's, relative to the sum of absolute terms."""
    each = terms(model, state["table"])
    return (np.abs(state["total"] - each.sum(axis=0)) / np.abs(each).sum(axis=0)).max()


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


# ---- both ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("map", ["none", "affine", "positive"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("which", SMALL)
@pytest.mark.parametrize("name", FOLLOWING)
def test_estimates_are_unbiased_given_the_control_values_of_now(name, which, scheme, map):
    """All draws from one state that a chain has come to; planted: a total from before."""
    (draws, p, _), model = law(SCHEMES[scheme], 6, 3), SMALL[which]
    options = dict(map=make_map(map, model.dim))
    real, script = (
        gradient_of(name, model, rows, **options)
        for rows in (SCHEMES[scheme](6, 3), Scripted(6, draws))
    )
    at, start = walk(real, 25, 0.003) - 0.2, script.state()
    script.set_state(real.state())
    mean, exact = p @ np.array([g for g, _ in estimates(script, draws, at)]), full(script, at)[1]
    size = np.abs(exact).max()
    assert np.abs(mean - exact).max() < rounding(which) * size
    if name == "saga":
        script.set_state({**real.state(), "total": start["total"]})
        assert (
            np.abs(p @ np.array([g for g, _ in estimates(script, draws, at)]) - exact).max()
            > VISIBLE * size
        )


@pytest.mark.parametrize("model", MODELS)
def test_no_noise_where_all_control_values_are_from_here(model):
    """After one estimate from all rows, for saga; at its centre, for svrg."""
    at = np.random.default_rng(7).normal(size=MODELS[model].dim)
    draws = [(block(0, N),), *law(SCHEMES["block"], N, M)[0]]
    for name, options in (("saga", {}), ("svrg", {"epoch": 1})):
        gradient = gradient_of(name, MODELS[model], Scripted(N, draws), **options)
        exact = full(gradient, at)[1]
        for _ in draws:
            assert np.abs(evaluate(gradient, at, stream(0))[0] - exact).max() < rounding(
                model
            ) * max(1, np.abs(exact).max())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", FOLLOWING)
def test_slopes_and_estimates_change_the_control_values_alike(name, model, scheme):
    """The same random numbers, now the one, now the other."""
    rng = np.random.default_rng(8)
    a, b = (gradient_of(name, MODELS[model], SCHEMES[scheme](N, M)) for _ in range(2))
    streams = stream(9), stream(9)
    for k in range(40):
        at, v = rng.normal(size=(2, MODELS[model].dim))
        mean = slope(a, at, v, streams[0])[0]
        g = evaluate(b, at, streams[1], noise=k % 2 == 0)[0]
        assert mean == pytest.approx(
            v @ g, rel=1e-5 if "32" in model else 1e-8, abs=1e-4 if "32" in model else 1e-8
        )
    for key, value in a.state().items():
        if key != "rows":
            np.testing.assert_allclose(
                value, b.state()[key], rtol=1e-9, atol=1e-5 if "32" in model else 1e-9
            )


@pytest.mark.parametrize("name", GRADIENTS)
def test_looking_at_all_rows_leaves_no_trace(name):
    """Noise and design effects are computed with the estimators of the chains."""

    def trace():
        return pickle.dumps({k: v for k, v in gradient.state().items() if k != "touched"})

    gradient = gradient_of(name, MODELS["logit dense64"], SCHEMES["block"](N, M))
    at = walk(gradient, 12)
    before = trace()
    for look in (row_noise, full, lambda g, x: block_effect(g, x, M)):
        look(gradient, at + 0.1)
        assert trace() == before
    evaluate(gradient, at, stream(0))
    assert (trace() != before) == (name in FOLLOWING)


@pytest.mark.parametrize("key", ["table", "total", "centre", "left"])
def test_whatever_an_estimator_remembers_is_needed(key):
    """State that the next estimates do not miss is dead weight, or a restore that does nothing."""
    for name in FOLLOWING:
        gradient, other = (
            gradient_of(name, MODELS["ratings"], SCHEMES["block"](N, M)) for _ in range(2)
        )
        at, state = walk(gradient, 13), gradient.state()
        if key not in state:
            continue
        other.set_state(pickle.loads(pickle.dumps(state)))
        again = [evaluate(other, at, stream(k))[0] for k in range(6)]
        assert np.array_equal([evaluate(gradient, at, stream(k))[0] for k in range(6)], again)
        other.set_state(
            {
                **state,
                key: gradient_of(name, MODELS["ratings"], SCHEMES["block"](N, M)).state()[key],
            }
        )
        assert not np.allclose([evaluate(other, at, stream(k))[0] for k in range(6)], again)


def stationary_noise(name):
    """Variance of the estimate from one row, averaged along a chain, and of cv at the mode: traces,
    whitened at the mode.
    """
    n, m, rng = 2000, 20, np.random.default_rng(10)
    design = rng.normal(size=(n, 4))
    model = regression("logit", design, seed=11)
    prior, h = normal_prior(4), 0.5
    flat = {
        key: estimator(GRADIENTS[key], model, Everything(n), stream(0), prior=prior)
        for key in ("simple", "cv")
    }
    mode = np.zeros(4)
    for _ in range(30):  # the curvature at zero is n/4 design'design, near enough
        mode += np.linalg.solve(design.T @ design / 4 + np.eye(4), full(flat["simple"], mode)[1])
    eta = design @ mode
    scale = np.linalg.inv(
        np.linalg.cholesky((design.T * (0.25 / np.cosh(eta / 2) ** 2)) @ design + np.eye(4))
    ).T
    white = make_map("affine", 4).__class__(mode, scale)
    gradient, at_mode = (
        estimator(GRADIENTS[key], model, rows, stream(12), prior=prior, map=white, centre=mode)
        for key, rows in ((name, SCHEMES["uniform"](n, m)), ("cv", Everything(n)))
    )
    chain = Chain(np.zeros(4), SAMPLERS["lmsgld"]().build(4, h), gradient, stream(13), Constant(h))
    chain.run(2000, False)
    seen = []
    for _ in range(2000):
        chain.run(23, False)
        theta = mode + scale @ np.array(chain.x)
        seen.append(
            [np.trace(scale.T @ row_noise(g, theta)[1] @ scale) for g in (gradient, at_mode)]
        )
    return np.mean(seen, axis=0)


@pytest.mark.parametrize("name", FOLLOWING)
def test_stationary_noise_is_that_at_the_mode_times_the_staleness(name):
    """Theta - phi has the variance 2 (1 - E (1 - h/2)^age) = 1.92 after a pass of 100 steps, 1.94 a
    row for saga.

    What the rows have in common does not count, and as saga's are from many places, they have less
    in common: of the squares about 1 a coordinate is taken off for it, not 2.  Monte Carlo error
    about 3 %.
    """
    own, at_mode = stationary_noise(name)
    assert own == pytest.approx(
        0.96 * GRADIENTS[name].staleness * at_mode + (4 if name == "saga" else 0), rel=0.08
    )
    assert own > 1.5 * at_mode


@pytest.mark.parametrize("m", [20, 100])
def test_blocks_add_the_noise_that_their_rows_have_in_common(m):
    """Rows that are alike leave only that: over the 2,000 blocks it is block_noise (1 - n/N)
    posterior variances, less a little by the correlation of visits 2/h steps apart.
    """
    n, dim, h = 2000, 16, 1.0
    model = GaussianLocation(np.zeros((n, dim)), 1 / n)
    gradient = gradient_of("saga", model, SCHEMES["block"](n, m))
    chain = Chain(
        np.zeros(dim), SAMPLERS["lmsgld"]().build(dim, h), gradient, stream(14), Constant(h)
    )
    chain.run(500 + 10 * n // m, False)
    noise, spread = [], []
    for _ in range(150):
        chain.run(n // m + 3, False)
        rows = Probe(model).scores(np.array(chain.x), block(0, n))[0] - gradient.state()[
            "table"
        ].reshape(n, dim)
        sums = np.cumsum(np.vstack([np.zeros((1, dim)), rows, rows]), axis=0)
        noise.append(((sums[m : m + n] - sums[:n]) * n / m).var(axis=0).mean())
        spread.append(np.mean(np.square(chain.x)))
    expected = GRADIENTS["saga"].block_noise * (1 - m / n)
    assert np.mean(noise) / np.mean(spread) == pytest.approx(expected, rel=0.15)


def test_a_fixed_centre_is_not_stale():
    own, at_mode = stationary_noise("cv")
    assert own == pytest.approx(at_mode, rel=1e-9)
    assert GRADIENTS["cv"].staleness == GRADIENTS["simple"].staleness == 1
    assert {"saga", "svrg"} <= set(FOLLOWING)
