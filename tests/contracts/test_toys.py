"""Kinds of model and sampler that later work brings, written against the contracts as they are."""

import pickle

import numpy as np
import pytest
from _ext.probes import Misscaled, Probe, Scripted, Shaken, block, listed
from _ext.toy_paths import BouncyParticle, PathMoments
from _ext.toys import GaussianLocation, HiddenMarkov, MatrixFactorisation, TanhNetwork

from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.engine import STATUS_NAMES, Chain, evaluate, full
from sgmc.core.recorders import FullRecorder, MomentsRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, SAMPLERS, SCHEMES, estimates, estimator, law, normal_prior, stream
from .montecarlo import BATCHES, LIMIT, standard_errors

N = 60


def factorisation():
    rng = np.random.default_rng(1)
    return MatrixFactorisation(
        rng.integers(0, 6, N), rng.integers(0, 5, N), rng.normal(size=N), 6, 5, 2
    )


def network():
    rng = np.random.default_rng(2)
    return TanhNetwork(rng.normal(size=(N, 4)), rng.integers(0, 3, N), 5, 3)


def hidden_markov(windows=30, length=6):
    """Windows of a chain between states with means -1.2 and 1.0."""
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, windows)
    y = np.empty((windows, length))
    for t in range(length):
        z = np.where(rng.random(windows) < 0.8, z, 1 - z)
        y[:, t] = np.where(z == 1, 1.0, -1.2) + rng.normal(size=windows)
    return HiddenMarkov(y, 0.8)


WITHOUT_SCORES = {"factorisation": factorisation(), "network": network()}
FIRST_ORDER = [k for k, cls in GRADIENTS.items() if "curvature" not in cls.needs]


def differences(f, at, step=1e-5):
    """Central differences."""
    return np.array([(f(at + e) - f(at - e)) / (2 * step) for e in step * np.eye(len(at))])


@pytest.mark.parametrize(
    "run",
    [
        block(3, 50, scale=1.7),
        listed([5, 59, 5, 0, 33], scale=-2.0),
        block(10, 3, weight=(1, 2.5, 0.3)),
        block(0, 1),
    ],
)
@pytest.mark.parametrize("name", WITHOUT_SCORES)
def test_gradients_of_models_without_scores(name, run):
    probe = Probe(WITHOUT_SCORES[name])
    at = np.random.default_rng(4).normal(size=WITHOUT_SCORES[name].dim)
    expected = differences(lambda t: probe.value(t, run), at)
    assert np.abs(probe.gradient(at, run) - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("gradient", FIRST_ORDER)
@pytest.mark.parametrize("name", WITHOUT_SCORES)
def test_estimates_of_models_without_scores(name, gradient, scheme):
    """The blocks of 7 average to the full gradient; SGLD climbs from afar and stays finite,
    whatever the scheme.
    """
    model = WITHOUT_SCORES[name]
    at, draws = np.random.default_rng(5).normal(size=model.dim), law(SCHEMES["block"], N, 7)[0]
    options = dict(prior=normal_prior(model.dim), centre=at / 2)
    exact = estimator(GRADIENTS[gradient], model, Scripted(N, draws), stream(0), **options)
    mean = np.mean([g for g, _ in estimates(exact, draws, at)], axis=0)
    value, expected = full(exact, at)
    assert mean == pytest.approx(expected, rel=1e-10, abs=1e-10)
    rng = stream(2)
    chain = Chain(
        at,
        SAMPLERS["sgld"]().build(model.dim, 0.01),
        estimator(GRADIENTS[gradient], model, SCHEMES[scheme](N, 7), rng, **options),
        rng,
        Constant(0.01),
    )
    assert chain.run(2000, False) == 0
    assert full(exact, chain.x)[0] > value


@pytest.mark.parametrize("name", [k for k in GRADIENTS if k not in FIRST_ORDER])
def test_estimators_that_need_curvature_refuse_models_without(name):
    with pytest.raises(NotImplementedError, match="no curvatures"):
        estimator(GRADIENTS[name], factorisation(), SCHEMES["block"](N, 7), stream(0))


# ---- a model that simulates ----------------------------------------------------------------------


def test_simulated_gradients_have_the_right_mean():
    """4,000 gradients at paths drawn from the posterior of the states, against differences of the
    exact marginal.
    """
    probe = Probe(hidden_markov(), stream(3))
    at, run = np.array([-0.9, 1.4]), block(2, 20, scale=1.5)
    gradients = np.array([probe.gradient(at, run) for _ in range(4000)])
    expected = differences(lambda t: probe.value(t, run), at)
    assert standard_errors(gradients, expected).max() < LIMIT
    # planted: a gradient 5 % too long
    assert standard_errors(gradients, 1.05 * expected).max() > LIMIT


def test_a_model_that_simulates_has_no_anchor():
    """Control values of another path would not cancel: estimators with an anchor are refused,
    by name.
    """
    for name in GRADIENTS:
        if "anchor" in GRADIENTS[name].needs:
            with pytest.raises(NotImplementedError, match="no anchor|no curvatures"):
                estimator(GRADIENTS[name], hidden_markov(), SCHEMES["block"](30, 10), stream(0))


def posterior_on_a_grid(model, prior_scale):
    """Means and sds of the two state means by quadrature of the exact marginal."""
    probe, axes = Probe(model), (np.linspace(-2.5, 0.5, 121), np.linspace(-0.5, 2.5, 121))
    a, b = np.meshgrid(*axes, indexing="ij")
    log_p = np.array([[probe.value([x, y], block(0, model.n)) for y in axes[1]] for x in axes[0]])
    p = np.exp(log_p - log_p.max() - (a**2 + b**2) / (2 * prior_scale**2))
    mean = np.array([(p * a).sum(), (p * b).sum()]) / p.sum()
    square = np.array([(p * a**2).sum(), (p * b**2).sum()]) / p.sum()
    return mean, np.sqrt(square - mean**2)


@pytest.mark.extended
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sgld_samples_a_hidden_markov_model(scheme):
    """Noise of windows and of paths has V of 3 to 6 here: `inflation` says 5 to 9 % of variance at
    h = 0.05, skewness of the posterior adds to it; hence 10 % of slack, and 0.05 sd for means.
    Injected noise x sqrt 2 is far outside.
    """
    model, rng, h = hidden_markov(), stream(4), 0.05
    mean, sd = posterior_on_a_grid(model, 3.0)
    gradient = estimator(
        GRADIENTS["simple"],
        model,
        SCHEMES[scheme](model.n, 10),
        rng,
        prior=normal_prior(2, 3.0),
        map=Scaling(mean, sd),
    )

    def departure(sampler):
        chain = Chain([0.0, 0.0], sampler, gradient, rng, Constant(h))
        chain.run(1000, False)
        chain.recorder = FullRecorder(20_000, 2, 5)
        chain.run(100_000)
        x = np.asarray(chain.recorder.draws)
        return max(
            standard_errors(x, 0, slack=0.05).max(), standard_errors(x**2, 1, slack=0.1).max()
        )

    sampler = SAMPLERS["sgld"]().build(2, h)
    assert departure(sampler) < LIMIT
    assert departure(Shaken(sampler, h)) > LIMIT


# ---- continuous time -----------------------------------------------------------------------------

ROWS, DIM = 12, 2
Y = 2 * np.random.default_rng(6).normal(size=(ROWS, DIM))
LOCATION, PRIOR = GaussianLocation(Y, 0.5 / ROWS), normal_prior(DIM, np.sqrt(2), 0.7)
MEAN = (Y.mean(axis=0) + 0.7) / 2  # of the posterior; its covariance is I
PIECES = {"all rows": lambda: FullBatch(ROWS), "block": lambda: SCHEMES["block"](ROWS, 3)}


def farthest_noise(draws):
    """Largest distance of a batch's gradient from the exact one:
    the same everywhere in this model.
    """
    gradient = estimator(GRADIENTS["simple"], LOCATION, Scripted(ROWS, draws), stream(0))
    exact = full(gradient, np.zeros(DIM))[1]
    return max(
        np.linalg.norm(evaluate(gradient, np.zeros(DIM), stream(0))[0] - exact) for _ in draws
    )


NOISE = {"all rows": 0.0, "block": 1.0001 * farthest_noise(law(SCHEMES["block"], ROWS, 3)[0])}


def particle(rows, noise, recorder, index=0):
    """A bouncy particle started at the mean."""
    rng = stream(8, index=index)
    gradient = estimator(GRADIENTS["simple"], LOCATION, rows, rng, prior=PRIOR)
    chain = Chain(
        MEAN, BouncyParticle(DIM, 1.0, noise, 0.5), gradient, rng, Constant(1.0), velocity=True
    )
    chain.recorder = recorder(DIM)
    return chain


def path_departure(rows, noise):
    """Departure of path integrals from time x moments of N(MEAN, I), in Monte Carlo errors of
    BATCHES pieces of the path.
    """
    chain = particle(rows, noise, PathMoments)
    ends = np.zeros((BATCHES + 1, 1 + DIM + DIM * DIM))
    for k in range(BATCHES):
        assert chain.run(4000) == 0
        path = chain.recorder
        ends[k + 1] = path.time, *path.first, *np.ravel(path.second)
    time, first, second = np.split(np.diff(ends, axis=0), [1, 1 + DIM], axis=1)
    excess = np.hstack(
        [first - time * MEAN, second - time * (np.outer(MEAN, MEAN) + np.eye(DIM)).ravel()]
    )
    return standard_errors(excess, 0).max()


@pytest.mark.parametrize("rows", PIECES)
def test_a_bouncy_particle_has_the_posterior_along_its_path(rows):
    assert path_departure(PIECES[rows](), NOISE[rows]) < LIMIT


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_bouncy_particle_with_a_wrong_scale_is_caught(factor):
    rows = Misscaled(PIECES["block"](), factor)
    # a bound that holds for the mistake, too
    assert path_departure(rows, 3 * factor * NOISE["block"] + 20) > LIMIT


def test_events_are_not_draws():
    """Planted: the positions at events instead of the path between them."""
    chain = particle(PIECES["all rows"](), 0.0, MomentsRecorder)
    chain.run(BATCHES * 4000)
    assert np.abs(chain.recorder.covariance() - np.eye(DIM)).max() > 0.1


def test_a_bound_that_does_not_hold_is_a_status():
    assert (
        STATUS_NAMES[particle(PIECES["block"](), 0.0, PathMoments).run(10_000)] == "bound exceeded"
    )


@pytest.mark.parametrize("rows", PIECES)
def test_a_particle_continues_bit_by_bit(rows):
    whole, first, second = (
        particle(PIECES[rows](), NOISE[rows], PathMoments, index) for index in (0, 0, 1)
    )
    whole.run(300)
    first.run(130)
    second.set_state(pickle.loads(pickle.dumps(first.state())))
    second.run(170)
    assert pickle.dumps(second.state()) == pickle.dumps(whole.state())
