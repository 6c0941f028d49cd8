"""Control values that follow the chain: estimates, noise and memory of saga and svrg alike."""

import pickle

import numpy as np
import pytest
from _ext.probes import Probe, Scripted, block, slope
from _ext.toys import GaussianLocation

from sgmc.core.engine import Chain, evaluate, full
from sgmc.core.expansion import block_effect, row_noise
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

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
)
from .tables import FOLLOWING, MODELS, SMALL, VISIBLE, M, N, gradient_of, rounding, walk

# ---- both ----------------------------------------------------------------------------------------


@pytest.mark.cover
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


@pytest.mark.cover
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
    assert (trace() != before) == (name in (*FOLLOWING, "switched"))


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
        key: estimator(GRADIENTS[key], model, FullBatch(n), stream(0), prior=prior)
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
        for key, rows in ((name, SCHEMES["uniform"](n, m)), ("cv", FullBatch(n)))
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


@pytest.mark.cover(0)
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
