"""Stochastic bouncy particle samplers: the noise, the law of the path, planted mistakes; for the
regression and its band see test_bands.

Without noise, and with bounds that are never exceeded, they are exact: all rows at once give the
posteriors of test_events.  With noise the variance on a standard normal is right but for what the
lost bounces explain.
"""

import math

import numpy as np
import pytest
from _ext.mistakes import Astray, OtherBatch
from _ext.probes import Misscaled, along, slope

from sgmc.core.designs.design import design
from sgmc.core.engine import evaluate

from .cases import (
    GRADIENTS,
    PREDICTED,
    REGRESSIONS,
    SAMPLERS,
    SCHEMES,
    estimator,
    make_map,
    normal_prior,
    regression,
    stream,
    table,
)
from .montecarlo import LIMIT
from .noisy_normal import BATCH, N, inflation, travelled
from .test_events import POSTERIORS, ROWS, caught, departure, particle

# of a variance: what bounces lost at k = 3 do is 0.006 at V = 1 and 0.013 at V = 10 by `widening`
SLACK = 0.01
# of bounces: what is lost without noise, on posteriors that are no Gaussians;
# 0.014 where the prior has a kink
QUIET = 0.02


# ---- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("map", ["none", "scaling", "affine"])
@pytest.mark.parametrize("gradient", GRADIENTS)
@pytest.mark.parametrize("model", ["logit", "ols"])
def test_estimates_along_a_line(model, gradient, map):
    """Of each possible batch: the gradient is that of `estimate`,
    and the variance is that of `slope`.
    """
    X = table(12, 3)
    made = regression(model, X)
    rng = stream(1)
    where = make_map(map, made.dim)
    found = estimator(
        GRADIENTS[gradient],
        made,
        SCHEMES["uniform"](12, 4),
        rng,
        prior=normal_prior(made.dim),
        map=where,
    )
    x, v = np.linspace(-0.4, 0.5, made.dim), np.linspace(1, -1, made.dim)

    def again(ask):
        """What is found by the same batches."""
        state, bits = found.state(), rng.state()
        out = [ask() for _ in range(3)]
        found.set_state(state)
        rng.set_state(bits)
        return out

    for (g, var), (right, _), (mean, right_var) in zip(
        again(lambda: along(found, x, v, rng)),
        again(lambda: evaluate(found, x, rng)),
        again(lambda: slope(found, x, v, rng)),
    ):
        assert np.allclose(g, right, rtol=1e-12) and var == pytest.approx(right_var, rel=1e-10)
        assert v @ g == pytest.approx(mean, rel=1e-10)


def test_the_noise_is_that_of_the_formula():
    """c^2 = N^2/n (1 - n/N) Var_i[v . grad log p_i], its mean over batches."""
    X, v, x = table(60, 2), np.array([0.6, -0.8]), np.array([0.2, 0.1])
    model, rng = REGRESSIONS["logit"](*logit_rows(X)), stream(2)
    gradient = estimator(GRADIENTS["simple"], model, SCHEMES["uniform"](60, 10), rng)
    found = np.array([along(gradient, x, v, rng)[1] for _ in range(20_000)])
    slopes = (logit_rows(X)[1] - 1 / (1 + np.exp(-X @ x))) * (X @ v)
    expected = 60**2 / 10 * (1 - 10 / 60) * slopes.var(ddof=1)
    assert abs(found.mean() - expected) < 5 * found.std() / math.sqrt(len(found))


def logit_rows(X):
    """Design and outcomes."""
    return (
        design(np.ascontiguousarray(X)),
        (np.arange(len(X)) * 7 % 5 > 2).astype(float),
        None,
        None,
    )


# ---- the law -------------------------------------------------------------------------------------


@pytest.mark.extended("sbps-probit", "sbps-cauchit")
@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize("name", PREDICTED)
def test_all_rows_have_the_posterior(name, posterior):
    """Without noise: as exact samplers, with what little is lost where a line is no good
    prediction.
    """
    chain = particle(PREDICTED[name], posterior, rows=SCHEMES["block"](ROWS, ROWS))
    chain.sampler.warming = True
    chain.run(2000, False)
    chain.sampler.warming = False
    assert departure(chain, posterior, 1000) < LIMIT
    assert chain.sampler.missed < QUIET


def right(found, error, chain):
    """Whether the variance is, and no more bounds are exceeded than three times what the regression
    expects, 0.0013 of them.
    """
    return (
        abs(found) < SLACK + LIMIT * error
        and chain.sampler.violated < 0.004 * chain.sampler.proposed
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize("noise", [1.0, 10.0])
@pytest.mark.parametrize("dim", [1, 5, 20])
@pytest.mark.parametrize("name", PREDICTED)
def test_noise_leaves_a_normal_as_it_is(name, dim, noise):
    found, error, chain = inflation(PREDICTED[name], dim, noise, events=400_000)
    assert right(found, error, chain) and error < 0.02
    assert abs(found) < PREDICTED[name].widening(chain.sampler.missed) + LIMIT * error


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", PREDICTED)
def test_noise_takes_the_place_of_refreshment(name):
    """Section 3.2: with it, the velocity need not be drawn anew."""
    found, error, _ = inflation(type(PREDICTED[name])(refresh=0.0), 5, 10.0, events=200_000)
    assert abs(found) < SLACK + LIMIT * error


@pytest.mark.extended
def test_lost_bounces_tell_how_much_too_wide_draws_are():
    """Where little is lost, k = 2, the error is below what `widening` says and above a fifth of
    it.
    """
    spec = SAMPLERS["sbps"](confidence=2.0)
    for dim, noise in ((5, 1.0), (5, 10.0), (20, 10.0)):
        found, error, chain = inflation(spec, dim, noise, events=400_000)
        said = spec.widening(chain.sampler.missed)
        assert said / 5 - LIMIT * error < found < said + LIMIT * error


# ---- planted mistakes ----------------------------------------------------------------------------


def wrong(name, dim=5, noise=10.0, spec=None, **how):
    """Whether the test above would not have it."""
    return not right(*inflation(spec or PREDICTED[name], dim, noise, **how))


@pytest.mark.mistake("predicted: c^2 without N^2")
@pytest.mark.parametrize("name", PREDICTED)
def test_noise_without_the_square_of_the_rows_is_caught(name):
    assert wrong(name, rows=Misscaled(SCHEMES["uniform"](N, BATCH), variance=1 / N**2))


@pytest.mark.mistake("predicted: no band")
@pytest.mark.parametrize("name", PREDICTED)
def test_a_band_of_no_width_is_caught(name):
    assert wrong(name, spec=type(PREDICTED[name])(confidence=1e-6))


@pytest.mark.mistake("predicted: gradient of another batch at the bounce")
@pytest.mark.parametrize("name", PREDICTED)
def test_a_bounce_off_another_batch_is_caught(name):
    """Theorem 1 holds for the rate and the reflection of one and the same estimate."""
    assert wrong(name, gradient=OtherBatch)


@pytest.mark.mistake("predicted: sign of the reflection")
@pytest.mark.parametrize("name", PREDICTED)
def test_a_wrong_sign_of_the_reflection_is_caught(name):
    chain = particle(PREDICTED[name], "logit", rows=SCHEMES["block"](ROWS, ROWS), transition=Astray)
    assert caught(departure(chain, "logit", 1000))


@pytest.mark.extended
@pytest.mark.mistake("predicted: no refreshment")
@pytest.mark.parametrize("name", PREDICTED)
def test_a_missing_refreshment_is_caught_without_noise(name):
    """Without noise an isotropic normal is not explored: from far out on a tangent the path never
    comes near the mean.
    """

    def least(refresh):
        spec = type(PREDICTED[name])(refresh=refresh)
        chain, times, _, square = travelled(
            spec, 2, 0.0, events=20_000, warmup=0, start=np.array([3.0, 0.0])
        )
        return (square.sum(axis=1) / times).min()

    assert least(0.5) < 2 < least(0.0)


@pytest.mark.cover(0)
@pytest.mark.mistake("predicted: scale x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", PREDICTED)
def test_a_wrong_scale_is_caught(name, factor):
    found, error, _ = inflation(
        PREDICTED[name], 5, 10.0, rows=Misscaled(SCHEMES["uniform"](N, BATCH), factor)
    )
    assert abs(found) > SLACK + LIMIT * error


@pytest.mark.parametrize("name", ["psbps"])
def test_the_preconditioner_is_learned_in_warmup_alone(name):
    """The scale that warmup leaves is kept, bit for bit: then it is a linear map;
    while warming it moves.
    """
    chain, *_ = travelled(PREDICTED[name], 3, 1.0, events=1000, warmup=500)
    frozen = chain.sampler.state()["scale"]
    chain.run(1000)
    assert np.array_equal(chain.sampler.state()["scale"], frozen) and frozen.min() == 1.0
    chain.sampler.warming = True
    chain.run(1000)
    assert not np.array_equal(chain.sampler.state()["scale"], frozen)
